import { SluiceError } from '../../../contracts/index.ts'
import type { CallResult, Probe } from '../../evm/types.ts'
import artifact from '../artifacts/PoolLens.json' with { type: 'json' }
import type { KnownTicks, RangePoolState, Reach } from './range-pool-state.ts'

/** A pool to be read, and how far from its price. */
export interface Look {
  readonly pool: string
  readonly below: Reach
  readonly above: Reach
}

/** Reads pools with the ticks around their prices: contracts/PoolLens.sol. */
export function lensProbe(looks: readonly Look[]): Probe {
  const entries = looks.map(({ pool, below, above }) => `${pool.slice(2)}${reachDigits(below)}${reachDigits(above)}00000000`)
  return { code: artifact.bytecode, args: `0x${word(32)}${word(looks.length)}${entries.join('')}` }
}

const reachDigits = ({ words, ticks }: Reach) => hex(words, 4) + hex(ticks, 4)
const word = (value: number) => hex(value, 64)
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

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
    below: readTicks(bytes, countBelow, { end: endBelow, reach: below }, -1n),
    above: readTicks(bytes, countAbove, { end: endAbove, reach: above }, 1n),
  }
}

/** A tick's net liquidity is what is added on the way up. */
function readTicks(bytes: Bytes, count: number, known: Pick<KnownTicks, 'end' | 'reach'>, direction: bigint): KnownTicks {
  const ticks: number[] = []
  const liquidityDeltas: bigint[] = []
  for (let index = 0; index < count; index += 1) {
    ticks.push(bytes.signed24())
    liquidityDeltas.push(direction * BigInt.asIntN(128, bytes.big(16)))
  }
  return { ticks, liquidityDeltas, ...known }
}

/** Reads hexadecimal digits from left to right. */
function bytesFrom(data: string) {
  let at = '0x'.length
  const take = (size: number) => {
    const from = at
    at += 2 * size
    if (at > data.length) throw unread()
    return data.slice(from, at)
  }
  const unsigned = (size: number) => parseInt(take(size), 16)
  return {
    unsigned,
    flag: () => {
      const value = unsigned(1)
      if (value > 1) throw unread()
      return value === 1
    },
    signed24: () => (unsigned(3) << 8) >> 8,
    big: (size: number) => BigInt(`0x${take(size)}`),
    left: () => data.length - at,
  }
}
