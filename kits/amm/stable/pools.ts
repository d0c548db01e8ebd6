import { getAddress, AbiCoder, Interface, dataLength, id } from 'ethers'
import { formatFraction } from '../../../core/decimal.ts'
import type { Venue, Head } from '../../../core/contracts/index.ts'
import { toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, Call, CallResult, EvmLog } from '../../evm/types.ts'
import { readBy, type Passage, type Pool, type PoolProtocol, type PoolMemory } from '../index.ts'
import {
  type Rounding,
  amountIn,
  amountOut,
  feeDenominator,
  spotPrice,
  type StablePoolState,
  balancesAfterLiquidityChange,
  balancesAfterSwap,
  stablePoolState,
  type StablePoolParameters,
  type Ramp,
  precision,
} from './math.ts'

/** How a pool's contract is asked, and how it reckons. */
interface PoolKind extends Rounding {
  /** Whether its amplification is moved over a time, or from one block to the next. */
  readonly ramps: boolean
  /** What `balances` and `coins` take. */
  readonly index: 'int128' | 'uint256'
}

/** Contracts of https://github.com/curvefi/curve-contract, contracts/pools: the versions of StableSwap without lending. */
export const poolKinds = {
  /** Vyper 0.1, susd/StableSwapSUSD.vy. */
  first: { aPrecision: 1n, divisorGuard: 1n, outputMargin: 0n, mustConverge: false, keepsWhole: true, ramps: false, index: 'int128' },
  /** Vyper 0.2.4, 3pool/StableSwap3Pool.vy. */
  second: { aPrecision: 1n, divisorGuard: 0n, outputMargin: 1n, mustConverge: false, keepsWhole: false, ramps: true, index: 'uint256' },
  /** Vyper 0.2.8, pool-templates/base/SwapTemplateBase.vy. */
  template: { aPrecision: 100n, divisorGuard: 0n, outputMargin: 1n, mustConverge: true, keepsWhole: false, ramps: true, index: 'uint256' },
} as const satisfies Readonly<Record<string, PoolKind>>

/** Pools are not made by one factory, and none says which version it is: so they are listed. */
export interface StablePool {
  readonly address: string
  readonly kind: keyof typeof poolKinds
  /** In the pool's order. */
  readonly coins: readonly Coin[]
}

export interface Coin {
  readonly address: string
  readonly decimals: number
}

/** In what one exchange of such pools differs from another. */
export interface StableSwapOptions {
  /** The label of this protocol version in the configuration, where the exchange has several. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly pools: Readonly<Record<string, readonly StablePool[]>>
}

/** An exchange on one network. */
export interface StableExchange {
  readonly version: string
  readonly router: string
  readonly pools: readonly StablePool[]
}

/** Throws where the plugin or its configuration lacks the network, with what to do. */
export function exchangeAt({ chain, network, contracts }: Venue<Evm>, { version, pools }: StableSwapOptions): StableExchange {
  const here = pools[`${chain}/${network}`]
  if (!here) {
    throw new Error(`The plugin has no pools for ${chain}/${network}: add them, or take the network out of its available_networks.`)
  }
  const key = version ? `${version}RouterAddress` : 'routerAddress'
  const router = contracts[key]
  if (!router)
    throw new Error(`The configuration has no ${key} for ${chain}/${network}: add it to the network's entry of contractAddresses.`)
  return { version: version ?? 'stable', router, pools: here.map(checked) }
}

/** Tokens are told apart by their canonical spelling, and no contract reckons with more than 18 decimals. */
function checked({ address, kind, coins }: StablePool): StablePool {
  const wrong = coins.find(({ decimals }) => !Number.isInteger(decimals) || decimals < 0 || decimals > 18)
  if (wrong || coins.length < 2 || !Object.hasOwn(poolKinds, kind)) {
    const problem = wrong
      ? `the coin ${wrong.address} has ${wrong.decimals} decimals`
      : coins.length < 2
        ? 'it has fewer than two coins'
        : `its kind is ${kind}`
    throw new Error(`The pool ${address} cannot be reckoned with: ${problem}. Correct the plugin's pools.`)
  }
  return { address: getAddress(address), kind, coins: coins.map((coin) => ({ ...coin, address: getAddress(coin.address) })) }
}

// Measured on the devnet with plain tokens: what a pool of four coins takes besides what every swap takes.
const passUnits = 160_000n

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
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot: (pool, passage) => spotPrice(pool.state, ...along(pool, passage)),
    fee: ({ state }) => formatFraction({ numerator: state.fee, denominator: feeDenominator }, 'down'),
  }
}

