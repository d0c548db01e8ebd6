import type { Json, Rail } from '../../contracts/index.ts'
import { holderOf } from '../entry.ts'
import type { Attempt, Entry } from '../entry.ts'
import type { Sign } from '../order.ts'

/** Signs an entry's step on its slot, at these fees. Nothing leaves by it. */
export type SignAttempt = (entry: Entry, fees: Json) => Promise<Attempt>

export function createSignAttempt(rail: Rail, sign: Sign, nowMs: () => number): SignAttempt {
  return async (entry, fees) => {
    const { chain, network, slot, step, admin } = entry
    const address = holderOf(entry)
    const signable = rail.draft({ step, fees }, slot)
    const { id, raw } = rail.seal(signable, await sign({ chain, network, address, signable, ...(admin && { admin }) }))
    return { id, raw, fees, signedAt: nowMs(), sends: 0 }
  }
}
