import { isObject } from '../../../core/base/json.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import { poolsUnread } from '../deployment.ts'
import type { PoolReading } from '../protocol.ts'
import artifact from './artifacts/PoolLens.json' with { type: 'json' }
import { maxTick, minTick, ticksPerWord, toInt24 } from './math.ts'
import { isPlausible, maxTicksCrossed, TickTable, type TickLiquidity, type V3PoolState } from './swap.ts'

/** How far to read ticks from a pool's price in one direction. */
export interface TickWindow {
  /** Of the tick bitmap. */
  readonly words: number
  /** Initialised ticks, at most. */
  readonly ticks: number
}

/** A pool to be read, and how far from its price. */
export interface LensQuery {
  /** Its address, or its id where one contract keeps all pools. */
  readonly pool: string
  /** The contract that keeps all pools, and what it does not tell of this one. Absent: the pool is a contract. */
  readonly keptBy?: { readonly address: string; readonly tickSpacing: number }
  readonly below: TickWindow
  readonly above: TickWindow
  /** Where a pool has no liquidity at its price: so many words are read until the first tick. */
  readonly emptyWords?: number
}

/** How a kind of pool is read. */
export interface Lens {
  readonly bytecode: string
  /** The initialised ticks of its pools are a linked list, and what their plugins do is read with them. */
  readonly hasTickList?: boolean
}

/** contracts/PoolLens.sol. */
const bitmapLens: Lens = { bytecode: artifact.bytecode }

/** Reads pools with the ticks around their prices. */
export const lensProbe = (queries: readonly LensQuery[], lens = bitmapLens): Probe =>
  probeOf(
    queries.map((query) => packQuery(query, windowDigits(query.below) + windowDigits(query.above), 0, query.emptyWords ?? 0)),
    lens,
  )

const windowDigits = ({ words, ticks }: TickWindow) => hex(words, 4) + hex(ticks, 4)
function packQuery({ pool, keptBy }: LensQuery, digits: string, kind: number, emptyWords: number): string {
  const packed = (address: string, kind: number) => `${address.slice(2)}${digits}${hex(kind, 2)}${hex(emptyWords, 4)}00`
  return keptBy ? `${packed(keptBy.address, kind + 128)}${pool.slice(2)}${word(keptBy.tickSpacing)}` : packed(pool, kind)
}
function probeOf(queries: readonly string[], { bytecode }: Lens): Probe {
  const words = queries.join('')
  return { code: bytecode, args: `0x${word(32)}${word(words.length / 64)}${words}` }
}
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/**
 * The state of each pool, in the order of the queries; undefined where there is no pool, or one without a price.
 * @throws SluiceError NETWORK where the node did not run the lens to its end
 */
export const readLens = (result: CallResult, queries: readonly LensQuery[], lens = bitmapLens): States =>
  readAnswers(result, queries, lens).map((answer) => answer && stateOf(answer))

/** As the lens reads it. */
export interface ReadPool extends V3PoolState {
  /** Of a pool that a contract keeps: the protocol's fees, as they are stored. */
  readonly protocolFee?: number
  /** Of a pool with a list of ticks: its pluginConfig. */
  readonly pluginConfig?: number
  /** Of such a pool: whether the code of its plugin is one that is published. */
  readonly hasPublishedPlugin?: boolean
}

type States = readonly (ReadPool | undefined)[]

const notRead: CallResult = { ok: false, data: '0x' }

/** The same as a reading that goes on where a node lets a call use too little gas for all of it. */
export function lensReading(queries: readonly LensQuery[], lens = bitmapLens): PoolReading<unknown, ReadPool | undefined> {
  return {
    calls: queries.length > 0 ? [lensProbe(queries, lens)] : [],
    pools: ([result = notRead]) => (queries.length > 0 ? readLens(result, queries, lens) : []),
    rest: ([result = notRead]) => (queries.length > 0 ? restOf(readAnswers(result, queries, lens), queries, lens) : undefined),
  }
}

