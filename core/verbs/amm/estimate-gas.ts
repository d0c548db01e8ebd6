import type { Verb } from '../context.ts'
import { showGas } from '../fees.ts'

/** Gas of a swap through one pool: what the answer is for, since the request names no pair. */
const typicalSwapGas = 150_000n

export const ammEstimateGas: Verb<'AMMEstimateGas'> = async (_request, { network, signal }) =>
  showGas(await network.impl.gas(typicalSwapGas, undefined, { signal }), network)
