import { lender, trialAmount, type Loan, type Pool } from '../../../kits/amm/index.ts'
import { reservesAlong, type Reserves } from './reserves.ts'

// UniswapV2Pair of @uniswap/v2-core@1.0.1: calls back where there is data.
const borrow = lender({ lends: 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)', recipient: 2 })

/** A pair lends what it is asked for, and has itself paid in either token. */
export function loanOf(pool: Pool<Reserves>, token: string): Loan | undefined {
  const sentRaw = trialAmount(reservesAlong(pool, { tokenIn: token, tokenOut: '' }).reserveInRaw)
  if (sentRaw === undefined) return undefined
  const amounts = token === pool.tokens[0] ? [sentRaw, 0n] : [0n, sentRaw]
  return borrow(pool.address, token, sentRaw, [...amounts, '0x01'])
}
