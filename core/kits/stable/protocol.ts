import type { Passage, Pool, PoolProtocol } from '../pools/index.ts'
import type { StablePool } from './exchange.ts'
import { amountIn, amountOut, feeDenominator, spotPrice, type StablePoolState } from './math/swap.ts'
import { readState, stateCalls } from './pool-calls.ts'

// Measured on the devnet with plain tokens: what a pool of four coins takes besides what every swap takes.
const passUnits = 160_000n

/** Pools of coins that are meant to be worth the same, two or more in each. */
export function stableProtocol(version: string, pools: readonly StablePool[]): PoolProtocol<StablePoolState> {
  return {
    version,
    read(pairs) {
      const asked = pools.filter(({ coins }) => pairs.some((pair) => pair.every((token) => coins.some(({ address }) => address === token))))
      const calls = asked.map(stateCalls)
      return {
        calls: calls.flat(),
        pools(results) {
          let taken = 0
          return asked.flatMap((pool, index) => readState(pool, results.slice(taken, (taken += calls[index]?.length ?? 0))) ?? [])
        },
      }
    },
    pass(pool, passage, exact, amountRaw) {
      const [from, to] = along(pool, passage)
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(pool.state, from, to, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot: (pool, passage) => spotPrice(pool.state, ...along(pool, passage)),
    fee: ({ state }) => `0.${state.fee.toString().padStart(feeDenominator.toString().length - 1, '0')}`.replace(/\.?0+$/, ''),
  }
}

const along = ({ tokens }: Pool<StablePoolState>, { tokenIn, tokenOut }: Passage): [from: number, to: number] => [
  tokens.indexOf(tokenIn),
  tokens.indexOf(tokenOut),
]
