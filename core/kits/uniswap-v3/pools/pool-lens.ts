import { SluiceError } from '../../../contracts/index.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import artifact from '../artifacts/PoolLens.json' with { type: 'json' }
import type { KnownTicks, RangePoolState, Reach } from './range-pool-state.ts'

/** A pool to be read, and how far from its price. */
export interface Look {
  readonly below: Reach
  readonly above: Reach
  /** As the lens takes it. */
  readonly packed: string
}

export function lookAt(pool: string, below: Reach, above: Reach): Look {
  return { below, above, packed: `${pool.slice(2)}${reachDigits(below)}${reachDigits(above)}00000000` }
}

const reachDigits = ({ words, ticks }: Reach) => hex(words, 4) + hex(ticks, 4)
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/** Reads pools with the ticks around their prices: contracts/PoolLens.sol. */
export function lensProbe(looks: readonly Look[]): Probe {
  let args = `0x${word(32)}${word(looks.length)}`
  for (const { packed } of looks) args += packed
  return { code: artifact.bytecode, args }
}

/**
 * What the lens saw of each pool, in order: undefined where there is none, or none with a price.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
export function readLens(result: CallResult, looks: readonly Look[]): readonly (RangePoolState | undefined)[] {
  const bytes = bytesFrom(result.ok ? result.data : '0x')
  const states = looks.map((look) => (bytes.flag() ? readState(bytes, look) : undefined))
  if (bytes.left() > 0) throw unread()
  return states
}

function unread(): SluiceError {
  const cure = 'try again, and see in rpcUrls that the node allows calls of 50 million gas if this stays'
  return new SluiceError('NETWORK', `The node did not read the pools to the end: ${cure}.`)
}

type Bytes = ReturnType<typeof bytesFrom>

// In the order in which the lens writes them.
function readState(bytes: Bytes, { below, above }: Look): RangePoolState {
  const [sqrtPriceX96, tick, liquidity] = [bytes.big(20), bytes.signed24(), bytes.big(16)]
  const [fee, tickSpacing] = [bytes.unsigned(3), bytes.signed24()]
  const [countBelow, countAbove, endBelow, endAbove] = [bytes.unsigned(2), bytes.unsigned(2), bytes.signed24(), bytes.signed24()]
  return {
    sqrtPriceX96,
    tick,
    liquidity,
    fee,
    tickSpacing,
    below: new SeenTicks(bytes.digits(countBelow * tickBytes), countBelow, endBelow, below),
    above: new SeenTicks(bytes.digits(countAbove * tickBytes), countAbove, endAbove, above),
  }
}

const tickBytes = 3 + 16
const digitsPerTick = 2 * tickBytes

/**
 * Of the many ticks that are read with every quote, swaps come to few: each is made out when one does. A class, since two
 * closures for every pool would take longer than all else that is read of it.
 */
class SeenTicks implements KnownTicks {
  readonly count: number
  readonly end: number
  readonly reach: Reach
  readonly #digits: string

  constructor(digits: string, count: number, end: number, reach: Reach) {
    this.#digits = digits
    this.count = count
    this.end = end
    this.reach = reach
  }

  tick(index: number): number {
    const at = digitsPerTick * index
    return signed24(this.#digits.slice(at, at + 6))
  }

  liquidityNet(index: number): bigint {
    const at = digitsPerTick * index
    return BigInt.asIntN(128, BigInt(`0x${this.#digits.slice(at + 6, at + digitsPerTick)}`))
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
