// Pools of Uniswap v4: all of them are kept by one contract, the PoolManager, under the hash of a key. Their arithmetic is v3's with fees that
// may differ by direction.
import { AbiCoder, keccak256, id } from 'ethers'
import { abiOf, toInt256, wordAt } from '../../evm/encoding.ts'
import type { FoundLog } from '../../evm/types.ts'
import { cacheByPair, sortTokens } from '../deployment.ts'
import { trialAmount } from '../fee-on-transfer.ts'
import { bothReadings, readBy, type Loan, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import { maxEstimateError, type Estimate, type Passage, type Pool } from '../../pools/protocol.ts'
import { joinTried, passByTrial, triedAsOf, triedIn, trialReading, trialsAmong, type Trial, type TriedState } from '../trial.ts'
import { initialQuery, isPriceKnown, lensReading, missingTicks, widerQuery, type LensQuery, type ReadPool } from '../v3/lens.ts'
import { changedState, isSameState, joinStates, tickIn, withLiquidity } from '../v3/logs.ts'
import { wholeFeePips } from '../v3/math.ts'
import { isEmpty, spotOf } from '../v3/pools.ts'
import {
  availableOut,
  estimateSwap,
  firstWriteUnitsOf,
  gasUnitsOf,
  hopUnits,
  maxPriceX96,
  minPriceX96,
  swap,
  TickTable,
  type V3PoolState,
} from '../v3/swap.ts'
import probe from './artifacts/V4TransferProbe.json' with { type: 'json' }

/** What identifies a pool: PoolKey of @uniswap/v4-core@1.0.2. The zero address is the native coin as a currency, and no hooks as `hooks`. */
export interface PoolKey {
  readonly currency0: string
  readonly currency1: string
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  readonly hooks: string
}

/**
 * A pool at one block. The fee includes the protocol's, which may differ by direction: then the two states differ in it alone. What was tried is
 * of pools that are asked of the chain.
 */
export interface V4PoolState extends TriedState {
  readonly zeroForOne: V3PoolState
  readonly oneForZero: V3PoolState
  /** For the providers of liquidity, hundredths of a basis point. */
  readonly lpFee: number
  /** As it is stored: that of one direction in each 12 bits. */
  readonly protocolFee: number
  /** Undefined for a pool without the chain's coin. */
  readonly coinForm: 'native' | 'wrapped' | undefined
}

export const zeroAddress = '0x0000000000000000000000000000000000000000'

// The fees that Uniswap's own pages offer, with their tick spacings: FEE_AMOUNT and TICK_SPACINGS of @uniswap/v4-sdk@2.4.0 (internalConstants).
const standardFees: readonly (readonly [fee: number, tickSpacing: number])[] = [
  [100, 1],
  [500, 10],
  [3000, 60],
  [10_000, 200],
]

const keyTypes = ['address', 'address', 'uint24', 'int24', 'address']

/** PoolIdLibrary of @uniswap/v4-core@1.0.2. */
export const poolId = ({ currency0, currency1, fee, tickSpacing, hooks }: PoolKey): string =>
  keccak256(AbiCoder.defaultAbiCoder().encode(keyTypes, [currency0, currency1, fee, tickSpacing, hooks]))

/** Where a pool is, or would be. */
export interface PoolLocation {
  /** Its id. */
  readonly address: string
  readonly key: PoolKey
  /** In the pool's order; the wrapped coin stands for the native one. */
  readonly tokens: readonly [token0: string, token1: string]
  readonly coinForm: V4PoolState['coinForm']
  readonly query: LensQuery
  /** It stands in a configuration; others may exist or not. */
  readonly isConfigured: boolean
}

/** The pools that may exist between two tokens: those of the standard fees without hooks, and those that are configured. */
export type PoolsBetween = (a: string, b: string) => readonly PoolLocation[]

/** @param wrapped the wrapped coin: pools may have it, or the native coin itself @param configured keys of further pools */
export function poolsBetweenOf(
  manager: string,
  wrapped: string,
  { configured, standard: hasStandard = true }: { readonly configured: readonly PoolKey[]; readonly standard?: boolean },
): PoolsBetween {
  const tokenOf = (currency: string) => (currency === zeroAddress ? wrapped : currency)
  return cacheByPair((tokens) => {
    const currencies = tokens.includes(wrapped)
      ? [tokens, sortTokens(zeroAddress, tokens[0] === wrapped ? tokens[1] : tokens[0])]
      : [tokens]
    const standard = (hasStandard ? currencies : []).flatMap(([currency0, currency1]) =>
      standardFees.map(([fee, tickSpacing]): PoolKey => ({ currency0, currency1, fee, tickSpacing, hooks: zeroAddress })),
    )
    const further = configured.filter(({ currency0, currency1 }) => {
      const [token0, token1] = sortTokens(tokenOf(currency0), tokenOf(currency1))
      return token0 === tokens[0] && token1 === tokens[1]
    })
    const keys = [...standard.map((key) => ({ key, isConfigured: false })), ...further.map((key) => ({ key, isConfigured: true }))]
    const locations = keys.map(({ key, isConfigured }): PoolLocation => {
      const address = poolId(key)
      const query = { ...initialQuery(address), keptBy: { address: manager, tickSpacing: key.tickSpacing } }
      const coinForm = key.currency0 === zeroAddress ? 'native' : tokens.includes(wrapped) ? 'wrapped' : undefined
      return { address, key, tokens: [tokenOf(key.currency0), tokenOf(key.currency1)], coinForm, query, isConfigured }
    })
    return [...new Map(locations.map((location) => [location.address, location])).values()]
  })
}

/** The PoolManager counts in `int128`, and reverts beyond. */
const maxAmountRaw = 2n ** 127n - 1n

// Measured by swaps of the devnet's pools through the Universal Router: 105,000 to 141,000 in all for one pool, by the form of the coin and by
// how the router is paid, where a swap of v3 uses 103,000; each further pool within the same call uses 40,000 to 60,000.
const routerUnits = 20_000n

interface V4ProtocolOptions {
  /** The label of this protocol version: "v4". */
  readonly version: string
  readonly manager: string
  readonly poolsBetween: PoolsBetween
  /** What swaps give is tried on the chain, at the block of the quote: hooks may act in them. */
  readonly isAsked?: boolean
}

/** Pools whose hooks, if any, cannot touch swaps; or those that are asked of the chain. */
export function v4Protocol({ version, manager, poolsBetween, isAsked = false }: V4ProtocolOptions): PoolProtocol<V4PoolState> {
  const memory = v4PoolMemory(manager, poolsBetween, isAsked)
  const stateOf = ({ tokens, state }: Pool<V4PoolState>, tokenIn: string) => {
    const zeroForOne = tokenIn === tokens[0]
    return { zeroForOne, range: zeroForOne ? state.zeroForOne : state.oneForZero }
  }
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, { tokenIn }, exact, amountRaw) {
      const { zeroForOne, range } = stateOf(pool, tokenIn)
      if (!isAsked) return computed(pool.address, range, zeroForOne, exact, amountRaw)
      return amountRaw > maxAmountRaw ? undefined : passByTrial(pool, { zeroForOne, exact, amountRaw })
    },
    ...(!isAsked && {
      estimate(pool: Pool<V4PoolState>, { tokenIn }: Passage, exact: 'in' | 'out', amount: number) {
        const { zeroForOne, range } = stateOf(pool, tokenIn)
        return estimated(range, zeroForOne, exact, amount)
      },
    }),
    ...(isAsked && {
      curve(pool: Pool<V4PoolState>, { tokenIn }: Passage, exact: 'in' | 'out', amountRaw: bigint) {
        const { zeroForOne, range } = stateOf(pool, tokenIn)
        return computed(pool.address, range, zeroForOne, exact, amountRaw)
      },
    }),
    spot(pool, { tokenIn }) {
      const { zeroForOne, range } = stateOf(pool, tokenIn)
      return spotOf(range, zeroForOne)
    },
    fee: (pool, { tokenIn }) => String(stateOf(pool, tokenIn).range.fee / wholeFee),
    ...(isAsked ? { asksChain: () => true } : { spotIsBest: true, leastGasUnits: BigInt(hopUnits) + routerUnits }),
    holds: (pool, { tokenIn }) => ({ liquidityRaw: stateOf(pool, tokenIn).range.liquidity }),
    coinForm: ({ state }) => state.coinForm,
    mostIn(pool, { tokenIn }) {
      const { zeroForOne, range } = stateOf(pool, tokenIn)
      return isEmpty(range, zeroForOne) ? 0n : undefined
    },
    loan: ({ tokens, state }, token) => loanOf(manager, tokens, state, token),
    listed: (pairs) => memory.places(pairs).flatMap(({ address, isConfigured }) => (isConfigured ? [address] : [])),
  }
}

