// NonfungiblePositionManager of Uniswap v3 and its forks: it takes from its caller alone.
import {
  amount,
  countCoin,
  createTally,
  list,
  methodsOf,
  parts,
  requireWallet,
  text,
  Unreadable,
  zeroAddress,
  type CallReader,
} from './reading.ts'

const methodOf = methodsOf([
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params)',
  'function increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params)',
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params)',
  'function burn(uint256 tokenId)',
  'function multicall(bytes[] data)',
  'function refundETH()',
  'function unwrapWETH9(uint256 amountMinimum, address recipient)',
  'function sweepToken(address token, uint256 amountMinimum, address recipient)',
])

export const readV3Positions: CallReader = (call) => {
  const outer = methodOf(call.data)
  const calls = outer.name === 'multicall' ? parts(outer.args[0]).map((each) => methodOf(text(each))) : [outer]
  const tally = createTally({ call, self: [] })
  const tokens = new Set<string>()
  for (const { name, args } of calls) {
    if (name === 'mint') {
      const [token0, token1, , , , amount0, amount1, , , recipient] = list(args[0])
      for (const [token, most] of [
        [text(token0), amount(amount0)],
        [text(token1), amount(amount1)],
      ] as const) {
        tally.take(token, most)
        tokens.add(token)
      }
      requireWallet(text(recipient), call)
    } else if (name === 'collect') {
      const recipient = text(list(args[0])[1])
      // What is left with the manager anybody may take, and which tokens these are the call does not say.
      if (recipient === zeroAddress) throw new Unreadable('what it collects is of a position, whose tokens it does not name')
      requireWallet(recipient, call)
    } else if (name === 'unwrapWETH9' || name === 'sweepToken') requireWallet(text(args.at(-1)), call)
    else if (name === 'increaseLiquidity') throw new Unreadable('it adds to a position, whose tokens it does not name')
    else if (name === 'multicall') throw new Unreadable('it has calls within calls')
  }
  const amounts = new Map(tally.finish())
  // All other calls may move tokens that they do not name, or that are in no list: their code runs then.
  const isCoinKept = calls.every(({ name }, index) => name === 'mint' || (name === 'refundETH' && index === calls.length - 1))
  countCoin(amounts, call, { tokens, isCoinKept })
  return amounts
}
