// What orders of perpetuals may lose against the exchange's index, for clients with a maxDailyLoss: the price, and the fees.
import type { PerpFill, PerpMarketName, PerpPosition, PerpQuote } from '../../contracts/index.ts'
import { divideRaw, parseDecimal, type Fraction } from '../../base/decimal.ts'
import { fractionBits, perpetualSides, type Commitment } from '../../transactions/budgets.ts'
import type { ConnectorContext } from '../context.ts'
import { accountWorthRaw } from './worth.ts'

/** In dollars, as most exchanges call what accounts are kept in. */
const dollar = 'USD'
const one = 1_000_000n

type Context = Pick<ConnectorContext, 'caller' | 'network' | 'services' | 'venue'>

/** @param lost in quote; a gain is below 0, and counts as 0 */
export function perpetualCommitment(
  { quote }: { readonly quote: string },
  lost: string,
  { services }: Pick<Context, 'services'>,
): Commitment {
  const { digits, scale } = parseDecimal(lost)
  const lossMicros = digits > 0n ? divideRaw(digits * one, 10n ** BigInt(scale), 'up') : 0n
  return committed(quote, { lossMicros, prices: {} }, services)
}

/** What limits count as one of the reference token. */
export const isReference = (symbol: string, { settings }: Pick<Context['services'], 'settings'>): boolean =>
  symbol === dollar || settings.limits.referenceTokens.includes(symbol)

/** A market whose quote is worth something else than the reference token has no value here. */
function committed(quote: string, market: NonNullable<Commitment['market']>, services: Context['services']): Commitment {
  return isReference(quote, services) ? { gives: {}, gets: {}, market } : { gives: { [quote]: 1n }, gets: {} }
}

/** Of an order that is filled at once, fees included: by its bound. Nothing for a client without a maxDailyLoss. */
export function committedBy({ order, market, prices: { index } }: PerpQuote, boundRaw: bigint, context: Context): Commitment {
  const { caller, network, services, venue } = context
  if (services.limitsOn(caller.id, network)?.maxDailyLoss === undefined) return { gives: {}, gets: {} }
  const { quote } = market
  const { baseX, quoteX } = sideValues(index, market)
  const [paid, received] = [boundRaw * quoteX, order.sizeRaw * baseX]
  const lostX = order.side === 'LONG' ? paid - received : received - paid
  const lossMicros = lostX > 0n ? (lostX >> fractionBits) + 1n : 0n
  const { base, quote: paidIn } = perpetualSides
  const held = committed(quote, { lossMicros, prices: { [base]: baseX, [paidIn]: quoteX } }, services)
  const [inQuote, inBase] = [{ [paidIn]: boundRaw }, { [base]: order.sizeRaw }]
  const sides = order.side === 'LONG' ? { gives: inQuote, gets: inBase } : { gives: inBase, gets: inQuote }
  const at = { connector: venue.connector, market: market.id }
  return held.market ? { ...held, position: { at, ...sides } } : held
}

/** What one unit of each side is worth, as `MarketValue` has prices. */
export const sideValues = (
  index: Fraction,
  { baseDecimals, quoteDecimals }: Pick<PerpMarketName, 'baseDecimals' | 'quoteDecimals'>,
): { readonly baseX: bigint; readonly quoteX: bigint } => ({
  baseX: (index.numerator * (one << fractionBits)) / (index.denominator * 10n ** BigInt(baseDecimals)),
  quoteX: (one << fractionBits) / 10n ** BigInt(quoteDecimals),
})

/** The same of what only closes, near the index: its loss counts, where it is known, and refuses nothing. */
export const closing = ({ market }: Commitment): Commitment => ({ gives: {}, gets: {}, ...(market && { market }), closesNearIndex: true })

/** What a change of a position gave and got, as if its two sides were tokens. */
export function exchangedBy({ sizeRaw, quoteRaw }: PerpFill, side: 'LONG' | 'SHORT'): ReadonlyMap<string, bigint> {
  const sign = side === 'LONG' ? 1n : -1n
  return new Map([
    [perpetualSides.base, sign * sizeRaw],
    [perpetualSides.quote, -sign * quoteRaw],
  ])
}

/** What the account is worth, as a part of an order's notional. */
export function stakeOf(
  { account, market }: Pick<PerpQuote, 'account' | 'market'>,
  notionalRaw: bigint,
  positions: readonly PerpPosition[],
): Fraction | undefined {
  if (!account) return undefined
  const stakeRaw = accountWorthRaw(account, positions)
  return {
    numerator: stakeRaw > 0n ? stakeRaw * 10n ** BigInt(market.quoteDecimals) : 0n,
    denominator: (notionalRaw > 0n ? notionalRaw : 1n) * 10n ** BigInt(account.decimals),
  }
}
