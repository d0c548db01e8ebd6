import { SluiceError, type At, type Head } from '../../../core/contracts/index.ts'
import { abiOf, wordCount, wordsIn } from '../../evm/encoding.ts'
import type { Call, CallResult, EvmReader, Probe } from '../../evm/types.ts'
import { requireNoRevert } from '../deployment.ts'
import type { Deployment } from './pools.ts'

/** What positions have to know of an exchange on one network. */
export interface RangeExchange extends Deployment {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** All fee tiers, in hundredths of a basis point. */
  readonly fees: readonly number[]
  /** The tiers that have names. */
  readonly feeTiers: Readonly<Record<string, number>>
  readonly positionManager: string
  /** The addresses of the network's token list. */
  readonly listed: ReadonlySet<string>
}

/** NonfungiblePositionManager of @uniswap/v3-periphery@1.4.4: the functions in use. */
export const managerAbi = abiOf([
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable returns (uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable returns (uint256 amount0, uint256 amount1)',
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params) payable returns (uint256 amount0, uint256 amount1)',
  'function burn(uint256 tokenId) payable',
  'function multicall(bytes[] data) payable returns (bytes[] results)',
  'function refundETH() payable',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function sweepToken(address token, uint256 amountMinimum, address recipient) payable',
  'function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function balanceOf(address owner) view returns (uint256)',
  'function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)',
  'function factory() view returns (address)',
  'function WETH9() view returns (address)',
])

/** UniswapV3Pool of @uniswap/v3-core@1.0.1: views in use. Those of its forks begin with the same return values. */
export const poolAbi = abiOf([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function feeGrowthGlobal0X128() view returns (uint256)',
  'function feeGrowthGlobal1X128() view returns (uint256)',
  'function ticks(int24 tick) view returns (uint128 liquidityGross, int128 liquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128)',
  'function positions(bytes32 key) view returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function observe(uint32[] secondsAgos) view returns (int56[] tickCumulatives, uint160[] secondsPerLiquidityCumulativeX128s)',
  'function observations(uint256 index) view returns (uint32 blockTimestamp, int56 tickCumulative, uint160 secondsPerLiquidityCumulativeX128, bool initialized)',
])

/** The words that a view returned. Undefined where it failed, or returned fewer than `min`; views of forks may return more. */
export function wordsOf(result: CallResult | undefined, min: number): readonly bigint[] | undefined {
  return result?.ok && wordCount(result.data) >= min ? wordsIn(result.data) : undefined
}

/** Reads all calls at one block, in one round trip. */
export type Read<C = Call> = (calls: readonly C[], at: At) => Promise<{ head: Head; results: readonly CallResult[] }>

/**
 * A reader whose first read also checks the configuration: the position manager has to manage positions in this factory's pools, and to wrap
 * the coin in this token.
 * @throws SluiceError SERVICE_UNINITIALIZED for every read while it does not
 */
export function checkedReader({ positionManager, factory }: RangeExchange, reader: EvmReader): Read<Call | Probe> {
  const wrapped = reader.wrapped.address
  let isChecked = false
  return async (calls, at) => {
    if (isChecked) return reader.read(calls, at)
    const checks = (['factory', 'WETH9'] as const).map((view) => ({ to: positionManager, data: managerAbi.encodeFunctionData(view) }))
    const { head, results } = await reader.read([...checks, ...calls], at)
    const remedy = "set positionManagerAddress in the connector's contractAddresses to the one of this exchange"
    for (const [index, view] of ['factory()', 'WETH9()'].entries())
      requireNoRevert(`The configured position manager ${positionManager}`, view, results[index], remedy)
    const [foundFactory, foundWrapped] = results.map((result) => wordsOf(result, 1)?.[0])
    if (foundFactory !== BigInt(factory) || foundWrapped !== BigInt(wrapped)) {
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `${positionManager} does not manage positions in pools of ${factory} with ${wrapped} as the wrapped coin: set positionManagerAddress in the connector's contractAddresses to the contract that does.`,
      )
    }
    isChecked = true
    return { head, results: results.slice(checks.length) }
  }
}

/** About a fifth of the gas that nodes grant one call. */
const maxCallsPerBatch = 1000
const attempts = 5

/** Which calls are made for those that are wanted. */
interface ReadPlan {
  readonly batches: readonly (readonly Call[])[]
  /** Of each that is wanted, among those that are made. */
  readonly indexes: readonly number[]
}

/** By the list: positions that are looked at are the same with each block. */
const plans = new WeakMap<readonly Call[], ReadPlan>()

function planOf(calls: readonly Call[]): ReadPlan {
  const plan = plans.get(calls) ?? newPlan(calls)
  plans.set(calls, plan)
  return plan
}

