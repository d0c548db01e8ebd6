// Uniswap's own package for v3, @uniswap/v3-sdk, as a judge of the best single route: `Trade.bestTradeExactIn` and `bestTradeExactOut` with the state in
// memory, which is what a bot has without a gateway.
import type { V3PoolState } from '../../../../kits/amm/v3/swap.ts'
import { askOracle } from '../../../oracles.ts'
import type { World } from './random-worlds.ts'

const packageMs = 300_000

/** What the other side is for each amount of each world, as text; null where it finds no route. */
interface SdkRoutes {
  readonly routes: readonly (readonly (string | null)[])[]
  /** Of a processor. */
  readonly seconds: number
}

export const sdkPackage = '@uniswap/v3-sdk'

interface SwapsOfWorld {
  readonly world: World
  readonly amountsRaw: readonly bigint[]
}

/** @param maxNumResults of how many routes the best is taken that passes each token once and is filled; of 1 whatever it is */
export const bestBySdk = (asked: readonly SwapsOfWorld[], maxNumResults: number): Promise<SdkRoutes> =>
  askOracle('best-v3-routes.mjs', { worlds: asked.map(forSdk), maxNumResults }, packageMs)

function forSdk({ world: { graph, query }, amountsRaw }: SwapsOfWorld): unknown {
  return {
    tokens: query.intermediates.map((address) => ({ address, decimals: 18 })),
    pools: graph.pools.map(({ pool: { tokens, state } }) => {
      const { sqrtPriceX96, liquidity, tick, fee, ticks } = state as V3PoolState
      const list = ticks.ticks.map((each, index) => [each, String(ticks.liquidity.net(index))])
      return { tokens, fee, sqrtPriceX96: String(sqrtPriceX96), liquidity: String(liquidity), tick, ticks: list }
    }),
    tokenIn: query.tokenIn,
    tokenOut: query.tokenOut,
    exact: query.exact,
    amountsRaw: amountsRaw.map(String),
  }
}