const along = ({ tokens }: Pool<StablePoolState>, { tokenIn, tokenOut }: Passage): [from: number, to: number] => [
  tokens.indexOf(tokenIn),
  tokens.indexOf(tokenOut),
]

/** Listed pools, in memory. */
export function stablePoolMemory(listed: readonly StablePool[]): PoolMemory<StablePoolState, StablePool> {
  const logsByCount = new Map(listed.map(({ coins }) => [coins.length, stableLogs(coins.length)]))
  const keys = new Set(listed.map(({ address }) => address.toLowerCase()))
  return {
    places: (pairs) =>
      listed.filter(({ coins }) => pairs.some((pair) => pair.every((token) => coins.some(({ address }) => address === token)))),

    read(places) {
      const calls = places.map(stateCalls)
      return {
        calls: calls.flat(),
        pools(results) {
          let taken = 0
          return places.map((pool, index) => readState(pool, results.slice(taken, (taken += calls[index]?.length ?? 0))) ?? null)
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
      const terms = change && termsAfter(pool, change, head)
      if (!terms) return 'reload'
      const state = stablePoolState(terms)
      return state ? { ...pool, state } : null
    },

    asOf,
  }
}

/** Only while the amplification moves is a pool another one from block to block. */
function asOf(pool: Pool<StablePoolState>, { timestamp }: Head): Pool<StablePoolState> | null {
  const { initial, future, futureTime } = pool.state.ramp
  if (initial === future || BigInt(timestamp) >= futureTime) return pool
  const state = stablePoolState(pool.state, timestamp)
  return state ? { ...pool, state } : null
}

/** Undefined where it is not known what the pool has then. */
function termsAfter(pool: Pool<StablePoolState>, change: StableChange, head: Head): StablePoolParameters | undefined {
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

const fees = ['fee', 'admin_fee'] as const
// With all digits. The first has it at once; of the others it is known for every time.
const fixed = ['A'] as const
const ramped = ['initial_A', 'future_A', 'initial_A_time', 'future_A_time'] as const
const plain = new Interface([...fees, ...fixed, ...ramped].map((name) => `function ${name}() view returns (uint256)`))
const byIndex = {
  int128: new Interface(['function balances(int128) view returns (uint256)', 'function coins(int128) view returns (address)']),
  uint256: new Interface(['function balances(uint256) view returns (uint256)', 'function coins(uint256) view returns (address)']),
}

/** Fees, amplification and balances. */
function stateCalls({ address, kind, coins }: StablePool): readonly Call[] {
  const names = [...fees, ...(poolKinds[kind].ramps ? ramped : fixed)]
  return [
    ...names.map((name) => ({ to: address, data: plain.encodeFunctionData(name) })),
    ...coins.map((_, at) => indexed({ address, kind }, 'balances', at)),
  ]
}

export const coinCalls = ({ address, kind, coins }: StablePool): readonly Call[] =>
  coins.map((_, at) => indexed({ address, kind }, 'coins', at))

function indexed({ address, kind }: Pick<StablePool, 'address' | 'kind'>, name: 'balances' | 'coins', at: number): Call {
  return { to: address, data: byIndex[poolKinds[kind].index].encodeFunctionData(name, [at]) }
}

/** Undefined where there is no such pool, or a coin of it is missing. */
function readState({ address, kind, coins }: StablePool, results: readonly CallResult[]): Pool<StablePoolState> | undefined {
  const numbers = results.flatMap((result) => numberOf(result) ?? [])
  if (numbers.length !== results.length) return undefined
  const [fee = 0n, adminFee = 0n, ...others] = numbers
  const balances = others.slice(-coins.length)
  const rates = coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals))
  const state = stablePoolState({ balances, ramp: rampOf(others.slice(0, -coins.length)), fee, adminFee, rates, rounding: poolKinds[kind] })
  return state && { address, tokens: coins.map((coin) => coin.address), state }
}

function rampOf([initial = 0n, future = initial, initialTime = 0n, futureTime = 0n]: readonly bigint[]): Ramp {
  return { initial, future, initialTime, futureTime }
}

/** A call to an address without code succeeds and returns nothing. */
const numberOf = ({ ok, data }: CallResult) => (ok && dataLength(data) === 32 ? BigInt(data) : undefined)

export const addressIn = ({ ok, data }: CallResult): string =>
  ok && dataLength(data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], data)[0]) : 'nothing'

