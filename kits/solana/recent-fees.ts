// What recent transactions paid for their priority, for estimates: known at once while somebody asks. What a transaction offers is asked when it is made.
import type { At } from '../../core/contracts/index.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { readRecentFees } from './fees.ts'

/** After so long they are read again, by the side of whoever asks then. */
const freshMs = 2_000
/** Fees this old are not shown. */
const maxAgeMs = 20_000

/** Micro-lamports per unit. At once where they are known. */
export type RecentFees = (at: At) => readonly bigint[] | Promise<readonly bigint[]>

export function createRecentFees(rpc: Pick<Rpc, 'batch'>): RecentFees {
  let known: { readonly fees: readonly bigint[]; readonly readAt: number } | undefined
  let reading: Promise<readonly bigint[]> | undefined

  async function read(at: At): Promise<readonly bigint[]> {
    const [answer] = await rpc.batch([{ method: 'getRecentPrioritizationFees', params: [[]] }], at)
    const fees = readRecentFees(answer?.result) ?? []
    known = { fees, readAt: performance.now() }
    return fees
  }

  /** Nobody waits for it: what is known stays until it is too old. */
  function readBeside(): void {
    reading ??= read({ signal: AbortSignal.timeout(maxAgeMs) }).finally(() => {
      reading = undefined
    })
    reading.catch(() => {})
  }

  return (at) => {
    const ageMs = known ? performance.now() - known.readAt : Infinity
    if (!known || ageMs > maxAgeMs) return read(at)
    if (ageMs > freshMs) readBeside()
    return known.fees
  }
}
