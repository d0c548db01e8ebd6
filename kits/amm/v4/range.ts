import { SluiceError, type At, type AMMRange, type Head, type Token } from '../../../core/contracts/index.ts'
import { checksummedIn, nativeAddress } from '../../evm/encoding.ts'
import { customError } from '../../evm/reverts.ts'
import type { Call, Evm, EvmReader, Probe } from '../../evm/types.ts'
import { positionWitnesses } from '../position-witnesses.ts'
import { completeReading } from '../protocol.ts'
import { lensReading } from '../v3/lens.ts'
import { wordsOf, type Read } from '../v3/position-manager.ts'
import { amountsAt, boundsOf, endsOf } from '../v3/range-amounts.ts'
import { deepestFirst, percentWindow } from '../v3/range.ts'
import { rangeAround, type TickPool, type TickPosition, type TickRange } from '../v3/range-prices.ts'
import type { PoolKey, PoolLocation } from './pools.ts'
import { actOnLiquidity, checkedReader, managerAbi, type V4Positions } from './position-manager.ts'
import { offerOf, planAdd, planRemove, rangeFill, type Addition } from './range-plans.ts'
import { positionReader } from './range-positions.ts'

/** The library SlippageCheck of @uniswap/v4-periphery@1.0.3. */
const slippageReasons = ['MaximumAmountExceeded(uint128,uint128)', 'MinimumAmountInsufficient(uint128,uint128)'].map(customError)
const noSlippage = { numerator: 0n, denominator: 1n }

/**
 * Positions in pools that one contract keeps, through its PositionManager. A pool has the native coin or its wrapped form, and requests name which.
 * @param feeTiers the standard fees by name
 */
export function v4Range(exchange: V4Positions, feeTiers: Readonly<Record<string, number>>, reader: EvmReader): AMMRange<Evm> {
  const { version, positionManager } = exchange
  const read = checkedReader(exchange, reader)
  const { position, positionsById, positions } = positionReader(exchange, read, reader)
  // The pools, ranges and positions of requests are those that it gave itself.
  return {
    rangeVersions: [version],
    slippageReasons,
    feeTiers,
    positionManager,
    rangePools: (pair, { fee }, at) => readPools(exchange, { read, reader, fee }, pair, at),
    poolTokens: (pool, at) => readPoolTokens(positionManager, read, pool, at),
    rangeAround: (pool: TickPool, lower, upper) => rangeAround(pool, lower, upper),
    deposit(pool: TickPool, range: TickRange, offered, slippage) {
      const { most, ...made } = offerOf(pool, range, offered, slippage ?? noSlippage)
      if (!slippage) return made
      const madeAt = (end: bigint) => ({ ...made, ...amountsAt(end, boundsOf(range), made.liquidity, 'up') })
      return { ...made, most, ends: endsOf(pool, range, slippage, madeAt) }
    },
    add({ pool, range, most, tokenId, position: held }: AdditionTo, terms) {
      const added = held ?? (tokenId === undefined ? undefined : { tokenId, liquidity: 0n })
      return planAdd(
        exchange,
        { key: keyOf(exchange, pool, added !== undefined), pool, range, most, ...(added && { position: added }) },
        terms,
      )
    },
    position,
    positions: async (owner, at) => positions(owner, [], at),
    positionOf: ({ tokenId }, at) => position(tokenId, at),
    ...positionWitnesses(positionManager, reader),
    positionsById: ({ tokenIds }, at) => positionsById(tokenIds, at),
    positionsOf: ({ owner, known = [] }, at) => positions(owner, known, at),
    remove: (held: TickPosition, removal, terms) => planRemove(exchange, held, removal, terms),
    collect: (held: TickPosition, terms) => planRemove(exchange, held, { liquidity: 0n, burn: false }, terms),
    async history({ address }) {
      throw new SluiceError(
        'PRICE_FAILED',
        `The pool ${address} is of ${version}, whose pools keep no past prices: ask for the price alone, without period and interval.`,
        { details: { field: 'period' } },
      )
    },
    rangeFill,
  }
}

