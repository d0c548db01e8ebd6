import type { AMMLiquidityPriceRequest } from '../../api/index.ts'
import type { AMMRange, At, Head, RangeAmounts, RangePool, RangePrice, Token } from '../../contracts/index.ts'
import { formatRatio, fromRaw, toFraction, type Rounding } from '../../base/decimal.ts'
import { isSameAddress } from '../../base/addresses.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import type { Handler } from '../context.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { readAddress } from '../wallets.ts'

export const ammLiquidityPrice: Handler<'AMMLiquidityPrice'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const range = tradingOf('AMM_RANGE', venue)
  if (request.address !== undefined) readAddress(network, request.address)
  const series = readSeries(request, services.settings.limits.pageSize)
  const pair = await readPoolPair(request, { network, venue }, at)
  const { head, pool } = await findPool(pair, request, venue, at)
  const ordered = orderIn(pool, pair)
  const price = showPrice(pool.price, ordered, 'down')

  const history = series && (await range.history(pool, series.secondsAgo, at))
  if (history?.is === 'beyond') {
    throw new SluiceError(
      'PRICE_FAILED',
      `The oracle of the pool ${pool.address} holds ${history.holdsSeconds} s, and the period is ${series?.period} s: ask for a shorter one, or for the price alone (without period and interval).`,
      { details: { field: 'period', holdsSeconds: history.holdsSeconds, price } },
    )
  }
  const [token0, token1] = pair
  return {
    token0: token0.address,
    token1: token1.address,
    version: pool.version,
    fee: pool.fee,
    ...(series && { period: series.period, interval: series.interval }),
    price,
    prices: history?.prices.map((each) => showPrice(each, ordered, 'down')) ?? [],
    pool: pool.address,
    ...(pool.tick !== undefined && { tick: pool.tick }),
    ...(pool.tickSpacing !== undefined && { tickSpacing: pool.tickSpacing }),
    ...(pool.sqrtPriceX96 !== undefined && { sqrtPriceX96: pool.sqrtPriceX96.toString() }),
    liquidity: pool.liquidity.toString(),
    blockNumber: Number(head.number),
  }
}

/** The ends of the intervals of a period, oldest first. @throws SluiceError INCOMPLETE_PARAMS */
function readSeries({ period, interval }: AMMLiquidityPriceRequest, maxPrices: number) {
  if (period === undefined && interval === undefined) return undefined
  if (period === undefined) throw badFields([{ field: 'period', problem: 'is required with interval' }])
  if (interval === undefined) throw badFields([{ field: 'interval', problem: 'is required with period' }])
  const count = Math.floor(period / interval)
  if (count === 0) throw badFields([{ field: 'interval', problem: 'is longer than the period' }])
  if (count > maxPrices) {
    const minInterval = Math.ceil(period / maxPrices)
    throw badFields([
      { field: 'interval', problem: `makes ${count} prices of the period, and the limit is ${maxPrices}: give ${minInterval} s or more` },
    ])
  }
  return { period, interval, secondsAgo: Array.from({ length: count + 1 }, (_, i) => (count - i) * interval) }
}

interface PoolAtBlock {
  head: Head
  pool: RangePool
}

/** As in a request. */
type PoolChoice = Pick<AMMLiquidityPriceRequest, 'fee' | 'version' | 'pool'>

/** Undefined where the exchange has one version without a name. @throws SluiceError INCOMPLETE_PARAMS */
export function readVersion(label: string | undefined, venue: VenueEntry): string | undefined {
  const { rangeVersions } = tradingOf('AMM_RANGE', venue)
  if (label === undefined) return rangeVersions[0]
  if (rangeVersions.includes(label)) return label
  const known = rangeVersions.length > 0 ? `give ${rangeVersions.join(' or ')}, or leave it out` : 'leave it out'
  throw badFields([{ field: 'version', problem: `"${label}" is not a version of ${venue.connector} with positions here: ${known}` }])
}

