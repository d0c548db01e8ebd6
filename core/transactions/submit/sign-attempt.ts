import { SluiceError, type Json } from '../../contracts/index.ts'
import { holderOf } from '../entry.ts'
import type { Attempt, Entry } from '../entry.ts'
import type { Sign, Site } from '../submit-request.ts'

/** Signs an entry's step on its slot, at these fees. Nothing leaves by it. */
export type SignAttempt = (entry: Entry, fees: Json) => Promise<Attempt>

/** An exchange's own rail has actions signed and nothing else: what the chain takes goes by the chain's lanes, and is judged there. */
export function createSignAttempt(
  { connector, impl: { rail } }: Pick<Site, 'connector' | 'impl'>,
  sign: Sign,
  nowMs: () => number,
): SignAttempt {
  return async (entry, fees) => {
    const { chain, network, slot, step, admin } = entry
    const address = holderOf(entry)
    const signable = rail.draft({ step, fees }, slot)
    if (connector !== undefined && signable.scheme !== 'typed-data') throw noAction(connector)
    const { id, raw } = rail.seal(signable, await sign({ chain, network, address, signable, ...(admin && { admin }) }))
    return { id, raw, fees, signedAt: nowMs(), sends: 0 }
  }
}

const noAction = (connector: string) =>
  new SluiceError(
    'UNKNOWN_ERROR',
    `The connector ${connector} would have a transaction signed as an action: nothing was signed. This is a defect of the plugin.`,
  )
