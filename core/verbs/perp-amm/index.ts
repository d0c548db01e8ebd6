import type { Verbs } from '../../handlers/context.ts'
import { balance } from './account/balance.ts'
import { funding } from './account/funding.ts'
import { margin } from './account/margin.ts'
import { move } from '../../handlers/perp/account.ts'
import { position } from './account/position.ts'
import { estimateGas } from './markets/estimate-gas.ts'
import { marketPrices } from './markets/market-prices.ts'
import { marketStatus } from './markets/market-status.ts'
import { pairs } from './markets/pairs.ts'
import { price } from './markets/price.ts'
import { close } from './trade/close.ts'
import { open } from './trade/open.ts'

type PerpVerbs = Pick<Verbs, Extract<keyof Verbs, `Perp${string}`>>

const [deposit, withdraw] = [move('deposit'), move('withdraw')]

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
  PerpAMMDeposit: deposit,
  PerpDeposit: deposit,
  PerpAMMWithdraw: withdraw,
  PerpWithdraw: withdraw,
}
