import type { Verbs } from '../context.ts'
import { move } from './move.ts'
import { balance, estimateGas, funding, margin, marketPrices, marketStatus, pairs, position, price } from './read.ts'
import { close, open } from './trade.ts'

type PerpVerbs = Pick<Verbs, Extract<keyof Verbs, `Perp${string}`>>

/** Both prefixes answer every verb. */
export const perpVerbs: PerpVerbs = {
  PerpAMMPrice: price,
  PerpPrice: price,
  PerpAMMPosition: position,
  PerpPosition: position,
  PerpAMMMargin: margin,
  PerpMargin: margin,
  PerpAMMFunding: funding,
  PerpFunding: funding,
  PerpAMMOpen: open,
  PerpOpen: open,
  PerpAMMClose: close,
  PerpClose: close,
  PerpAMMMarketPrices: marketPrices,
  PerpMarketPrices: marketPrices,
  PerpAMMMarketStatus: marketStatus,
  PerpMarketStatus: marketStatus,
  PerpAMMPairs: pairs,
  PerpPairs: pairs,
  PerpAMMBalance: balance,
  PerpBalance: balance,
  PerpAMMEstimateGas: estimateGas,
  PerpEstimateGas: estimateGas,
  PerpAMMDeposit: move('deposit'),
  PerpDeposit: move('deposit'),
  PerpAMMWithdraw: move('withdraw'),
  PerpWithdraw: move('withdraw'),
}