/** Undefined where nothing is left to be read. */
function restOf(
  answers: readonly (PoolAnswer | undefined)[],
  queries: readonly LensQuery[],
  lens: Lens,
): ReturnType<typeof lensReading> | undefined {
  const looks = queries.flatMap((query, index) => {
    const answer = answers[index]
    return answer
      ? ([false, true] as const).flatMap((isUp) => nextLook(query, answer, isUp)?.map((digits) => ({ index, isUp, digits })) ?? [])
      : []
  })
  if (looks.length === 0) return undefined
  const joined = ([result = notRead]: readonly CallResult[]) => {
    const more = [...answers]
    const bytes = bytesFrom(result.ok ? result.data : '0x')
    for (const { index, isUp } of looks) {
      const answer = more[index]
      if (answer) more[index] = { ...answer, [isUp ? 'above' : 'below']: joinLooks(isUp ? answer.above : answer.below, readLook(bytes)) }
    }
    if (bytes.left() > 0) throw poolsUnread()
    return more
  }
  return {
    calls: [
      probeOf(
        looks.flatMap(({ digits }) => digits),
        lens,
      ),
    ],
    pools: (results): States => joined(results).map((answer) => answer && stateOf(answer)),
    rest: (results) => restOf(joined(results), queries, lens),
  }
}

/** The query that goes on where a look ended for lack of gas. */
function nextLook(query: LensQuery, answer: PoolAnswer, isUp: boolean): [string] | undefined {
  const { below, above, emptyWords = 0 } = query
  const [look, window] = isUp ? [answer.above, above] : [answer.below, below]
  if (look.isWhole) return undefined
  const { tick, tickSpacing, liquidity } = answer
  const from = Math.floor(tick / tickSpacing) + (isUp ? 1 : 0)
  const wordsRead = Math.abs(wordOf(look.end / tickSpacing) - wordOf(from))
  const left = (words: number) => Math.max(words - wordsRead, 0)
  const start = hex(look.end & 0xffffff, 6)
  const digits = `${start}${windowDigits({ words: left(window.words), ticks: window.ticks - look.count })}00`
  return [packQuery(query, digits, isUp ? 2 : 1, liquidity === 0n && look.count === 0 ? left(emptyWords) : 0)]
}

/** What the lens says of a pool. */
interface PoolAnswer extends Omit<ReadPool, 'ticks'> {
  readonly below: Look
  readonly above: Look
}

/** Initialised ticks in one direction, in the order in which a swap meets them. */
interface Look {
  /** False where the gas ended before it. */
  readonly isWhole: boolean
  readonly count: number
  /** Nothing is known of this tick and beyond. */
  readonly end: number
  /** `tickBytes` of each. */
  readonly digits: string
}

function readAnswers(
  result: CallResult,
  queries: readonly LensQuery[],
  { hasTickList = false }: Lens,
): readonly (PoolAnswer | undefined)[] {
  const bytes = bytesFrom(result.ok ? result.data : '0x')
  const answers = queries.map(({ keptBy }) => {
    const answer = bytes.flag() ? readAnswer(bytes, keptBy !== undefined, hasTickList) : undefined
    return answer && isPlausible(answer) ? answer : undefined
  })
  if (bytes.left() > 0) throw poolsUnread()
  return answers
}

type Bytes = ReturnType<typeof bytesFrom>

// In the order in which the lens writes them.
function readAnswer(bytes: Bytes, isKept: boolean, hasTickList: boolean): PoolAnswer {
  const [sqrtPriceX96, tick, liquidity] = [bytes.big(20), bytes.int24(), bytes.big(16)]
  const [fee, tickSpacing] = [bytes.unsigned(3), bytes.int24()]
  const ofKind = isKept
    ? { protocolFee: bytes.unsigned(3) }
    : hasTickList
      ? { pluginConfig: bytes.unsigned(3), hasPublishedPlugin: bytes.unsigned(3) === 1 }
      : {}
  const [below, above] = [readLook(bytes), readLook(bytes)]
  return { sqrtPriceX96, tick, liquidity, fee, tickSpacing, ...ofKind, below, above }
}

function readLook(bytes: Bytes): Look {
  const [isWhole, count, end] = [bytes.flag(), bytes.unsigned(2), bytes.int24()]
  return { isWhole, count, end, digits: bytes.digits(count * tickBytes) }
}

const joinLooks = (first: Look, next: Look): Look => ({ ...next, count: first.count + next.count, digits: first.digits + next.digits })

