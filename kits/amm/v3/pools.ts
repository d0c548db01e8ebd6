import { AbiCoder, getCreate2Address, keccak256 } from 'ethers'
import { readBy, type Passage, type Pool, type PoolProtocol, type PoolMemory, lender, trialAmount, type Loan } from '../index.ts'
import { missingTicks, hasLiquidityNearby, lensProbe, readLens, type LensQuery, widerQuery, initialQuery } from './lens.ts'
import { applyLog, changeTopics, isSameState } from './logs.ts'
import { firstWriteUnitsOf, gasUnitsOf, type V3PoolState, swap, availableOut, maxPriceX96, minPriceX96 } from './swap.ts'

interface V3ProtocolOptions extends PoolOrigin {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
}

const oneX192 = 2n ** 192n

/** Pools of concentrated liquidity, as Uniswap v3 and its forks have them. */
export function v3Protocol({ version, fees, ...origin }: V3ProtocolOptions): PoolProtocol<V3PoolState> {
  const memory = v3PoolMemory(origin, fees)

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
    spot({ tokens, state: { sqrtPriceX96 } }: Pool<V3PoolState>, { tokenIn }: Passage) {
      const priceX192 = sqrtPriceX96 * sqrtPriceX96
      return tokenIn === tokens[0] ? { numerator: priceX192, denominator: oneX192 } : { numerator: oneX192, denominator: priceX192 }
    },
    fee: ({ state }) => String(state.fee / 1_000_000),
    spotIsBest: true,
    loan: loanOf,
  }
}

/** Where a pool is, or would be, and how it is read first. */
interface PoolLocation extends PoolAddress {
  readonly query: LensQuery
}

/** Pools in memory: a swap's log says price, tick and liquidity; who puts liquidity in or takes it out moves ticks. */
function v3PoolMemory(origin: PoolOrigin, fees: readonly number[]): PoolMemory<V3PoolState, PoolLocation> {
  const poolsBetween = poolFinder(origin, fees, (place) => ({ ...place, query: initialQuery(place.address) }))
  return {
    places: (pairs) => pairs.flatMap(([a, b]) => poolsBetween(a, b)),
    read(places, missing) {
      const looks = places.map(({ address, query }) => (missing.length > 0 && widerQuery(address, missing)) || query)
      if (looks.length === 0) return { calls: [], pools: () => [] }
      return {
        calls: [lensProbe(looks)],
        pools: ([result = { ok: false, data: '0x' }]) => {
          const states = readLens(result, looks)
          return places.map(({ address, tokens }, index) => {
            const state = states[index]
            return state && hasLiquidityNearby(state) ? { address, tokens, state } : null
          })
        },
      }
    },
    follow: changeTopics,
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, log) {
      // A new one, or one that was left by all: of its ticks nothing is known.
      if (pool === null) return 'reload'
      const state = applyLog(pool.state, log)
      if (state === pool.state || state === 'reload') return state === 'reload' ? state : pool
      const holds = hasLiquidityNearby(state)
      if (holds === undefined) return 'reload'
      return holds ? { address: pool.address, tokens: pool.tokens, state } : null
    },
    same: (inMemory, loaded) => isSameState(inMemory.state, loaded.state),
  }
}

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000

/** The pool of two tokens and a fee: whether there is one or not. */
interface PoolAddress {
  readonly address: string
  /** In the pools' order. */
  readonly tokens: readonly [token0: string, token1: string]
}

/**
 * Where the pools of two tokens are, one for every fee. What `made` makes of each is remembered with it, for two hashes cost
 * more than the rest of reading a pool.
 */
function poolFinder<T>(
  origin: PoolOrigin,
  fees: readonly number[],
  made: (place: PoolAddress) => T,
): (a: string, b: string) => readonly T[] {
  const known = new Map<string, Map<string, readonly T[]>>()
  let remembered = 0

  return (a, b) => {
    const found = known.get(a)?.get(b)
    if (found) return found
    const tokens = sortTokens(a, b)
    const pools = fees.map((fee) => made({ address: poolAddress(origin, tokens, fee), tokens }))
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const beside = known.get(a) ?? new Map<string, readonly T[]>()
    known.set(a, beside.set(b, pools))
    remembered += 1
    return pools
  }
}

/** Who makes an exchange's pools, and of what, on one network. */
export interface PoolOrigin {
  readonly factory: string
  /** Makes the pools: the factory itself where it is absent. */
  readonly deployer?: string
  /** keccak256 of a pool's creation code. */
  readonly initCodeHash: string
}

/** The order in which pools keep two tokens. */
export function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}

const keyTypes = ['address', 'address', 'uint24']

/** Where the pool of two tokens in their order and a fee is, whether there is one or not: PoolAddress of @uniswap/v3-periphery@1.4.4. */
export function poolAddress(
  { factory, deployer = factory, initCodeHash }: PoolOrigin,
  tokens: readonly [string, string],
  fee: number,
): string {
  const key = AbiCoder.defaultAbiCoder().encode(keyTypes, [...tokens, fee])
  return getCreate2Address(deployer, keccak256(key), initCodeHash)
}

// UniswapV3Pool of @uniswap/v3-core@1.0.1: what comes out is sent before what goes in is asked for. Its flash would need
// liquidity in range, which a pool can do without to be traded with.
const borrow = lender({
  lends: 'swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)',
  recipient: 0,
})

/** A pool lends what it sells. */
function loanOf({ address, tokens, state }: Pool<V3PoolState>, token: string): Loan | undefined {
  const zeroForOne = token === tokens[1]
  const sentRaw = trialAmount(availableOut(state, zeroForOne))
  if (sentRaw === undefined) return undefined
  const sold = swap(state, zeroForOne, 'out', sentRaw)
  if (!sold || 'atBestRaw' in sold) return undefined
  return borrow(address, token, sentRaw, [zeroForOne, -sentRaw, zeroForOne ? minPriceX96 : maxPriceX96, '0x'])
}