/** The pool of a pair: the one that is named, or of the fee tier if one is given, else the deepest. @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS */
async function findPool(
  pair: Pair,
  { fee: feeText, version: label, pool: named }: PoolChoice,
  venue: VenueEntry,
  at: At,
): Promise<PoolAtBlock> {
  const range = tradingOf('AMM_RANGE', venue)
  const version = readVersion(label, venue)
  const ofVersion = { ...(version !== undefined && { version }) }
  const fee = readFee(feeText, range.feeTiers, venue.connector)
  const isNamed = ({ address }: RangePool) => named === undefined || isSameAddress(address, named)
  const { head, pools } = await range.rangePools(pair, { ...ofVersion, ...(fee !== undefined && { fee }) }, at)
  const [pool] = pools.filter(isNamed)
  if (pool) return { head, pool }
  // What identifies a pool says which version it is of.
  for (const other of named === undefined || label !== undefined ? [] : range.rangeVersions.slice(1)) {
    const found = await range.rangePools(pair, { version: other, ...(fee !== undefined && { fee }) }, at)
    const [ofOther] = found.pools.filter(isNamed)
    if (ofOther) return { head: found.head, pool: ofOther }
  }

  const tokens = pair.map(({ symbol }) => symbol).join(' and ')
  if (named !== undefined && pools.length > 0) {
    const those = pools.map(({ address }) => address).join(', ')
    throw new SluiceError('PAIR_NOT_FOUND', `${named} is no pool of ${tokens} with ranges on ${venue.connector}; there is ${those}.`)
  }
  const others = fee === undefined ? [] : (await range.rangePools(pair, ofVersion, at)).pools
  if (fee !== undefined && !isTier(fee, range.feeTiers)) throw unknownTier(String(fee), range.feeTiers, venue.connector)
  if (others.length === 0) throw new SluiceError('PAIR_NOT_FOUND', `${venue.connector} has no pool of ${tokens} with a price.`)
  const fees = others.map((each) => showTier(each.fee, range.feeTiers))
  throw new SluiceError(
    'PAIR_NOT_FOUND',
    `${venue.connector} has no pool of ${tokens} in the fee tier ${showTier(fee ?? 0, range.feeTiers)}; there is one in ${fees.join(', ')}.`,
    { details: { fees: others.map((each) => each.fee) } },
  )
}

/**
 * The pool to add liquidity to. The price of an empty pool is whatever somebody set it to, so the caller has to choose such a pool by its
 * tier.
 * @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS
 */
export async function findPoolToAddTo(pair: Pair, choice: PoolChoice, venue: VenueEntry, at: At): Promise<PoolAtBlock> {
  const found = await findPool(pair, choice, venue, at)
  if (choice.fee !== undefined || choice.pool !== undefined || found.pool.liquidity > 0n) return found
  const tier = showTier(found.pool.fee, tradingOf('AMM_RANGE', venue).feeTiers)
  const problem = `is required here: no pool of this pair has liquidity at its price, so the price is whatever somebody set. Check it with /amm/liquidity/price, then name the tier, such as ${tier}`
  throw badFields([{ field: 'fee', problem }])
}

type Tiers = AMMRange['feeTiers']

/**
 * In hundredths of a basis point. Any number passes: the exchange may have added tiers, so its pools decide.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export function readFee(text: string | undefined, tiers: Tiers, connector: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const name = text.toUpperCase()
  const fee = Object.hasOwn(tiers, name) ? tiers[name] : undefined
  if (fee === undefined) throw unknownTier(text, tiers, connector)
  return fee
}

/** An exchange without names for its tiers has any tier. */
const isTier = (fee: number, tiers: Tiers) => Object.keys(tiers).length === 0 || Object.values(tiers).includes(fee)

function unknownTier(text: string, tiers: Tiers, connector: string): SluiceError {
  const known = Object.values(tiers).map((fee) => showTier(fee, tiers))
  const choice = known.length === 0 ? 'give a number of hundredths of a basis point' : `it has ${known.join(', ')}`
  return badFields([{ field: 'fee', problem: `"${text}" is not a fee tier of ${connector}: ${choice}` }])
}

/** "3000 (MEDIUM)". */
function showTier(fee: number, tiers: Tiers): string {
  const name = Object.keys(tiers).find((each) => tiers[each] === fee)
  return name === undefined ? String(fee) : `${fee} (${name})`
}

/** Two tokens in the caller's order. */
export type Pair = readonly [Token, Token]

/** A caller's pair in a pool, which may have the tokens in the other order. */
export interface OrderedPair {
  pair: Pair
  reversed: boolean
}