function stateOf({
  sqrtPriceX96,
  tick,
  liquidity,
  fee,
  tickSpacing,
  protocolFee,
  pluginConfig,
  hasPublishedPlugin,
  below,
  above,
}: PoolAnswer): ReadPool {
  const encoded = new EncodedTicks(below.digits + above.digits, below.count)
  // With a tick spacing above 32,640 the word below the lowest tick ends where 24 bits do not reach. It comes as a tick above the price.
  const from = below.end > tick ? below.end - 2 ** 24 : below.end
  const ticks = new TickTable(from, above.end, encoded.ticks(below.count + above.count), encoded)
  const hasTickList = pluginConfig !== undefined
  const state = { sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks, hasTickList }
  if (pluginConfig !== undefined) return { ...state, pluginConfig, hasPublishedPlugin: hasPublishedPlugin === true }
  return protocolFee === undefined ? state : { ...state, protocolFee }
}

const liquidityBytes = 16
const tickBytes = 3 + 2 * liquidityBytes
const digitsPerTick = 2 * tickBytes

/**
 * Swaps cross few of the many ticks that are read with every quote, so the liquidity of a tick is decoded when a swap crosses it. This is a
 * class because closures for every pool would take longer than everything else that is read of it.
 */
class EncodedTicks implements TickLiquidity {
  readonly #digits: string
  /** This many ticks are below the price, and come in falling order. */
  readonly #below: number
  readonly #nets: bigint[] = []

  constructor(digits: string, below: number) {
    this.#digits = digits
    this.#below = below
  }