// Of curve-contract, contracts/pools: all that changes what swaps go by, but `donate_admin_fees`, `kill_me` and `unkill_me`, which log
// nothing. What is committed to be changed later is logged again when it is.

const swapTopics = [
  id('TokenExchange(address,int128,uint256,int128,uint256)'),
  // Of pools without lending it is the same.
  id('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)'),
]
// Which coin was taken it does not say; the later ones have the supply of shares, too.
const oneCoinTopics = [id('RemoveLiquidityOne(address,uint256,uint256)'), id('RemoveLiquidityOne(address,uint256,uint256,uint256)')]
const feeTopic = id('NewFee(uint256,uint256)')
const parametersTopic = id('NewParameters(uint256,uint256,uint256)')
const rampTopic = id('RampA(uint256,uint256,uint256,uint256)')
const stopTopic = id('StopRampA(uint256,uint256)')

/** What a pool logs when coins are put in and taken out; these differ by how many coins it has. */
const liquidityTopics = (coins: number) => ({
  add: id(`AddLiquidity(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
  remove: id(`RemoveLiquidity(address,uint256[${coins}],uint256[${coins}],uint256)`),
  imbalance: id(`RemoveLiquidityImbalance(address,uint256[${coins}],uint256[${coins}],uint256,uint256)`),
})

type StableChange =
  | { readonly is: 'swap'; readonly from: number; readonly to: number; readonly soldRaw: bigint; readonly boughtRaw: bigint }
  /** Below zero where they were taken out. The invariant is that of before the fees; absent where all are taken alike, for no fee. */
  | { readonly is: 'liquidity'; readonly deltas: readonly bigint[]; readonly fees: readonly bigint[]; readonly invariant?: bigint }
  | { readonly is: 'fee'; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'parameters'; readonly amplification: bigint; readonly fee: bigint; readonly adminFee: bigint }
  | { readonly is: 'ramp'; readonly initial: bigint; readonly future: bigint; readonly initialTime: bigint; readonly futureTime: bigint }

/** The logs of pools with so many coins. */
interface StableLogs {
  readonly topics: readonly string[]
  /** Undefined where the log does not say all. */
  changeIn(log: EvmLog): StableChange | undefined
}

function stableLogs(coins: number): StableLogs {
  const liquidity = liquidityTopics(coins)
  const readers = new Map<string, (data: string) => StableChange>([
    ...swapTopics.map((topic) => [topic, swapIn] as const),
    [liquidity.add, (data) => ({ is: 'liquidity', ...sharesIn(data, 1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.imbalance, (data) => ({ is: 'liquidity', ...sharesIn(data, -1n), invariant: wordAt(data, 2 * coins) })],
    [liquidity.remove, (data) => ({ is: 'liquidity', ...sharesIn(data, -1n) })],
    [feeTopic, (data) => ({ is: 'fee', fee: wordAt(data, 0), adminFee: wordAt(data, 1) })],
    [parametersTopic, (data) => ({ is: 'parameters', amplification: wordAt(data, 0), fee: wordAt(data, 1), adminFee: wordAt(data, 2) })],
    [rampTopic, (data) => rampOfOfPoolLogs(wordAt(data, 0), wordAt(data, 1), wordAt(data, 2), wordAt(data, 3))],
    [stopTopic, (data) => rampOfOfPoolLogs(wordAt(data, 0), wordAt(data, 0), wordAt(data, 1), wordAt(data, 1))],
  ])
  const sharesIn = (data: string, sign: bigint) => ({
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

const rampOfOfPoolLogs = (initial: bigint, future: bigint, initialTime: bigint, futureTime: bigint): StableChange => ({
  is: 'ramp',
  initial,
  future,
  initialTime,
  futureTime,
})
