import { AbiCoder, getCreate2Address, keccak256 } from 'ethers'
import { cacheByPair } from '../deployment.ts'
import { lender, trialAmount } from '../fee-on-transfer.ts'
import { mapReading, readBy, type Loan, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import type { Passage, Pool } from '../../pools/protocol.ts'
import { firstLiquidity, initialQuery, isPriceKnown, lensReading, missingTicks, widerQuery, type LensQuery } from './lens.ts'
import { applyLog, changeTopics, isSameState, joinStates } from './logs.ts'
import { maxTick, minTick, Q192 } from './math.ts'
import {
  availableOut,
  cachedSqrtRatioAtTick,
  estimateSwap,
  firstWriteUnitsOf,
  gasUnitsOf,
  hopUnits,
  maxPriceX96,
  minPriceX96,
  swap,
  type V3PoolState,
} from './swap.ts'

/** Where an exchange's pools come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** Deploys the pools: the factory itself where it is absent. */
  readonly deployer?: string
  /** keccak256 of the pool's creation code: with the deployer it gives every pool's address. */
  readonly initCodeHash: string
}

interface V3ProtocolOptions extends Deployment {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** All fee tiers, in hundredths of a basis point. */
  readonly fees: readonly number[]
}

/** Pools of concentrated liquidity, as Uniswap v3 and its forks have them. */
export function v3Protocol({ version, fees, ...deployment }: V3ProtocolOptions): PoolProtocol<V3PoolState> {
  const memory = v3PoolMemory(deployment, fees)
  return {
    version,
    memory,
    read: readBy(memory),
    pass({ address, tokens, state }, { tokenIn }, exact, amountRaw) {
      const zeroForOne = tokenIn === tokens[0]
      const swapped = swap(state, zeroForOne, exact, amountRaw)
      if (!swapped) return undefined
      if (!('atBestRaw' in swapped))
        return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped), firstWriteUnits: firstWriteUnitsOf(swapped) }
      const missing = missingTicks(address, zeroForOne, state)
      return missing && { missing, ...swapped }
    },
    estimate: ({ tokens, state }, { tokenIn }, exact, amount) => estimateSwap(state, tokenIn === tokens[0], exact, amount),
    spot({ tokens, state }: Pool<V3PoolState>, { tokenIn }: Passage) {
      return spotOf(state, tokenIn === tokens[0])
    },
    fee: ({ state }) => String(state.fee / 1_000_000),
    spotIsBest: true,
    leastGasUnits: BigInt(hopUnits),
    holds: ({ state }) => ({ liquidityRaw: state.liquidity }),
    mostIn: ({ tokens, state }, { tokenIn }) => (isEmpty(state, tokenIn === tokens[0]) ? 0n : undefined),
    loan: ({ address, tokens, state }, token) => loanOf(address, tokens, state, token),
  }
}

/** The marginal price without fees, output per input. */
export function spotOf(state: V3PoolState, zeroForOne: boolean): { readonly numerator: bigint; readonly denominator: bigint } {
  const sqrtPriceX96 = startingPriceX96(state, zeroForOne)
  const priceX192 = sqrtPriceX96 * sqrtPriceX96
  return zeroForOne ? { numerator: priceX192, denominator: Q192 } : { numerator: Q192, denominator: priceX192 }
}

/** Where the first unit of a swap is traded: the pool's price means nothing in a range without liquidity, as long as there is some further on. */
function startingPriceX96(state: V3PoolState, zeroForOne: boolean): bigint {
  if (state.liquidity > 0n) return state.sqrtPriceX96
  const first = firstLiquidity(state, zeroForOne)
  return first && 'tick' in first ? cachedSqrtRatioAtTick(first.tick) : state.sqrtPriceX96
}

/** Whether it is certain that a swap in this direction meets no liquidity at all, or that the price can go no further. */
export function isEmpty({ liquidity, sqrtPriceX96, tick, ticks }: V3PoolState, zeroForOne: boolean): boolean {
  if (zeroForOne ? sqrtPriceX96 <= minPriceX96 : sqrtPriceX96 >= maxPriceX96) return true
  if (liquidity > 0n) return false
  return zeroForOne
    ? ticks.from < minTick && ticks.countUpTo(tick) === 0
    : ticks.to > maxTick && ticks.countUpTo(tick) === ticks.ticks.length
}

/** The pool of two tokens and a fee, deployed or not. */
interface PoolLocation {
  readonly address: string
  /** In the pool's order. */
  readonly tokens: readonly [token0: string, token1: string]
  /** How it is read first. */
  readonly query: LensQuery
}

/** Pools in memory: the log of a swap has price, tick and liquidity; adding and removing liquidity changes ticks. */
function v3PoolMemory(deployment: Deployment, fees: readonly number[]): PoolMemory<V3PoolState, PoolLocation> {
  const poolsBetween = cacheByPair((tokens) =>
    fees.map((fee): PoolLocation => {
      const address = poolAddress(deployment, tokens, fee)
      return { address, tokens, query: initialQuery(address) }
    }),
  )
  return {
    places: (pairs) => pairs.flatMap(([a, b]) => poolsBetween(a, b)),
    read(locations, missing) {
      const queries = locations.map(({ address, query }) => (missing.length > 0 && widerQuery(address, missing)) || query)
      return mapReading(lensReading(queries), (states) =>
        locations.map(({ address, tokens }, index) => {
          const state = states[index]
          return state ? { address, tokens, state } : null
        }),
      )
    },
    follow: changeTopics,
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, log) {
      // A new pool: its ticks are unknown.
      if (pool === null) return 'reload'
      const state = applyLog(pool.state, log)
      if (state === pool.state || state === 'reload') return state === 'reload' ? state : pool
      return isPriceKnown(state) ? { address: pool.address, tokens: pool.tokens, state } : 'reload'
    },
    same: (inMemory, loaded) => isSameState(inMemory.state, loaded.state),
    join: (inMemory, loaded) => ({ ...loaded, state: joinStates(inMemory.state, loaded.state) }),
  }
}

const keyTypes = ['address', 'address', 'uint24']

/**
 * The address of the pool of two tokens and a fee, deployed or not: PoolAddress of @uniswap/v3-periphery@1.4.4.
 * @param tokens in the pool's order
 */
export function poolAddress(
  { factory, deployer = factory, initCodeHash }: Deployment,
  tokens: readonly [string, string],
  fee: number,
): string {
  const key = AbiCoder.defaultAbiCoder().encode(keyTypes, [...tokens, fee])
  return getCreate2Address(deployer, keccak256(key), initCodeHash)
}

// UniswapV3Pool of @uniswap/v3-core@1.0.1: sends the output before it asks for the input. Its flash would need liquidity in range, which a
// pool can do without and still be traded with.
const borrow = lender({
  lends: 'swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)',
  recipient: 0,
})

/** A pool lends the output of a swap before it asks for the input. */
export function loanOf(address: string, tokens: readonly string[], state: V3PoolState, token: string): Loan | undefined {
  const zeroForOne = token === tokens[1]
  const sentRaw = trialAmount(availableOut(state, zeroForOne))
  if (sentRaw === undefined) return undefined
  const sold = swap(state, zeroForOne, 'out', sentRaw)
  if (!sold || 'atBestRaw' in sold) return undefined
  return borrow(address, token, sentRaw, [zeroForOne, -sentRaw, zeroForOne ? minPriceX96 : maxPriceX96, '0x'])
}
