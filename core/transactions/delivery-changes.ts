// What becomes of the row of a request without an Idempotency-Key, by how its answer was delivered.
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { holderOf, type DeliveryTable } from './delivery-table.ts'

export interface ReportedAnswer {
  /** That of `UnkeyedRequest`. */
  readonly answerId: string
  /** Whether its client has it. */
  readonly read: boolean
}

export type DeliveryChange = 'lost' | 'joined' | 'uncollected'

const retryMs = 1_000
/** A reading of the table that began before a loss was stored has ended by then. */
const readingMs = 30_000

interface DeliveryChangesParts {
  readonly table: Pick<DeliveryTable, 'change' | 'changeRead' | 'fail' | 'reported' | 'restore'>
  /** Connections of this process that are gone, by `holderOf`: the store may not know it yet. */
  readonly gone: Set<string>
  /** Of a loss. */
  readonly storing: (write: Promise<unknown>) => void
  readonly signal: AbortSignal
  readonly nowMs: () => number
  readonly say: (row: DeliveryRow, change: DeliveryChange) => void
  readonly log: Log
}

export function createDeliveryChanges({ table, gone, storing, signal, nowMs, say, log }: DeliveryChangesParts) {
  /** Tried until it is stored. @returns false where the process ends before */
  async function persist(write: () => Promise<unknown>): Promise<boolean> {
    for (;;)
      try {
        await write()
        return true
      } catch (error) {
        if (signal.aborted) return false
        log.warn({ reason: reasonOf(error) }, 'whether an answer was delivered is not stored yet')
        await pause(retryMs, signal, { ref: false })
      }
  }

  async function persistChange(row: DeliveryRow, write: () => Promise<unknown>): Promise<void> {
    if (await persist(write)) gone.delete(holderOf(row))
  }

  /** Until it is stored this process knows it by `gone`; and a moment longer, for what was read of the table just before. */
  async function persistLoss(row: DeliveryRow, write: () => Promise<unknown>): Promise<void> {
    const holder = holderOf(row)
    gone.add(holder)
    say(row, 'lost')
    const persisting = persist(write)
    storing(persisting)
    if (await persisting) setTimeout(() => gone.delete(holder), readingMs).unref()
  }

  const change = (row: DeliveryRow, to: Partial<DeliveryRow> | 'nothing') => persistChange(row, () => table.change(row, to))

  const lose = (row: DeliveryRow): Promise<void> =>
    persistLoss(row, () => table.change(row, { state: 'lost', lost_at: nowMs(), losses: row.losses + 1, answer_id: '' }))

  /** A client whose link died does not know it before its own time is over. */
  const knownLater = (row: DeliveryRow): number => Math.max(nowMs(), row.asked_at + row.stale_ms)

  /** @returns false where the row is not as it was read */
  async function report(row: DeliveryRow, read: boolean): Promise<boolean> {
    const { state, losses } = row
    const wasLost = state === 'lost'
    if (read) {
      if (state !== 'open' && !wasLost) return true
      if (!(await table.changeRead(row, { state: 'delivered', lost_at: 0, losses: wasLost ? losses - 1 : losses }))) return false
      gone.delete(holderOf(row))
      return true
    }
    if (state !== 'open' && state !== 'delivered' && !wasLost) return true
    // No report follows this one: what arrives later was sent before it.
    const lost = { state: 'lost', lost_at: knownLater(row), losses: wasLost ? losses : losses + 1, answer_id: '' } as const
    if (!(await table.changeRead(row, lost))) return false
    if (!wasLost) say(row, 'lost')
    return true
  }

  return {
    change,
    /** Its request has another one, and nothing was done for this one meanwhile. */
    leave: (row: DeliveryRow): Promise<void> =>
      change(row, row.losses > 0 ? { state: 'lost', lost_at: nowMs(), answer_id: '' } : 'nothing'),
    lose,
    /** Of an answer that counted as delivered. */
    async loseLater(row: DeliveryRow): Promise<void> {
      const lost: DeliveryRow = { ...row, state: 'lost', lost_at: knownLater(row), losses: row.losses + 1 }
      await persistLoss(row, () => table.restore(lost))
    },
    /** The proxy is gone, or its link: lost, unless it has reported. It may still do so, over another connection. */
    async loseUnreported(row: DeliveryRow): Promise<void> {
      const holder = holderOf(row)
      gone.add(holder)
      const persisting = persist(async () => {
        const isLost = await table.changeRead({ ...row, state: 'open' }, { state: 'lost', lost_at: nowMs(), losses: row.losses + 1 })
        if (isLost) say(row, 'lost')
        else gone.delete(holder)
      })
      storing(persisting)
      if (await persisting) setTimeout(() => gone.delete(holder), readingMs).unref()
    },
    /** @throws StoreUnavailable */
    async report(answers: readonly ReportedAnswer[]): Promise<void> {
      const readOf = new Map(answers.map(({ answerId, read }) => [answerId, read]))
      for (let left = [...readOf.keys()]; left.length > 0;) {
        const changed: string[] = []
        for (const row of await table.reported(left))
          if (!(await report(row, readOf.get(row.answer_id) === true))) changed.push(row.answer_id)
        left = changed
      }
    },
    fail: (row: DeliveryRow): Promise<void> => persistChange(row, () => table.fail(row)),
    /** Nothing was done for it. */
    forget: (row: DeliveryRow): Promise<void> => (row.joins === 0 ? change(row, 'nothing') : lose(row)),
    /** Its answer has arrived. */
    settle: (row: DeliveryRow, isKept = row.losses > 0): Promise<void> =>
      change(row, isKept ? { state: 'delivered', answer_id: '' } : 'nothing'),
    /** Nothing was signed for it, so that an equal request decides anew what is done. */
    refuse: (row: DeliveryRow): Promise<void> =>
      change(row, row.losses > 0 ? { state: 'delivered', prepared: '', answer_id: '' } : 'nothing'),
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
