import { showGas } from '../../fees.ts'
import { bookOf } from '../book-type.ts'
import type { ForBook } from '../book-verb.ts'

const noGas = { gasLimit: 0n, gasPriceRaw: 0n, gasCostRaw: 0n }

/** Nothing where orders are no transactions. */
export const estimateGas: ForBook<'EstimateGas'> =
  (type) =>
  async (_request, { network, venue, signal }) => {
    const { typicalGasUnits } = bookOf(type, venue)
    return showGas(typicalGasUnits === undefined ? noGas : await network.impl.gas(typicalGasUnits, undefined, { signal }), network)
  }
