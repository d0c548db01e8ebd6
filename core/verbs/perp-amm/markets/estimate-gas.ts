import { showGas } from '../../fees.ts'
import { perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const estimateGas: PerpVerb<'EstimateGas'> = async (_request, { network, venue, signal }) =>
  showGas(await network.impl.gas(perpOf(venue).typicalGasUnits, undefined, { signal }), network)