/** The manager lends what the pool has, to whoever unlocks it: contracts/V4TransferProbe.sol. */
function loanOf(manager: string, tokens: readonly string[], state: V4PoolState, token: string): Loan | undefined {
  const zeroForOne = token === tokens[1]
  const sentRaw = trialAmount(availableOut(zeroForOne ? state.zeroForOne : state.oneForZero, zeroForOne))
  if (sentRaw === undefined) return undefined
  const parameters = AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint256'], [manager, token, sentRaw])
  return { code: probe.bytecode + parameters.slice(2), sentRaw }
}

/** By the pool's liquidity and its fee. */
function computed(address: string, range: V3PoolState, zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint) {
  // The fee would be the whole input.
  if (amountRaw > maxAmountRaw || BigInt(range.fee) >= wholeFeePips) return undefined
  const swapped = swap(range, zeroForOne, exact, amountRaw)
  if (!swapped) return undefined
  if ('atBestRaw' in swapped) {
    const missing = missingTicks(address, zeroForOne, range)
    return missing && { missing, ...swapped }
  }
  if (swapped.amountRaw > maxAmountRaw) return undefined
  return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped) + routerUnits, firstWriteUnits: firstWriteUnitsOf(swapped) }
}

const [maxAmount, wholeFee, routerGas] = [Number(maxAmountRaw) * (1 - maxEstimateError), Number(wholeFeePips), Number(routerUnits)]

