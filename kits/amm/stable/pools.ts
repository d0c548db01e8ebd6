import { id } from 'ethers'
import type { Head } from '../../../core/contracts/index.ts'
import { formatFraction } from '../../../core/base/decimal.ts'
import { abiOf, toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Call, CallResult, EvmLog } from '../../evm/types.ts'
import { readBy, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import type { Passage, Pool } from '../../pools/protocol.ts'
import { stableRateBound } from './rate-bound.ts'
import {
  amountIn,
  amountOut,
  balancesAfterLiquidityChange,
  balancesAfterSwap,
  feeDenominator,
  precision,
  spotPrice,
  stablePoolState,
  type Ramp,
  type Rounding,
  type StablePoolParameters,
  type StablePoolState,
} from './math.ts'

/** How a pool's contract is called, and how it computes. */
interface PoolKind extends Rounding {
  /** Whether the amplification moves over time, or from one block to the next. */
  readonly ramps: boolean
  /** The type of the argument of `balances` and `coins`. */
  readonly index: 'int128' | 'uint256'
}

/** Contracts of https://github.com/curvefi/curve-contract, contracts/pools: the versions of StableSwap without lending. */
export const poolKinds = {
  /** Vyper 0.1, susd/StableSwapSUSD.vy. */
  first: { aPrecision: 1n, divisorGuard: 1n, outputMargin: 0n, mustConverge: false, roundsRemainder: true, ramps: false, index: 'int128' },
  /** Vyper 0.2.4, 3pool/StableSwap3Pool.vy. */
  second: {
    aPrecision: 1n,
    divisorGuard: 0n,
    outputMargin: 1n,
    mustConverge: false,
    roundsRemainder: false,
    ramps: true,
    index: 'uint256',
  },
  /** Vyper 0.2.8, pool-templates/base/SwapTemplateBase.vy. */
  template: {
    aPrecision: 100n,
    divisorGuard: 0n,
    outputMargin: 1n,
    mustConverge: true,
    roundsRemainder: false,
    ramps: true,
    index: 'uint256',
  },
} as const satisfies Readonly<Record<string, PoolKind>>

/** Pools are listed by the plugin: no factory makes all of them, and none says which version it is. */
export interface StablePool {
  readonly address: string
  readonly kind: keyof typeof poolKinds
  /** In the pool's order. */
  readonly coins: readonly Coin[]
  /** Absent: liquidity is neither added to it nor removed from it here. */
  readonly shares?: StableShares
}

/** Shares of a pool. In the venue's `contractAddresses` the pool has to stand as `<label>Address`: deposits are paid to the pool itself. */
export interface StableShares {
  /** Of the pool, among those of the exchange: "3pool". */
  readonly label: string
  /** The address of the token that the shares are, with 18 decimals. */
  readonly token: string
}

export interface Coin {
  readonly address: string
  readonly decimals: number
}

// Measured on the devnet with plain tokens: what a pool of four coins adds to the base of every swap.
const hopGasUnits = 160_000n

/** Pools of coins that are meant to be worth the same, two or more in each. */
export function stableProtocol(version: string, pools: readonly StablePool[]): PoolProtocol<StablePoolState> {
  const memory = stablePoolMemory(pools)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const [from, to] = along(pool, passage)
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(pool.state, from, to, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: hopGasUnits }
    },
    rateBound: (pool, passage) => stableRateBound(pool.state, ...along(pool, passage)),
    leastGasUnits: hopGasUnits,
    spot: (pool, passage) => spotPrice(pool.state, ...along(pool, passage)),
    fee: ({ state }) => formatFraction({ numerator: state.fee, denominator: feeDenominator }, 'down'),
    holds(pool, passage) {
      const [from, to] = along(pool, passage)
      return { reserveInRaw: pool.state.balances[from] ?? 0n, reserveOutRaw: pool.state.balances[to] ?? 0n }
    },
    listed: (pairs) => memory.places(pairs).map(({ address }) => address),
  }
}

const along = ({ tokens }: Pool<StablePoolState>, { tokenIn, tokenOut }: Passage): [from: number, to: number] => [
  tokens.indexOf(tokenIn),
  tokens.indexOf(tokenOut),
]