/** @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
export async function readPair(request: { token0: string; token1: string }, network: NetworkEntry, at: At): Promise<Pair> {
  const pair = await resolvePair(request, network, at)
  if (pair[0].address === pair[1].address) throw badFields([{ field: 'token1', problem: 'is the same token as token0' }])
  return pair
}

/** The tokens of a request, or those that its pool says it has. @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
export async function readPoolPair(
  { token0, token1, pool }: Pick<AMMLiquidityPriceRequest, 'token0' | 'token1' | 'pool'>,
  { network, venue }: { network: NetworkEntry; venue: VenueEntry },
  at: At,
): Promise<Pair> {
  const own =
    token0 === undefined && pool !== undefined
      ? ((await tradingOf('AMM_RANGE', venue).poolTokens?.(pool, at)) ?? (await venue.impl.AMM?.poolTokens?.(pool, at)))
      : undefined
  const [first = token0, second = token1] = own ?? []
  if (first !== undefined && second !== undefined) return readPair({ token0: first, token1: second }, network, at)
  const problem = pool === undefined ? 'is required' : `is required: ${pool} does not say which tokens it has`
  throw badFields([
    { field: 'token0', problem },
    { field: 'token1', problem },
  ])
}

export const resolvePair = (names: { token0: string; token1: string }, { tokens }: NetworkEntry, at: At): Promise<Pair> =>
  Promise.all([tokens.resolve(names.token0, 'token0', at), tokens.resolve(names.token1, 'token1', at)])

/** If one token is the native coin, the pool has its wrapped form: the other token tells the order. */
export const orderIn = ({ token0, token1 }: RangePool, pair: Pair): OrderedPair => ({
  pair,
  reversed: pair[0].native ? pair[1].address === token0 : pair[1].native ? pair[0].address === token1 : pair[0].address !== token0,
})

/** Converts amounts between the caller's order and the pool's, in either direction. */
export const reorder = ({ reversed }: Pick<OrderedPair, 'reversed'>, { amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts =>
  reversed ? { amount0Raw: amount1Raw, amount1Raw: amount0Raw } : { amount0Raw, amount1Raw }

const inverse = ({ numerator, denominator }: RangePrice): RangePrice => ({ numerator: denominator, denominator: numerator })

/** Token1 per token0 in the caller's order and human units → the pool's price. @param text more than 0 */
export function toPoolPrice(text: string, { pair: [token0, token1], reversed }: OrderedPair): RangePrice {
  const { numerator, denominator } = toFraction(text)
  const price = { numerator: numerator * 10n ** BigInt(token1.decimals), denominator: denominator * 10n ** BigInt(token0.decimals) }
  return reversed ? inverse(price) : price
}

/** A pool's price → token1 per token0 in the caller's order and human units. */
export function showPrice(price: RangePrice, { pair: [token0, token1], reversed }: OrderedPair, rounding: Rounding): string {
  const { numerator, denominator } = reversed ? inverse(price) : price
  return formatRatio(numerator * 10n ** BigInt(token0.decimals), denominator * 10n ** BigInt(token1.decimals), rounding)
}

/**
 * The bounds of a range in the caller's order. Rounded inward, so that the same bounds, sent again and snapped outward to ticks, give the
 * same range.
 */
export function showBounds(range: { lowerPrice: RangePrice; upperPrice: RangePrice }, ordered: OrderedPair) {
  const [lower, upper] = ordered.reversed ? [range.upperPrice, range.lowerPrice] : [range.lowerPrice, range.upperPrice]
  return { lowerPrice: showPrice(lower, ordered, 'up'), upperPrice: showPrice(upper, ordered, 'down') }
}

/** What an addition to a range takes, in the caller's order. @param amounts in the caller's order */
export function showAddition(
  pool: RangePool,
  range: { lowerPrice: RangePrice; upperPrice: RangePrice },
  ordered: OrderedPair,
  { amount0Raw, amount1Raw }: RangeAmounts,
) {
  const [token0, token1] = ordered.pair
  return {
    token0: token0.address,
    token1: token1.address,
    version: pool.version,
    fee: pool.fee,
    pool: pool.address,
    ...showBounds(range, ordered),
    amount0: fromRaw(amount0Raw, token0.decimals),
    amount1: fromRaw(amount1Raw, token1.decimals),
  }
}

export const isBelow = (one: RangePrice, other: RangePrice) => one.numerator * other.denominator < other.numerator * one.denominator