function estimated(range: V3PoolState, zeroForOne: boolean, exact: 'in' | 'out', amount: number): Estimate | undefined {
  if (range.fee >= wholeFee) return undefined
  const found = estimateSwap(range, zeroForOne, exact, amount)
  if (!found || amount >= maxAmount || found.amount >= maxAmount) return undefined
  return { amount: found.amount, error: found.error, gasUnits: found.gasUnits + routerGas }
}

// IPoolManager and IProtocolFees of @uniswap/v4-core@1.0.2. Donate pays the providers of liquidity, and changes no swap.
const initializeTopic = id('Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)')
export const modifyLiquidityTopic = id('ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)')
const swapTopic = id('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)')
const protocolFeeTopic = id('ProtocolFeeUpdated(bytes32,uint24)')

function v4PoolMemory(manager: string, poolsBetween: PoolsBetween, isAsked: boolean): PoolMemory<V4PoolState, PoolLocation> {
  const emitter = manager.toLowerCase()
  return {
    places: (pairs) => pairs.flatMap(([a, b]) => poolsBetween(a, b)),
    read(locations, missing) {
      const queries = locations.map(({ address, query }) => ({ ...query, ...(missing.length > 0 && widerQuery(address, missing)) }))
      const byId = new Map(locations.map((location) => [location.address, location]))
      const trials = isAsked ? trialsAmong(missing, new Set(byId.keys())) : []
      const trying = trialReading(trials, (trial) => ({ target: manager, kept: swapCall(byId.get(trial.pool)?.key, trial) }))
      return bothReadings(lensReading(queries), trying, (states, tried, head) =>
        locations.map(({ address, tokens, coinForm }, index) => {
          const state = states[index]
          if (!state) return null
          return { address, tokens, state: { ...v4StateOf(state, coinForm), ...(isAsked && head && triedIn(tried, address, head)) } }
        }),
      )
    },
    follow: [initializeTopic, modifyLiquidityTopic, swapTopic, protocolFeeTopic],
    emitters: [emitter],
    poolsAreEmitters: false,
    poolsOf: ({ address, topics }) => (address.toLowerCase() === emitter && topics[1] !== undefined ? [topics[1].toLowerCase()] : []),
    apply(pool, log) {
      // A new pool: its ticks are unknown.
      if (pool === null) return 'reload'
      const state = applyLog(pool.state, log)
      if (state === pool.state || state === 'reload') return state === 'reload' ? state : pool
      return isPriceKnown(state.zeroForOne) ? { address: pool.address, tokens: pool.tokens, state } : 'reload'
    },
    ...(isAsked && { asOf: triedAsOf<V4PoolState> }),
    same: ({ state: inMemory }, { state: loaded }) => hasSameFees(inMemory, loaded) && isSameState(inMemory.zeroForOne, loaded.zeroForOne),
    join: ({ state: inMemory }, loaded) => ({
      ...loaded,
      state: {
        // What earlier swaps found holds for their fees, of both directions.
        ...(hasSameFees(inMemory, loaded.state)
          ? withRange(loaded.state, joinStates(inMemory.zeroForOne, loaded.state.zeroForOne))
          : loaded.state),
        ...(isAsked && joinTried(inMemory, loaded.state)),
      },
    }),
  }
}