/** Listed pools in memory. */
export function stablePoolMemory(listed: readonly StablePool[]): PoolMemory<StablePoolState, StablePool> {
  const logsByCount = new Map(listed.map(({ coins }) => [coins.length, stableLogs(coins.length)]))
  const keys = new Set(listed.map(({ address }) => address.toLowerCase()))
  return {
    places: (pairs) =>
      listed.filter(({ coins }) => pairs.some((pair) => pair.every((token) => coins.some(({ address }) => address === token)))),

    read(pools) {
      const calls = pools.map(stateCalls)
      return {
        calls: calls.flat(),
        pools(results) {
          let offset = 0
          return pools.map((pool, index) => readState(pool, results.slice(offset, (offset += calls[index]?.length ?? 0))))
        },
      }
    },

    follow: [...new Set([...logsByCount.values()].flatMap(({ topics }) => topics))],

    poolsOf({ address }) {
      const key = address.toLowerCase()
      return keys.has(key) ? [key] : []
    },

    apply(pool, log, head) {
      const change = pool && logsByCount.get(pool.tokens.length)?.changeIn(log)
      const parameters = change && parametersAfter(pool, change, head)
      if (!parameters) return 'reload'
      const state = stablePoolState(parameters)
      return state ? { ...pool, state } : null
    },

    asOf,
  }
}

/** A pool changes from block to block without logs only while its amplification moves. */
function asOf(pool: Pool<StablePoolState>, { timestamp }: Head): Pool<StablePoolState> | null {
  const { initial, future, futureTime } = pool.state.ramp
  if (initial === future || BigInt(timestamp) >= futureTime) return pool
  const state = stablePoolState(pool.state, timestamp)
  return state ? { ...pool, state } : null
}

/** Undefined where the log does not say the pool's new state. */
function parametersAfter(pool: Pool<StablePoolState>, change: StableChange, head: Head): StablePoolParameters | undefined {
  const { state } = pool
  switch (change.is) {
    case 'fee':
      return { ...state, fee: change.fee, adminFee: change.adminFee }
    case 'parameters': {
      const { amplification, fee, adminFee } = change
      return { ...state, fee, adminFee, ramp: { initial: amplification, future: amplification, initialTime: 0n, futureTime: 0n } }
    }
    case 'ramp': {
      const { initial, future, initialTime, futureTime } = change
      return { ...state, ramp: { initial, future, initialTime, futureTime } }
    }
    case 'swap':
    case 'liquidity': {
      const now = asOf(pool, head)?.state
      const balances = now && balancesAfter(now, change)
      return balances && { ...state, balances }
    }
    default:
      return undefined
  }
}

function balancesAfter(state: StablePoolState, change: Extract<StableChange, { is: 'swap' | 'liquidity' }>): readonly bigint[] | undefined {
  if (change.is === 'swap') return balancesAfterSwap(state, change)
  const { deltas, fees, invariant } = change
  if (invariant !== undefined) return balancesAfterLiquidityChange(state, { deltas, fees, invariant })
  return state.balances.map((balance, index) => balance + (deltas[index] ?? 0n))
}

const feeViews = ['fee', 'admin_fee'] as const
// The amplification with all digits. The first pools have only the present value, the others say it for every time.
const fixedViews = ['A'] as const
const rampViews = ['initial_A', 'future_A', 'initial_A_time', 'future_A_time'] as const
const plainAbi = abiOf([...feeViews, ...fixedViews, ...rampViews].map((view) => `function ${view}() view returns (uint256)`))
const indexedAbi = {
  int128: abiOf(['function balances(int128) view returns (uint256)', 'function coins(int128) view returns (address)']),
  uint256: abiOf(['function balances(uint256) view returns (uint256)', 'function coins(uint256) view returns (address)']),
}

/** Fees, amplification and balances. */
export function stateCalls(pool: StablePool): readonly Call[] {
  const views = [...feeViews, ...(poolKinds[pool.kind].ramps ? rampViews : fixedViews)]
  return [...views.map((view) => ({ to: pool.address, data: plainAbi.encodeFunctionData(view) })), ...indexedCalls(pool, 'balances')]
}

export const coinCalls = (pool: StablePool): readonly Call[] => indexedCalls(pool, 'coins')

/** A view of each coin, in the pool's order. */
function indexedCalls({ address, kind, coins }: StablePool, view: 'balances' | 'coins'): readonly Call[] {
  const abi = indexedAbi[poolKinds[kind].index]
  return coins.map((_, index) => ({ to: address, data: abi.encodeFunctionData(view, [index]) }))
}

/** Null where there is no such pool, or it has nothing of a coin. */
function readState(pool: StablePool, results: readonly CallResult[]): Pool<StablePoolState> | null {
  const parameters = readParameters(pool, results)
  const state = parameters && stablePoolState(parameters)
  return state ? { address: pool.address, tokens: pool.coins.map((coin) => coin.address), state } : null
}

/**
 * Undefined where there is no such pool. A call to an address without code succeeds and returns nothing.
 * @param results of `stateCalls`
 */
