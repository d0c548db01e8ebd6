// What becomes of the row of a request without an Idempotency-Key, by how its answer was delivered.
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { holderOf, type DeliveryTable } from './delivery-table.ts'

export type DeliveryChange = 'lost' | 'joined' | 'uncollected'

const retryMs = 1_000

interface DeliveryChangesParts {
  readonly table: Pick<DeliveryTable, 'change' | 'fail' | 'restore'>
  /** Connections of this process that are gone, by `holderOf`: the store may not know it yet. */
  readonly gone: Set<string>
  readonly signal: AbortSignal
  readonly nowMs: () => number
  readonly say: (row: DeliveryRow, change: DeliveryChange) => void
  readonly log: Log
}

export function createDeliveryChanges({ table, gone, signal, nowMs, say, log }: DeliveryChangesParts) {
  /** Tried until it is stored: until then this process knows it by `gone`. */
  async function persist(row: DeliveryRow, write: () => Promise<unknown>): Promise<void> {
    for (;;)
      try {
        await write()
        gone.delete(holderOf(row))
        return
      } catch (error) {
        if (signal.aborted) return
        log.warn({ reason: reasonOf(error) }, 'whether an answer was delivered is not stored yet')
        await pause(retryMs, signal, { ref: false })
      }
  }

  const change = (row: DeliveryRow, to: Partial<DeliveryRow> | 'nothing') => persist(row, () => table.change(row, to))

  async function lose(row: DeliveryRow): Promise<void> {
    gone.add(holderOf(row))
    say(row, 'lost')
    await change(row, { state: 'lost', lost_at: nowMs(), losses: row.losses + 1 })
  }

  return {
    change,
    lose,
    /** Of an answer that counted as delivered. A client whose link died does not know it before its own time is over. */
    async loseLater(row: DeliveryRow): Promise<void> {
      gone.add(holderOf(row))
      say(row, 'lost')
      const lost: DeliveryRow = { ...row, state: 'lost', lost_at: Math.max(nowMs(), row.asked_at + row.stale_ms), losses: row.losses + 1 }
      await persist(row, () => table.restore(lost))
    },
    fail: (row: DeliveryRow): Promise<void> => persist(row, () => table.fail(row)),
    /** Nothing was done for it. */
    forget: (row: DeliveryRow): Promise<void> => (row.joins === 0 ? change(row, 'nothing') : lose(row)),
    /** Its answer has arrived. */
    settle: (row: DeliveryRow, isKept = row.losses > 0): Promise<void> => change(row, isKept ? { state: 'delivered' } : 'nothing'),
    /** Nothing was signed for it, so that an equal request decides anew what is done. */
    refuse: (row: DeliveryRow): Promise<void> => change(row, row.losses > 0 ? { state: 'delivered', prepared: '' } : 'nothing'),
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