const hasSameFees = (one: V4PoolState, other: V4PoolState): boolean => one.protocolFee === other.protocolFee && one.lpFee === other.lpFee

const managerFunctions = abiOf([
  'function swap((address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) key, (bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96) params, bytes hookData) returns (int256)',
])

/** As routers swap: to the end of the prices, without data for hooks. An amount below 0 is an input. */
function swapCall(key: PoolKey | undefined, { pool, zeroForOne, exact, amountRaw }: Trial): string {
  if (!key) throw new Error(`The key of the pool ${pool} was not given.`)
  const { currency0, currency1, fee, tickSpacing, hooks } = key
  return managerFunctions.encodeFunctionData('swap', [
    [currency0, currency1, fee, tickSpacing, hooks],
    [zeroForOne, exact === 'in' ? -amountRaw : amountRaw, zeroForOne ? minPriceX96 : maxPriceX96],
    '0x',
  ])
}

function v4StateOf({ protocolFee = 0, ...range }: ReadPool, coinForm: V4PoolState['coinForm']): V4PoolState {
  return withRange({ lpFee: range.fee, protocolFee, coinForm }, range)
}

/** ProtocolFeeLibrary of @uniswap/v4-core@1.0.2. @param protocolFee of one direction */
const swapFee = (protocolFee: number, lpFee: number): number =>
  protocolFee === 0 ? lpFee : protocolFee + lpFee - Math.floor((protocolFee * lpFee) / Number(wholeFeePips))

/** A pool's state for both directions. Where their fees are equal it is one object, and swaps of both share what they find. */
function withRange({ lpFee, protocolFee, coinForm }: Omit<V4PoolState, 'zeroForOne' | 'oneForZero'>, range: V3PoolState): V4PoolState {
  const [downward, upward] = [swapFee(protocolFee & 0xfff, lpFee), swapFee(protocolFee >> 12, lpFee)]
  const zeroForOne = range.fee === downward ? range : { ...range, fee: downward }
  return { zeroForOne, oneForZero: upward === downward ? zeroForOne : { ...range, fee: upward }, lpFee, protocolFee, coinForm }
}

/** A pool after one of its logs; the same object where nothing changes. */
function applyLog(state: V4PoolState, { topics, data }: FoundLog): V4PoolState | 'reload' {
  const { zeroForOne: range } = state
  const changed = (next: V3PoolState | 'reload') => (next === 'reload' ? next : next === range ? state : withRange(state, next))
  switch (topics[0]) {
    case swapTopic:
      // Another fee than the pool's own: a hook gave it, or it was changed without a log.
      if (Number(wordAt(data, 5)) !== (isZeroForOne(data) ? range.fee : state.oneForZero.fee)) return 'reload'
      return changed(changedState(range, wordAt(data, 2), tickIn(data, 4), wordAt(data, 3), range.ticks))
    case modifyLiquidityTopic:
      return changed(withLiquidity(range, tickIn(data, 0), tickIn(data, 1), toInt256(wordAt(data, 2))))
    case protocolFeeTopic: {
      // What earlier swaps found holds for their fee.
      const { from, to, ticks, liquidity } = range.ticks
      return withRange({ ...state, protocolFee: Number(wordAt(data, 0)) }, { ...range, ticks: new TickTable(from, to, ticks, liquidity) })
    }
    default:
      return 'reload'
  }
}

/** The input is what the swapper pays: below 0. */
const isZeroForOne = (data: string): boolean => toInt256(wordAt(data, 0)) < 0n
