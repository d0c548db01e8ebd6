import type { Verb } from '../../handlers/context.ts'
import { showGas } from '../fees.ts'
import { ammOf } from './swap.ts'

/** What a swap through one pool uses: what the answer is for, since the request names no pair. */
const typicalSwapGas = 110_000n

export const ammEstimateGas: Verb<'AMMEstimateGas'> = async (_request, { network, venue, signal }) => {
  ammOf(venue)
  return showGas(await network.impl.gas(typicalSwapGas, undefined, { signal }), network)
}
