// What was traded of a pair: by the receipt of a swap, or by the fills of orders in books. Pure.
import { parseDecimal, type DecimalParts } from '../base/decimal.ts'
import { isObject } from '../base/json.ts'
import type { OpeningBalance } from '../config/openings.ts'
import type { Json, Token } from '../contracts/index.ts'
import type { Entry } from '../transactions/entry.ts'
import { lacksFills, type OrderFill, type PlacedOrder } from '../transactions/order-fills.ts'

export interface Trade {
  /** Addresses; with a `venue` symbols. */
  readonly base: string
  readonly quote: string
  /** The connector, where its tokens are not known to be those of the chain. */
  readonly venue?: string
  readonly side: 'BUY' | 'SELL'
  readonly baseAmount: DecimalParts
  readonly quoteAmount: DecimalParts
  /** What the exchange took in another token than the two; below 0 where it paid. */
  readonly otherFee?: { readonly token: string; readonly amount: DecimalParts }
}

/** By its receipt. `unknown`: it traded, and nobody knows what. */
export function tradeOf({ kind, outcome, planned, request, part }: Entry): Trade | 'unknown' | undefined {
  if (kind !== 'trade') return undefined
  const side = request?.fields['side']
  const [amountIn, amountOut] = [decimalIn(outcome, 'amountIn'), decimalIn(outcome, 'amountOut')]
  const { base, quote } = isObject(planned) ? planned : {}
  // Steps before the last one, such as approvals, have neither.
  if (!outcome && part.index < part.of - 1) return undefined
  if (!amountIn || !amountOut || typeof base !== 'string' || typeof quote !== 'string' || (side !== 'BUY' && side !== 'SELL'))
    return 'unknown'
  const [baseAmount, quoteAmount] = side === 'BUY' ? [amountOut, amountIn] : [amountIn, amountOut]
  return { base, quote, side, baseAmount, quoteAmount }
}

/** The token of the chain that an order names, where no other can be meant. */
export type TokenOf = (entry: Entry, symbol: string) => Pick<Token, 'address' | 'decimals'> | undefined

/** A trade, or a change of a position in a perpetual: then `quoteAmount` is without the fee. */
export interface OrderTrade {
  /** When it was filled, milliseconds since the Unix epoch. */
  readonly atMs: number
  readonly trade: Trade
  readonly perpetual?: OrderPerpetual
  /** It was held before, and is no trade: it brings what it had cost. */
  readonly isOpening?: true
}

export interface OrderPerpetual {
  readonly connector: string
  readonly address: string
  readonly market: string
  readonly fee: DecimalParts
  /** The exchange filled it by itself. */
  readonly isLiquidation?: true
}

/** Undefined where the entry placed no orders. `lacks`: the exchange has filled more of them than is known fill by fill, or may have. */
export function orderTradesOf(entry: Entry, tokenOf: TokenOf): { trades: readonly OrderTrade[]; lacks: boolean } | undefined {
  const { orders = [], connector } = entry
  if (orders.length === 0 || connector === undefined) return undefined
  const found = orders.map((order) => tradesOf(order, { entry, connector, tokenOf }))
  return {
    trades: found.flatMap((trades) => trades ?? []),
    lacks: orders.some((order, index) => !found[index] || mayLack(order)),
  }
}

/** Of what nobody has asked for the state any part may have been filled: at once, or since it was placed. */
function mayLack({ isOpen, report, about, fills }: PlacedOrder): boolean {
  if (report) return lacksFills(report.filledAmount ?? '0', fills)
  const { amount } = isObject(about) ? about : {}
  return isOpen === true && typeof amount === 'string' && lacksFills(amount, fills)
}

/** What a wallet held before the journal begins. @param addressOf of a symbol or an address on that network */
export const openingTrade = ({ atMs, base, quote, amount, cost }: OpeningBalance, addressOf: (token: string) => string): OrderTrade => ({
  atMs,
  isOpening: true,
  trade: { base: addressOf(base), quote: addressOf(quote), side: 'BUY', baseAmount: parseDecimal(amount), quoteAmount: parseDecimal(cost) },
})

/** What an exchange of order books liquidated of a position. */
export const liquidationTradeOf = (fill: OrderFill & Pick<Trade, 'side'>, of: Pick<OrderPerpetual, 'connector' | 'address' | 'market'>) =>
  perpetualTradeOf(fill, fill.side, { ...of, fee: parseDecimal(fill.fee), isLiquidation: true })

function perpetualTradeOf(fill: OrderFill, side: Trade['side'], perpetual: OrderPerpetual): OrderTrade {
  const { connector, market } = perpetual
  return { atMs: fill.timestamp, trade: { ...namesOf(market), venue: connector, side, ...amountsOf(fill) }, perpetual }
}