function newPlan(calls: readonly Call[]): ReadPlan {
  const known = new Map<string, number>()
  const different: Call[] = []
  const indexes = calls.map((call) => {
    const key = call.to + call.data
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, different.length)
    return different.push(call) - 1
  })
  const batches: Call[][] = []
  for (let start = 0; start < different.length; start += maxCallsPerBatch) batches.push(different.slice(start, start + maxCallsPerBatch))
  return { batches, indexes }
}

/**
 * Reads any number of calls at one block; equal ones once. Where one batch does not hold them, several are sent at the same time until all
 * answers are of the same block.
 * @throws SluiceError NETWORK where blocks come faster
 */
export async function readAtOnce(read: Read, calls: readonly Call[], at: At): Promise<{ head: Head; results: readonly CallResult[] }> {
  const { batches, indexes } = planOf(calls)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const answers = await Promise.all(batches.map((batch) => read(batch, at)))
    const [first] = answers
    if (first && answers.every(({ head }) => head.number === first.head.number)) {
      const results = answers.flatMap((answer) => answer.results)
      return { head: first.head, results: indexes.map((index) => results[index] ?? { ok: false, data: '0x' }) }
    }
  }
  throw new SluiceError('NETWORK', 'Blocks came too fast to read everything at one of them: ask again.')
}

/** The token of a position's id; undefined where the text is none. */
export function tokenOf(positionId: string): bigint | undefined {
  const token = /^\d{1,78}$/.test(positionId) ? BigInt(positionId) : undefined
  return token !== undefined && token < 2n ** 256n ? token : undefined
}

/** What is asked about a position: all of it where its key is known, otherwise its key. */
export interface PositionQuery<K> {
  readonly tokenId: bigint
  readonly key: K | undefined
  readonly calls: readonly Call[]
}

/** @typeParam K what never changes of a position */
export interface PositionAnswer<K> {
  /** By which the state was asked for. */
  readonly key: K | undefined
  readonly results: readonly CallResult[]
}

const maxKept = 10_000
/** With all that the contracts said. */
const maxRead = 2_000

/**
 * What is known of positions from one reading to the next: how each is asked for, and what was made of its last answer. One whose contracts answer the
 * same again is the same object.
 * @typeParam K what never changes of a position
 * @typeParam P what is made of an answer
 */
export class KnownPositions<K, P extends object> {
  readonly #queries = new Map<bigint, PositionQuery<K>>()
  readonly #read = new Map<bigint, { readonly answer: PositionAnswer<K>; readonly made: P }>()
  readonly #queryOf: (tokenId: bigint, key?: K) => PositionQuery<K>
  /** Of the last reading of positions alone. */
  #last: { readonly queries: readonly PositionQuery<K>[]; readonly calls: readonly Call[] } | undefined

  /** @param queryOf what is asked about a position; without its key what gives that */
  constructor(queryOf: (tokenId: bigint, key?: K) => PositionQuery<K>) {
    this.#queryOf = queryOf
  }

  keepKey(tokenId: bigint, key: K): void {
    if (this.#queries.size >= maxKept) this.#queries.clear()
    this.#queries.set(tokenId, this.#queryOf(tokenId, key))
  }

  /** Reads other calls, and the positions of these ids: all of one if its key is known, otherwise its key. */
  async read(read: Read, others: readonly Call[], ids: readonly bigint[], at: At) {
    const queries = ids.map((tokenId) => this.#queries.get(tokenId) ?? this.#queryOf(tokenId))
    const { head, results } = await readAtOnce(read, this.#callsOf(others, queries), at)
    let offset = others.length
    const answers = new Map<bigint, PositionAnswer<K>>()
    for (const { tokenId, key, calls } of queries) {
      answers.set(tokenId, { key, results: results.slice(offset, offset + calls.length) })
      offset += calls.length
    }
    return { head, results, answers }
  }

  /** The same list for the same positions. */
  #callsOf(others: readonly Call[], queries: readonly PositionQuery<K>[]): readonly Call[] {
    const last = this.#last
    if (others.length === 0 && last?.queries.length === queries.length && last.queries.every((each, index) => each === queries[index]))
      return last.calls
    const calls = [...others, ...queries.flatMap((each) => each.calls)]
    if (others.length === 0) this.#last = { queries, calls }
    return calls
  }

  /** @param make of an answer; undefined: it needs another one */
  madeOf(tokenId: bigint, answer: PositionAnswer<K>, make: () => P | undefined): P | undefined {
    const before = this.#read.get(tokenId)
    if (before && before.answer.key === answer.key && isSameAnswer(before.answer, answer)) return before.made
    const made = make()
    if (!made) return undefined
    if (this.#read.size >= maxRead) this.#read.clear()
    this.#read.set(tokenId, { answer, made })
    return made
  }
}

const isSameAnswer = (one: PositionAnswer<unknown>, other: PositionAnswer<unknown>): boolean =>
  one.results.length === other.results.length &&
  one.results.every(({ ok, data }, index) => other.results[index]?.ok === ok && other.results[index]?.data === data)