/** What is added, to the position where there is one. */
interface AdditionTo extends Pick<Addition, 'pool' | 'range' | 'most'> {
  tokenId?: string
  position?: TickPosition
}

/** The manager keeps the keys of pools in which it has made a position, by the first 25 bytes of their ids. */
async function readPoolTokens(
  positionManager: string,
  read: Read<Call | Probe>,
  pool: string,
  at: At,
): Promise<readonly string[] | undefined> {
  if (!/^0x[0-9a-f]{64}$/i.test(pool)) return undefined
  const { results } = await read([{ to: positionManager, data: managerAbi.encodeFunctionData('poolKeys', [pool.slice(0, 52)]) }], at)
  const [currency0, currency1, , tickSpacing] = wordsOf(results[0], 5) ?? []
  if (currency0 === undefined || currency1 === undefined || !tickSpacing) return undefined
  return [currency0, currency1].map(checksummedIn)
}

/** The currency by which pools know a token. */
const currencyOf = ({ native, address }: Token): string => (native ? nativeAddress : address)

/** The pools that may exist of exactly these two currencies. */
function locationsOf({ poolsBetween, wrapped }: V4Positions, [a, b]: readonly [Token, Token]): readonly PoolLocation[] {
  const currencies = [currencyOf(a), currencyOf(b)]
  const [first, second] = [a, b].map(({ native, address }) => (native ? wrapped : address))
  return poolsBetween(first ?? '', second ?? '').filter(
    ({ key }) => currencies.includes(key.currency0) && currencies.includes(key.currency1),
  )
}

/** Deepest first. @throws SluiceError UNSUPPORTED where the only ones have hooks that act on liquidity */
async function readPools(
  exchange: V4Positions,
  { read, reader, fee }: { read: Read<Call | Probe>; reader: EvmReader; fee: number | undefined },
  pair: readonly [Token, Token],
  at: At,
): Promise<{ head: Head; pools: readonly TickPool[] }> {
  const locations = locationsOf(exchange, pair).filter(({ key }) => fee === undefined || key.fee === fee)
  const usable = locations.filter(({ key }) => !actOnLiquidity(key))
  const reading = lensReading(
    usable.map(({ address, query }) => ({
      pool: address,
      ...(query.keptBy && { keptBy: query.keptBy }),
      below: percentWindow,
      above: percentWindow,
    })),
  )
  const answer = await read(reading.calls, at)
  const states = await completeReading(reading, answer, reader, at)
  const found = usable.flatMap(({ address, key }, index) => {
    const state = states[index]
    const named = { address, version: exchange.version, token0: key.currency0, token1: key.currency1, fee: key.fee }
    return state ? [{ key: named, state }] : []
  })
  const [refused] = locations.filter(({ key }) => actOnLiquidity(key))
  if (found.length === 0 && refused)
    throw new SluiceError(
      'UNSUPPORTED',
      `The hooks ${refused.key.hooks} of the pool ${refused.address} act when liquidity is added or removed, which their address says, so that nobody but they knows what a position is worth: it is traded, but takes no positions here.`,
    )
  return { head: answer.head, pools: deepestFirst(found) }
}

/** A new position is made by the pool's key; an existing one knows its own. */
function keyOf(
  { poolsBetween, wrapped }: V4Positions,
  { address, token0, token1, fee, tickSpacing }: TickPool,
  isExisting: boolean,
): PoolKey {
  const tokenOf = (currency: string) => (currency === nativeAddress ? wrapped : currency)
  const key = poolsBetween(tokenOf(token0), tokenOf(token1)).find((each) => each.address === address)?.key
  if (key) return key
  if (!isExisting) throw new Error(`The key of the pool ${address} is not known.`)
  return { currency0: token0, currency1: token1, fee, tickSpacing, hooks: nativeAddress }
}