function namesOf(market: string): Pick<Trade, 'base' | 'quote'> {
  const hyphen = market.lastIndexOf('-')
  return { base: market.slice(0, hyphen), quote: market.slice(hyphen + 1) }
}

interface OrderContext {
  readonly entry: Entry
  readonly connector: string
  readonly tokenOf: TokenOf
}

/** Undefined where nobody can tell what the order was. */
function tradesOf(order: PlacedOrder, { entry, connector, tokenOf }: OrderContext): readonly OrderTrade[] | undefined {
  const { type, market, about, fills } = order
  const side = isObject(about) ? about['side'] : undefined
  if ((side !== 'BUY' && side !== 'SELL') || market.lastIndexOf('-') <= 0) return undefined
  if (type === 'PERP_CLOB')
    return fills.map((fill) => perpetualTradeOf(fill, side, { connector, address: entry.address, market, fee: parseDecimal(fill.fee) }))
  const { base, quote } = namesOf(market)
  const [baseToken, quoteToken] = [tokenOf(entry, base), tokenOf(entry, quote)]
  const ofChain = baseToken && quoteToken && { base: baseToken.address, quote: quoteToken.address }
  return fills.map((fill) => {
    const amounts = amountsOf(fill, ofChain && quoteToken.decimals)
    return {
      atMs: fill.timestamp,
      trade: { ...(ofChain ?? { base, quote, venue: connector }), side, ...withFee(amounts, fill, { side, base, quote }) },
    }
  })
}

type Amounts = Pick<Trade, 'baseAmount' | 'quoteAmount'>

/** Of a quote whose decimals nobody knows: as fine as exchanges count their units of account. */
const minQuoteDecimals = 8

/**
 * Exchanges tell a price of 18 digits, and not what was paid: of a token it is the unit that is nearest. Profit is rounded in the units of what is paid, so that
 * these are never larger than the token's, however round the prices are.
 * @param quoteDecimals of the token, where it is known
 */
function amountsOf({ price, amount }: OrderFill, quoteDecimals?: number): Amounts {
  const [baseAmount, each] = [parseDecimal(amount), parseDecimal(price)]
  const exact = { digits: baseAmount.digits * each.digits, scale: baseAmount.scale + each.scale }
  const decimals = Math.max(exact.scale, quoteDecimals ?? minQuoteDecimals)
  if (quoteDecimals === undefined || exact.scale <= quoteDecimals)
    return { baseAmount, quoteAmount: { digits: rawOf(exact, decimals), scale: decimals } }
  const unit = 10n ** BigInt(exact.scale - quoteDecimals)
  return { baseAmount, quoteAmount: { digits: (exact.digits + unit / 2n) / unit, scale: quoteDecimals } }
}

/** A fee in one of the two tokens is a part of what was paid or received; any other stands beside it. */
function withFee({ baseAmount, quoteAmount }: Amounts, fill: OrderFill, of: Pick<Trade, 'side' | 'base' | 'quote'>) {
  const fee = parseDecimal(fill.fee)
  if (fill.feeToken === of.quote) return { baseAmount, quoteAmount: plus(quoteAmount, of.side === 'BUY' ? fee : minus(fee)) }
  if (fill.feeToken === of.base) return { baseAmount: plus(baseAmount, of.side === 'BUY' ? minus(fee) : fee), quoteAmount }
  return { baseAmount, quoteAmount, ...(fee.digits !== 0n && { otherFee: { token: fill.feeToken, amount: fee } }) }
}

const minus = ({ digits, scale }: DecimalParts): DecimalParts => ({ digits: -digits, scale })

export function decimalIn(outcome: Json | undefined, field: string): DecimalParts | undefined {
  const text = isObject(outcome) ? outcome[field] : undefined
  return typeof text === 'string' && /^-?\d{1,200}(\.\d{1,255})?$/.test(text) ? parseDecimal(text) : undefined
}

export function plus(one: DecimalParts, other: DecimalParts): DecimalParts {
  const scale = Math.max(one.scale, other.scale)
  return { digits: rawOf(one, scale) + rawOf(other, scale), scale }
}

/** In units of so many decimals, at least as many as it has. */
export const rawOf = ({ digits, scale }: DecimalParts, decimals: number): bigint => digits * 10n ** BigInt(decimals - scale)

/** What is kept under these names; made where there is nothing. */
export function at<V>(all: Map<string, V>, names: readonly string[], make: () => V): V {
  const key = names.join(' ')
  const found = all.get(key) ?? make()
  all.set(key, found)
  return found
}