export function readParameters({ kind, coins }: StablePool, results: readonly CallResult[]): StablePoolParameters | undefined {
  if (!results.every(({ ok, data }) => ok && wordCount(data) === 1)) return undefined
  const [fee = 0n, adminFee = 0n, ...others] = results.map(({ data }) => wordAt(data, 0))
  const balances = others.slice(-coins.length)
  const [initial = 0n, future = initial, initialTime = 0n, futureTime = 0n] = others.slice(0, -coins.length)
  const ramp: Ramp = { initial, future, initialTime, futureTime }
  const rates = coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals))
  return { balances, ramp, fee, adminFee, rates, rounding: poolKinds[kind] }
}

// The logs of curve-contract, contracts/pools, that change swaps. `donate_admin_fees`, `kill_me` and `unkill_me` log nothing. A change that is
// committed for later is logged again when it is applied.

const swapTopics = [
  id('TokenExchange(address,int128,uint256,int128,uint256)'),
  // The same, for pools without lending.
  id('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)'),
]
// It does not say which coin was removed. Later versions add the supply of shares.
const oneCoinTopics = [id('RemoveLiquidityOne(address,uint256,uint256)'), id('RemoveLiquidityOne(address,uint256,uint256,uint256)')]
const feeTopic = id('NewFee(uint256,uint256)')
const parametersTopic = id('NewParameters(uint256,uint256,uint256)')
const rampTopic = id('RampA(uint256,uint256,uint256,uint256)')
const stopTopic = id('StopRampA(uint256,uint256)')

/** The logs of adding and removing liquidity, which differ by the number of coins. */
export const liquidityTopics = (coins: number) => ({
  add: id(`AddLiquidity(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
  remove: id(`RemoveLiquidity(address,uint256[${coins}],uint256[${coins}],uint256)`),
  imbalance: id(`RemoveLiquidityImbalance(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
})

type StableChange =
  | { readonly is: 'swap'; readonly from: number; readonly to: number; readonly soldRaw: bigint; readonly boughtRaw: bigint }
  /** `deltas` are below 0 for removed coins. `invariant` is before the fees; absent where all coins are removed in proportion, without a fee. */
  | { readonly is: 'liquidity'; readonly deltas: readonly bigint[]; readonly fees: readonly bigint[]; readonly invariant?: bigint }
  | { readonly is: 'fee'; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'parameters'; readonly amplification: bigint; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'ramp'; readonly initial: bigint; readonly future: bigint; readonly initialTime: bigint; readonly futureTime: bigint }

/** How the logs of pools with a number of coins are read. */
interface StableLogs {
  readonly topics: readonly string[]
  /** Undefined where the log does not say everything. */
  changeIn(log: EvmLog): StableChange | undefined
}

function stableLogs(coins: number): StableLogs {
  const liquidity = liquidityTopics(coins)
  const readers = new Map<string, (data: string) => StableChange>([
    ...swapTopics.map((topic) => [topic, swapIn] as const),
    [liquidity.add, (data) => ({ is: 'liquidity', ...amountsIn(data, 1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.imbalance, (data) => ({ is: 'liquidity', ...amountsIn(data, -1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.remove, (data) => ({ is: 'liquidity', ...amountsIn(data, -1n) })],
    [feeTopic, (data) => ({ is: 'fee', fee: wordAt(data, 0), adminFee: wordAt(data, 1) })],
    [parametersTopic, (data) => ({ is: 'parameters', amplification: wordAt(data, 0), fee: wordAt(data, 1), adminFee: wordAt(data, 2) })],
    [rampTopic, (data) => rampChange(wordAt(data, 0), wordAt(data, 1), wordAt(data, 2), wordAt(data, 3))],
    [stopTopic, (data) => rampChange(wordAt(data, 0), wordAt(data, 0), wordAt(data, 1), wordAt(data, 1))],
  ])
  const amountsIn = (data: string, sign: bigint) => ({
    deltas: Array.from({ length: coins }, (_, index) => sign * wordAt(data, index)),
    fees: Array.from({ length: coins }, (_, index) => wordAt(data, coins + index)),
  })
  return {
    topics: [...readers.keys(), ...oneCoinTopics],
    changeIn: ({ topics: [topic = ''], data }) => (wordCount(data) === 0 ? undefined : readers.get(topic)?.(data)),
  }
}

const swapIn = (data: string): StableChange => ({
  is: 'swap',
  from: Number(toInt256(wordAt(data, 0))),
  soldRaw: wordAt(data, 1),
  to: Number(toInt256(wordAt(data, 2))),
  boughtRaw: wordAt(data, 3),
})

const rampChange = (initial: bigint, future: bigint, initialTime: bigint, futureTime: bigint): StableChange => ({
  is: 'ramp',
  initial,
  future,
  initialTime,
  futureTime,
})
