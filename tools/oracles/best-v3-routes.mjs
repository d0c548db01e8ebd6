// A worker that finds the best route through pools of v3 by the exchange's own package, @uniswap/v3-sdk (MIT). It is installed here alone:
//   npm ci --prefix tools/oracles
// Nothing of the project imports it. A message has worlds: tokens, pools with their ticks, and amounts, in decimal texts; and how many routes of each are
// looked through for the best that passes each token once and is filled: the package also goes in circles, and takes what a pool has not for filled. The
// answer has what that route gives for each amount, or null where there is none, and the seconds of the processor that all took.
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'

const load = createRequire(import.meta.url)
const { Pool, TickMath, Trade } = load('@uniswap/v3-sdk')
const { CurrencyAmount, Token, TradeType } = load('@uniswap/sdk-core')

const chainId = 1
const { MIN_SQRT_RATIO, MAX_SQRT_RATIO } = TickMath
const maxHops = 3

function poolsOf({ pools }, tokens) {
  const tokenOf = new Map(tokens.map((token) => [token.address.toLowerCase(), token]))
  return pools.map(({ tokens: [token0, token1], fee, sqrtPriceX96, liquidity, tick, ticks }) => {
    const list = ticks.map(([index, liquidityNet]) => ({ index, liquidityNet, liquidityGross: '1' }))
    return new Pool(tokenOf.get(token0), tokenOf.get(token1), fee, sqrtPriceX96, liquidity, tick, list)
  })
}

async function bestOf(world, maxNumResults) {
  const tokens = world.tokens.map(({ address, decimals }) => new Token(chainId, address, decimals))
  const of = (address) => tokens.find((token) => token.address.toLowerCase() === address)
  const pools = poolsOf(world, tokens)
  const [tokenIn, tokenOut] = [of(world.tokenIn), of(world.tokenOut)]
  const given = []
  for (const amountRaw of world.amountsRaw) {
    const options = { maxHops, maxNumResults }
    const trades =
      world.exact === 'in'
        ? await Trade.bestTradeExactIn(pools, CurrencyAmount.fromRawAmount(tokenIn, amountRaw), tokenOut, options)
        : await Trade.bestTradeExactOut(pools, tokenIn, CurrencyAmount.fromRawAmount(tokenOut, amountRaw), options)
    const trade = maxNumResults === 1 ? trades[0] : await firstOf(trades)
    const other = world.exact === 'in' ? trade?.outputAmount : trade?.inputAmount
    given.push(other === undefined ? null : other.quotient.toString())
  }
  return given
}

/** The best of those that count. */
async function firstOf(trades) {
  for (const trade of trades) if (!isCircle(trade.route) && (await isFilled(trade))) return trade
  return undefined
}

const isCircle = ({ tokenPath }) => new Set(tokenPath.map(({ address }) => address)).size < tokenPath.length

/** A pool that a swap goes through to its end has not what is asked of it. */
async function isFilled({ route: { pools }, inputAmount, outputAmount, tradeType }) {
  const isExactIn = tradeType === TradeType.EXACT_INPUT
  let amount = isExactIn ? inputAmount : outputAmount
  for (const pool of isExactIn ? pools : pools.toReversed()) {
    const [other, after] = isExactIn ? await pool.getOutputAmount(amount) : await pool.getInputAmount(amount)
    const price = BigInt(after.sqrtRatioX96.toString())
    if (price <= BigInt(MIN_SQRT_RATIO.toString()) + 1n || price >= BigInt(MAX_SQRT_RATIO.toString()) - 1n) return false
    amount = other
  }
  return true
}

async function answer({ worlds, maxNumResults }) {
  const startedAt = process.cpuUsage()
  const routes = []
  for (const world of worlds) routes.push(await bestOf(world, maxNumResults))
  const { user, system } = process.cpuUsage(startedAt)
  parentPort?.postMessage({ routes, seconds: (user + system) / 1e6 })
}

parentPort?.on('message', (message) => void answer(message))
