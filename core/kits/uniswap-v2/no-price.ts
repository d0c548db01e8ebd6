import { formatUnits } from 'ethers'
import { SluiceError, type Swap, type Token } from '../../contracts/index.ts'
import type { Fee } from './amounts.ts'
import { mostIn, mostOut, type Route } from './route-amounts.ts'

/** Why no route gives a price, for the caller. `details.most` is what could be had, where that is the reason. */
export function noPrice(swap: Swap, routes: readonly Route[], intermediates: readonly Token[], fee: Fee): SluiceError {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  if (routes.length === 0) {
    const through = intermediates.map(({ symbol }) => symbol).join(', ')
    return new SluiceError(
      'PRICE_FAILED',
      `The exchange has no pool from ${tokenIn.symbol} to ${tokenOut.symbol}, neither of the two nor through ${through || 'other tokens'}. Try another connector.`,
    )
  }
  const limited = exact === 'in' ? tokenIn : tokenOut
  const mostRaw = routes.map((route) => (exact === 'in' ? mostIn(route) : mostOut(route, fee))).reduce((a, b) => (a > b ? a : b))
  if (amountRaw <= mostRaw) {
    return new SluiceError(
      'PRICE_FAILED',
      `${formatUnits(amountRaw, limited.decimals)} ${limited.symbol} is too little: it is worth less than the smallest unit of ${tokenOut.symbol}. Ask for a larger amount.`,
    )
  }
  const most = formatUnits(mostRaw, limited.decimals)
  const verb = exact === 'in' ? 'take' : 'give'
  return new SluiceError(
    'PRICE_FAILED',
    `The pools cannot ${verb} that much: at most ${most} ${limited.symbol}, at any price. Ask for a smaller amount.`,
    {
      details: { token: limited.symbol, most },
    },
  )
}
