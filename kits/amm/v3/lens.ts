import { isObject } from '../../../core/json.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import { poolsUnread } from '../deployment.ts'
import artifact from './artifacts/PoolLens.json' with { type: 'json' }
import { maxTick, minTick, ticksPerWord, toInt24 } from './math.ts'
import { TickTable, type TickLiquidity, type V3PoolState } from './swap.ts'

/** How far to read ticks from a pool's price in one direction. */
export interface TickWindow {
  /** Of the tick bitmap. */
  readonly words: number
  /** Initialised ticks, at most. */
  readonly ticks: number
}

/** A pool to be read and how far from its price, as the lens takes it. */
export type LensQuery = string

export function lensQuery(pool: string, below: TickWindow, above: TickWindow): LensQuery {
  return `${pool.slice(2)}${windowDigits(below)}${windowDigits(above)}00000000`
}

const windowDigits = ({ words, ticks }: TickWindow) => hex(words, 4) + hex(ticks, 4)
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/** Reads pools with the ticks around their prices: contracts/PoolLens.sol. */
export function lensProbe(queries: readonly LensQuery[]): Probe {
  return { code: artifact.bytecode, args: `0x${word(32)}${word(queries.length)}${queries.join('')}` }
}

/**
 * The state of each pool, in the order of the queries; undefined where there is no pool, or one without a price.
 * @throws SluiceError NETWORK where the node did not run the lens to its end
 */
export function readLens(result: CallResult, queries: readonly LensQuery[]): readonly (V3PoolState | undefined)[] {
  const bytes = bytesFrom(result.ok ? result.data : '0x')
  const states = queries.map(() => (bytes.flag() ? readState(bytes) : undefined))
  if (bytes.left() > 0) throw poolsUnread()
  return states
}

// In the order in which the lens writes them.
function readState(bytes: ReturnType<typeof bytesFrom>): V3PoolState {
  const [sqrtPriceX96, tick, liquidity] = [bytes.big(20), bytes.int24(), bytes.big(16)]
  const [fee, tickSpacing] = [bytes.unsigned(3), bytes.int24()]
  const [below, above, from, to] = [bytes.unsigned(2), bytes.unsigned(2), bytes.int24(), bytes.int24()]
  const encoded = new EncodedTicks(bytes.digits((below + above) * tickBytes), below)
  return { sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks: new TickTable(from, to, encoded.ticks(below + above), encoded) }
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
/** One after the other, for swaps that go beyond the known ticks. The last is all of any pool's bitmap. */
const widerWindows: readonly TickWindow[] = [
  { words: 128, ticks: 64 },
  { words: 1024, ticks: 512 },
  { words: 7000, ticks: 4096 },
]

/** How far to read a pool for the first time. */
export const initialQuery = (pool: string): LensQuery => lensQuery(pool, initialWindow, initialWindow)

/** The widest windows that swaps found missing; undefined if none went beyond the known ticks. */
export function widerQuery(pool: string, missing: readonly unknown[]): LensQuery | undefined {
  const ofPool = missing.filter(isMissingTicks).filter((each) => each.pool === pool)
  const widest = (zeroForOne: boolean) =>
    ofPool.reduce<TickWindow>((a, b) => (b.zeroForOne === zeroForOne && b.window.words > a.words ? b.window : a), initialWindow)
  return ofPool.length > 0 ? lensQuery(pool, widest(true), widest(false)) : undefined
}

/** A pool and a direction in which more ticks must be read. */
interface MissingTicks {
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
    widerWindows.find(({ words, ticks }) => words >= 2 * known.words && ticks >= 2 * known.ticks) ??
    widerWindows.findLast(({ words, ticks }) => words > known.words && ticks > known.ticks)
  return window && { pool, zeroForOne, window }
}

/** The known ticks as if they had been read from the present price; below 0 where the price has left them. */
function knownWindow({ tick, tickSpacing, ticks }: V3PoolState, zeroForOne: boolean): TickWindow {
  const below = Math.floor(tick / tickSpacing)
  const countBelow = ticks.countUpTo(tick)
  return zeroForOne
    ? { words: wordOf(below) - wordOf(ticks.from / tickSpacing), ticks: countBelow }
    : { words: wordOf(ticks.to / tickSpacing) - wordOf(below + 1), ticks: ticks.ticks.length - countBelow }
}

const wordOf = (compressed: number) => Math.floor(compressed / ticksPerWord)

/**
 * Whether a pool has liquidity at its price, or so near that a first read finds some. The price of a pool without liquidity means nothing.
 * Undefined where too few ticks are known.
 */
export function hasLiquidityNearby({ liquidity, tick, tickSpacing, ticks }: V3PoolState): boolean | undefined {
  if (liquidity > 0n) return true
  const below = Math.floor(tick / tickSpacing)
  const lowest = Math.max(minTick, (wordOf(below) - initialWindow.words + 1) * ticksPerWord * tickSpacing)
  const highest = Math.min(maxTick, ((wordOf(below + 1) + initialWindow.words) * ticksPerWord - 1) * tickSpacing)
  if (ticks.countUpTo(highest) > ticks.countUpTo(lowest - 1)) return true
  return ticks.from < lowest && ticks.to > highest ? false : undefined
}
