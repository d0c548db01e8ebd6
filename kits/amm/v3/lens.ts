import { SluiceError } from '../../../core/contracts/index.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import artifact from './artifacts/PoolLens.json' with { type: 'json' }
import { KnownTicks, type TickLiquidity } from '../../../core/kits/uniswap-v3/pools/known-ticks.ts'
import type { RangePoolState } from '../../../core/kits/uniswap-v3/pools/range-pool-state.ts'

/** How far to look from a pool's price in one direction. */
export interface Reach {
  /** Of the tick bitmap. */
  readonly words: number
  /** Initialised ones, at most. */
  readonly ticks: number
}

/** A pool to be read, and how far from its price: as the lens takes it. */
export type Look = string

export function lookAt(pool: string, below: Reach, above: Reach): Look {
  return `${pool.slice(2)}${reachDigits(below)}${reachDigits(above)}00000000`
}

const reachDigits = ({ words, ticks }: Reach) => hex(words, 4) + hex(ticks, 4)
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/** Reads pools with the ticks around their prices: contracts/PoolLens.sol. */
export function lensProbe(looks: readonly Look[]): Probe {
  let args = `0x${word(32)}${word(looks.length)}`
  for (const look of looks) args += look
  return { code: artifact.bytecode, args }
}

/**
 * What the lens saw of each pool, in order: undefined where there is none, or none with a price.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
export function readLens(result: CallResult, looks: readonly Look[]): readonly (RangePoolState | undefined)[] {
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
function readState(bytes: Bytes): RangePoolState {
  const [sqrtPriceX96, tick, liquidity] = [bytes.big(20), bytes.signed24(), bytes.big(16)]
  const [fee, tickSpacing] = [bytes.unsigned(3), bytes.signed24()]
  const [below, above, from, to] = [bytes.unsigned(2), bytes.unsigned(2), bytes.signed24(), bytes.signed24()]
  const seen = new SeenLiquidity(bytes.digits((below + above) * tickBytes), below)
  return { sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks: new KnownTicks(from, to, seen.ticks(below + above), seen) }
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
