// UniswapV2Router02 and its forks: it takes from its caller alone.
import { amount, createTally, first, last, list, methodsOf, requireWallet, text, type CallReader } from './reading.ts'

/** Forks on chains with another coin name functions after it. */
const coins = ['ETH', 'AVAX']

const end = 'address to, uint256 deadline'
const signatures = (coin: string) => [
  `function swapExact${coin}ForTokens(uint256 amountOutMin, address[] path, ${end})`,
  `function swapTokensForExact${coin}(uint256 amountOut, uint256 amountInMax, address[] path, ${end})`,
  `function swapExactTokensFor${coin}(uint256 amountIn, uint256 amountOutMin, address[] path, ${end})`,
  `function swap${coin}ForExactTokens(uint256 amountOut, address[] path, ${end})`,
  `function addLiquidity${coin}(address token, uint256 amountTokenDesired, uint256 amountTokenMin, uint256 amountCoinMin, ${end})`,
  `function removeLiquidity${coin}(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountCoinMin, ${end})`,
]
const methodOf = methodsOf([
  `function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, ${end})`,
  `function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, ${end})`,
  `function addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, ${end})`,
  `function removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, ${end})`,
  ...coins.flatMap(signatures),
])

/** A swap of the coin, and what removes shares, take no token. Shares are given back in proportion: `docs/operators/limits.md`. */
export const readV2Router: CallReader = (call) => {
  const { name, args } = methodOf(call.data)
  requireWallet(text(args.at(-2)), call)
  const tally = createTally({ call, self: [] })
  const path = () => list(args.at(-3)).map(text)
  const method = coins.reduce((each, coin) => each.replace(coin, 'Coin'), name)
  if (method === 'swapExactTokensForTokens' || method === 'swapExactTokensForCoin') tally.take(first(path()), amount(args[0]))
  else if (method === 'swapTokensForExactTokens' || method === 'swapTokensForExactCoin') tally.take(first(path()), amount(args[1]))
  else if (method === 'swapExactCoinForTokens' || method === 'swapCoinForExactTokens') last(path())
  else if (method === 'addLiquidityCoin') tally.take(text(args[0]), amount(args[1]))
  else if (method === 'addLiquidity') {
    tally.take(text(args[0]), amount(args[2]))
    tally.take(text(args[1]), amount(args[3]))
  }
  return tally.finish()
}
