import { SluiceError } from '../../../core/contracts/index.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import artifact from './artifacts/PoolLens.json' with { type: 'json' }
import { maxTick, minTick } from './math.ts'
import { TickTable, type TickLiquidity, type V3PoolState } from './swap.ts'

/** How far to look from a pool's price in one direction. */
export interface TickWindow {
  /** Of the tick bitmap. */
  readonly words: number
  /** Initialised ones, at most. */
  readonly ticks: number
}

/** A pool to be read, and how far from its price: as the lens takes it. */
export type LensQuery = string

export function lensQuery(pool: string, below: TickWindow, above: TickWindow): LensQuery {
  return `${pool.slice(2)}${reachDigits(below)}${reachDigits(above)}00000000`
}

const reachDigits = ({ words, ticks }: TickWindow) => hex(words, 4) + hex(ticks, 4)
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/** Reads pools with the ticks around their prices: contracts/PoolLens.sol. */
export function lensProbe(looks: readonly LensQuery[]): Probe {
  let args = `0x${word(32)}${word(looks.length)}`
  for (const look of looks) args += look
  return { code: artifact.bytecode, args }
}

/**
 * What the lens saw of each pool, in order: undefined where there is none, or none with a price.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
export function readLens(result: CallResult, looks: readonly LensQuery[]): readonly (V3PoolState | undefined)[] {
  const bytes = bytesFrom(result.ok ? result.data : '0x')
  const states = looks.map(() => (bytes.flag() ? readState(bytes) : undefined))
  if (bytes.left() > 0) throw unread()
  return states
}

function unread(): SluiceError {
  const cure = 'try again, and see in rpcUrls that the node allows calls of 50 million gas if this stays'
  return new SluiceError('NETWORK', `The node did not read the pools to the end: ${cure}.`)
}

type Bytes = ReturnType<typeof bytesFrom>

// In the order in which the lens writes them.
function readState(bytes: Bytes): V3PoolState {
  const [sqrtPriceX96, tick, liquidity] = [bytes.big(20), bytes.signed24(), bytes.big(16)]
  const [fee, tickSpacing] = [bytes.unsigned(3), bytes.signed24()]
  const [below, above, from, to] = [bytes.unsigned(2), bytes.unsigned(2), bytes.signed24(), bytes.signed24()]
  const seen = new SeenLiquidity(bytes.digits((below + above) * tickBytes), below)
  return { sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks: new TickTable(from, to, seen.ticks(below + above), seen) }
}

const liquidityBytes = 16
const tickBytes = 3 + 2 * liquidityBytes
const digitsPerTick = 2 * tickBytes

/**
 * Of the many ticks that are read with every quote, swaps come to few: the liquidity of each is made out when one does. A class, since
 * closures for every pool would take longer than all else that is read of it.
 */
class SeenLiquidity implements TickLiquidity {
  readonly #digits: string
  /** So many are below the price, and come in falling order. */
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
      ticks.push(signed24(this.#digits.slice(at, at + 6)))
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
    if (at > data.length) throw unread()
    return data.slice(from, at)
  }
  const unsigned = (size: number) => parseInt(digits(size), 16)
  return {
    digits,
    unsigned,
    flag: () => {
      const value = unsigned(1)
      if (value > 1) throw unread()
      return value === 1
    },
    signed24: () => signed24(digits(3)),
    big: (size: number) => BigInt(`0x${digits(size)}`),
    left: () => data.length - at,
  }
}

const signed24 = (digits: string) => (parseInt(digits, 16) << 8) >> 8

/**
 * Enough for nearly all swaps: it costs a node 170,000 gas where all ticks around the price are initialised, as measured on
 * anvil.
 */
const initialWindow: TickWindow = { words: 8, ticks: 6 }
/** From one to the next where a swap goes beyond what is known. The last is all that any pool has of the bitmap. */
const farReaches: readonly TickWindow[] = [
  { words: 128, ticks: 64 },
  { words: 1024, ticks: 512 },
  { words: 7000, ticks: 4096 },
]
export const ticksPerWord = 256

/** A pool and a direction in which more must be known of it. */
interface MissingTicks {
  readonly pool: string
  readonly zeroForOne: boolean
  readonly reach: TickWindow
}

/** What to read next; undefined where all that can be asked for was read. */
export function missingTicks(pool: string, zeroForOne: boolean, state: V3PoolState): MissingTicks | undefined {
  const known = reachOf(state, zeroForOne)
  // The price may have gone on since they were read. Who asks for little more than is known asks again with its next step.
  const reach =
    farReaches.find(({ words, ticks }) => words >= 2 * known.words && ticks >= 2 * known.ticks) ??
    farReaches.findLast(({ words, ticks }) => words > known.words && ticks > known.ticks)
  return reach && { pool, zeroForOne, reach }
}

/** As much of a pool as would be known if it had been read from its price: less than nothing where that has left what is known. */
function reachOf({ tick, tickSpacing, ticks }: V3PoolState, zeroForOne: boolean): TickWindow {
  const below = Math.floor(tick / tickSpacing)
  const upTo = ticks.countUpTo(tick)
  return zeroForOne
    ? { words: wordOf(below) - wordOf(ticks.from / tickSpacing), ticks: upTo }
    : { words: wordOf(ticks.to / tickSpacing) - wordOf(below + 1), ticks: ticks.ticks.length - upTo }
}

const wordOf = (compressed: number) => Math.floor(compressed / ticksPerWord)

/** How far to look from a pool's price where nothing is known yet. */
export const initialQuery = (pool: string): LensQuery => lensQuery(pool, initialWindow, initialWindow)

/** As far as swaps found wanting; undefined where none did. */
export function widerQuery(pool: string, missing: readonly unknown[]): LensQuery | undefined {
  const unread = missing.filter(isUnread).filter((each) => each.pool === pool)
  const reach = (zeroForOne: boolean) =>
    unread.reduce<TickWindow>((a, b) => (b.zeroForOne === zeroForOne && b.reach.words > a.words ? b.reach : a), initialWindow)
  return unread.length > 0 ? lensQuery(pool, reach(true), reach(false)) : undefined
}

const isUnread = (value: unknown): value is MissingTicks =>
  typeof value === 'object' && value !== null && 'pool' in value && 'reach' in value

/**
 * Whether a pool has liquidity at its price, or so near to it that whoever reads it first finds some. One that was left by all has a price
 * still, which means nothing. Undefined where not enough is known of it.
 */
export function hasLiquidityNearby({ liquidity, tick, tickSpacing, ticks }: V3PoolState): boolean | undefined {
  if (liquidity > 0n) return true
  const below = Math.floor(tick / tickSpacing)
  const lowest = Math.max(minTick, (Math.floor(below / ticksPerWord) - initialWindow.words + 1) * ticksPerWord * tickSpacing)
  const highest = Math.min(maxTick, ((Math.floor((below + 1) / ticksPerWord) + initialWindow.words) * ticksPerWord - 1) * tickSpacing)
  if (ticks.countUpTo(highest) > ticks.countUpTo(lowest - 1)) return true
  return ticks.from < lowest && ticks.to > highest ? false : undefined
}
