// What becomes of the row of a request without an Idempotency-Key, by how its answer was delivered.
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { holderOf, type DeliveryTable } from './delivery-table.ts'

export type DeliveryChange = 'lost' | 'joined' | 'uncollected'

const retryMs = 1_000
/** A reading of the table that began before a loss was stored has ended by then. */
const readingMs = 30_000

interface DeliveryChangesParts {
  readonly table: Pick<DeliveryTable, 'change' | 'fail' | 'restore'>
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
    persistLoss(row, () => table.change(row, { state: 'lost', lost_at: nowMs(), losses: row.losses + 1 }))

  return {
    change,
    /** Its request has another one, and nothing was done for this one meanwhile. */
    leave: (row: DeliveryRow): Promise<void> => change(row, row.losses > 0 ? { state: 'lost', lost_at: nowMs() } : 'nothing'),
    lose,
    /** Of an answer that counted as delivered. A client whose link died does not know it before its own time is over. */
    async loseLater(row: DeliveryRow): Promise<void> {
      const lost: DeliveryRow = { ...row, state: 'lost', lost_at: Math.max(nowMs(), row.asked_at + row.stale_ms), losses: row.losses + 1 }
      await persistLoss(row, () => table.restore(lost))
    },
    fail: (row: DeliveryRow): Promise<void> => persistChange(row, () => table.fail(row)),
    /** Nothing was done for it. */
    forget: (row: DeliveryRow): Promise<void> => (row.joins === 0 ? change(row, 'nothing') : lose(row)),
    /** Its answer has arrived. */
    settle: (row: DeliveryRow, isKept = row.losses > 0): Promise<void> => change(row, isKept ? { state: 'delivered' } : 'nothing'),
    /** Nothing was signed for it, so that an equal request decides anew what is done. */
    refuse: (row: DeliveryRow): Promise<void> => change(row, row.losses > 0 ? { state: 'delivered', prepared: '' } : 'nothing'),
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