  ticks(count: number): readonly number[] {
    const ticks: number[] = []
    for (let index = 0; index < count; index += 1) {
      const at = this.#at(index)
      ticks.push(toInt24(this.#digits.slice(at, at + 6)))
    }
    return ticks
  }

  gross(index: number): bigint {
    return this.#big(this.#at(index) + 6)
  }

  net(index: number): bigint {
    return (this.#nets[index] ??= BigInt.asIntN(128, this.#big(this.#at(index) + 6 + 2 * liquidityBytes)))
  }

  #at(index: number): number {
    return digitsPerTick * (index < this.#below ? this.#below - 1 - index : index)
  }

  #big(at: number): bigint {
    return BigInt(`0x${this.#digits.slice(at, at + 2 * liquidityBytes)}`)
  }
}

/** Reads hexadecimal digits from left to right. */
function bytesFrom(data: string) {
  let at = '0x'.length
  const digits = (size: number) => {
    const from = at
    at += 2 * size
    if (at > data.length) throw poolsUnread()
    return data.slice(from, at)
  }
  const unsigned = (size: number) => parseInt(digits(size), 16)
  return {
    digits,
    unsigned,
    flag: () => {
      const value = unsigned(1)
      if (value > 1) throw poolsUnread()
      return value === 1
    },
    int24: () => toInt24(digits(3)),
    big: (size: number) => BigInt(`0x${digits(size)}`),
    left: () => data.length - at,
  }
}

/** Enough for nearly all swaps. Costs a node 170,000 gas where all ticks around the price are initialised, as measured on anvil. */
const initialWindow: TickWindow = { words: 8, ticks: 6 }
/**
 * One after the other, for swaps that go beyond the known ticks. Both are all of any pool's bitmap: that of a pool with a tick spacing of 10 or more is at most 700
 * words, and where a call has too little gas for more the rest is read by another.
 */
const widerWindows: readonly TickWindow[] = [
  { words: 7000, ticks: 512 },
  { words: 7000, ticks: maxTicksCrossed },
]
/** For a swap that meets no tick at all: once it does, there is liquidity. */
const emptyWindow: TickWindow = { words: 7000, ticks: 64 }
/**
 * Where a pool has no liquidity at its price, the price alone says nothing: the first tick in either direction does. It is read that far at
 * once, which is all of a pool with a tick spacing of 10 or more, and two million gas at most.
 */
const emptyWords = 700

/** How far to read a pool for the first time. */
export const initialQuery = (pool: string): LensQuery => ({ pool, below: initialWindow, above: initialWindow, emptyWords })

/** The widest windows that swaps found missing; undefined if none went beyond the known ticks. */
export function widerQuery(pool: string, missing: readonly unknown[]): LensQuery | undefined {
  const ofPool = missing.filter(isMissingTicks).filter((each) => each.pool === pool)
  if (ofPool.length === 0) return undefined
  const widest = (zeroForOne: boolean) =>
    ofPool
      .filter((each) => each.zeroForOne === zeroForOne)
      .reduce(
        ({ words, ticks }, { window }) => ({ words: Math.max(words, window.words), ticks: Math.max(ticks, window.ticks) }),
        initialWindow,
      )
  return { pool, below: widest(true), above: widest(false), emptyWords }
}

/** A pool and a direction in which more ticks must be read. */
export interface MissingTicks {
  readonly pool: string
  readonly zeroForOne: boolean
  readonly window: TickWindow
}

const isMissingTicks = (value: unknown): value is MissingTicks => isObject(value) && 'pool' in value && 'window' in value

/** What to read next for a swap that went beyond the known ticks; undefined where everything was read. */
export function missingTicks(pool: string, zeroForOne: boolean, state: V3PoolState): MissingTicks | undefined {
  const known = knownWindow(state, zeroForOne)
  // The price may have moved since the ticks were read. At least twice as much is read, or the next step would be missing at once.
  const window =
    known.ticks === 0 && state.liquidity === 0n
      ? emptyWindow
      : (widerWindows.find(({ words, ticks }) => words >= 2 * known.words && ticks >= 2 * known.ticks) ??
        widerWindows.findLast(({ words, ticks }) => words > known.words && ticks > known.ticks))
  return window && { pool, zeroForOne, window }
}

/** The known ticks as if they had been read from the present price; below 0 where the price has left them. */
function knownWindow({ tick, tickSpacing, ticks, hasTickList }: V3PoolState, zeroForOne: boolean): TickWindow {
  if (hasTickList) return knownInList(tick, ticks, zeroForOne)
  const below = Math.floor(tick / tickSpacing)
  const countBelow = ticks.countUpTo(tick)
  return zeroForOne
    ? { words: wordOf(below) - wordOf(ticks.from / tickSpacing), ticks: countBelow }
    : { words: wordOf(ticks.to / tickSpacing) - wordOf(below + 1), ticks: ticks.ticks.length - countBelow }
}

/** A list is read by its ticks alone, so the words are those of the window that has so many ticks. */
function knownInList(tick: number, ticks: TickTable, zeroForOne: boolean): TickWindow {
  const countBelow = ticks.countUpTo(tick)
  const isWhole = zeroForOne ? ticks.from < minTick : ticks.to > maxTick
  return { words: isWhole ? Infinity : 0, ticks: zeroForOne ? countBelow : ticks.ticks.length - countBelow }
}

const wordOf = (compressed: number) => Math.floor(compressed / ticksPerWord)

/**
 * Where a pool without liquidity at its price begins to have some: the first tick that a swap meets; `end` where the known ticks say that
 * there is none up to it. Undefined where too few are known. It is the same however many more ticks are known.
 */
export function firstLiquidity(state: V3PoolState, zeroForOne: boolean): { readonly tick: number } | { readonly end: number } | undefined {
  const { tick, tickSpacing, ticks, hasTickList } = state
  const below = Math.floor(tick / tickSpacing)
  // A list says which tick is next, however far it is.
  const end = hasTickList
    ? zeroForOne
      ? minTick
      : maxTick
    : zeroForOne
      ? Math.max(minTick, (wordOf(below) - emptyWords + 1) * ticksPerWord * tickSpacing)
      : Math.min(maxTick, ((wordOf(below + 1) + emptyWords) * ticksPerWord - 1) * tickSpacing)
  if (tick < ticks.from || tick >= ticks.to) return undefined
  const next = ticks.ticks[ticks.countUpTo(tick) - (zeroForOne ? 1 : 0)]
  if (next !== undefined) return (zeroForOne ? next < end : next > end) ? { end } : { tick: next }
  return (zeroForOne ? ticks.from < end : ticks.to > end) ? { end } : undefined
}

/** Whether enough is known of a pool to say what its price means. */
export const isPriceKnown = (state: V3PoolState): boolean =>
  state.liquidity > 0n || (firstLiquidity(state, true) !== undefined && firstLiquidity(state, false) !== undefined)
