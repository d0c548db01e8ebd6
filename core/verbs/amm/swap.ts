import type { AMMPriceRequest } from '../../api/index.ts'
import { badFields, SluiceError } from '../../api/index.ts'
import type { AMM, At, Quote, QuoteChoice, Swap, Token } from '../../contracts/index.ts'
import type { QuoteVenue } from '../../live-state/quotes.ts'
import { fromRaw, priceOf, ratio } from '../../decimal.ts'
import type { Services } from '../../handlers/context.ts'
import type { NetworkEntry, VenueEntry } from '../../handlers/registry.ts'
import { readPositiveRaw } from '../../handlers/tokens.ts'

export type Side = AMMPriceRequest['side']

/** A request for a swap, with its tokens found and its amount in smallest units. */
export interface Order {
  base: Token
  quote: Token
  side: Side
  /** Of base. */
  amountRaw: bigint
}

type SwapFields = Pick<AMMPriceRequest, 'base' | 'quote' | 'amount' | 'side'>

export function ammOf({ impl, connector }: VenueEntry): AMM {
  if (impl.AMM) return impl.AMM
  throw new SluiceError('UNSUPPORTED', `The connector ${connector} has no trading type AMM; GET /plugins shows what it has.`)
}

export function readOrder(request: SwapFields, { tokens }: NetworkEntry, at: At): Order | Promise<Order> {
  const [base, quote] = [tokens.resolve(request.base, 'base', at), tokens.resolve(request.quote, 'quote', at)]
  if (base instanceof Promise || quote instanceof Promise)
    return Promise.all([base, quote]).then(([one, other]) => orderOf(request, one, other))
  return orderOf(request, base, quote)
}

function orderOf(request: SwapFields, base: Token, quote: Token): Order {
  if (base.address === quote.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { base, quote, side: request.side, amountRaw: readPositiveRaw(request.amount, base, 'amount') }
}

/** BUY and SELL of the base, as tokens and an exact amount. */
export const swapOf = ({ base, quote, side, amountRaw }: Order): Swap =>
  side === 'BUY' ? { tokenIn: quote, tokenOut: base, exact: 'out', amountRaw } : { tokenIn: base, tokenOut: quote, exact: 'in', amountRaw }

export const choiceOf = (version: string | undefined): QuoteChoice => (version === undefined ? {} : { version })

/** Where a quote comes from: the state in memory, or what the chain was just asked. */
export type Source = 'memory' | 'rpc'

export interface Sourced {
  readonly quote: Quote
  readonly source: Source
}

/** What asks an exchange for quotes. */
export interface Desk {
  readonly network: NetworkEntry
  readonly venue: VenueEntry
  readonly services: Pick<Services, 'quotes'>
}

/** From memory, where the exchange and its chain can be followed; else the chain is asked. */
export function quoteOrder(
  order: Order,
  version: string | undefined,
  { network, venue, services: { quotes } }: Desk,
  at: At,
): Sourced | Promise<Sourced> {
  requireVersion(version, ammOf(venue), venue.connector)
  const followed = quoteVenue(network, venue)
  if (!followed) return askAndRemember(order, version, venue, at)
  const quoted = quotes.quote(followed, swapOf(order), choiceOf(version), at)
  if (!(quoted instanceof Promise)) return fromMemory(quoted, venue)
  return quoted.then(
    (quote) => fromMemory(quote, venue),
    (error: unknown) => {
      // The nodes answer, and do not say what happens.
      if (quotes.isCutOff(followed)) return askAndRemember(order, version, venue, at)
      throw error
    },
  )
}

function fromMemory(quote: Quote, { quotes: { given } }: VenueEntry): Sourced {
  given.memory += 1
  return { quote, source: 'memory' }
}

async function askAndRemember(order: Order, version: string | undefined, venue: VenueEntry, at: At): Promise<Sourced> {
  const asked = await askOrder(order, version, venue, at)
  venue.quotes.put(questionOf(order, version), asked.quote)
  return asked
}

/** @throws SluiceError INCOMPLETE_PARAMS where the connector has no such version */
export function requireVersion(version: string | undefined, { versions }: Pick<AMM, 'versions'>, connector: string): void {
  if (version === undefined || versions.includes(version)) return
  const known = versions.join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `${connector} has no version "${version}" (${known})` }])
}

/** An exchange as it is quoted from memory; undefined where it, or its chain, can only be asked. */
export function quoteVenue({ chain, network, impl }: NetworkEntry, venue: VenueEntry): QuoteVenue | undefined {
  const pricing = impl.changes && venue.impl.AMM?.followed
  return pricing && { chain, network, chainImpl: impl, connector: venue.connector, pricing }
}

/** The chain is asked, at its latest block. */
export async function askOrder(order: Order, version: string | undefined, venue: VenueEntry, at: At): Promise<Sourced> {
  const quote = await ammOf(venue).quote(swapOf(order), choiceOf(version), at)
  venue.quotes.given.rpc += 1
  return { quote, source: 'rpc' }
}

/** What the chain said to the same question a moment ago, where it was asked. */
export const lastQuote = (order: Order, version: string | undefined, { quotes }: VenueEntry) => quotes.get(questionOf(order, version))

const questionOf = ({ base, quote, side, amountRaw }: Order, version = '') =>
  [side, amountRaw, base.address, base.native, quote.address, quote.native, version].join()

/** Whether two quotes promise the same by the same way, at whatever blocks. */
export const isSameQuote = (one: Quote, other: Quote) =>
  one.amountRaw === other.amountRaw && one.spender === other.spender && JSON.stringify(one.route) === JSON.stringify(other.route)

/** The price of `quoteRaw` for the order's amount, rounded against optimism. */
export const orderPrice = ({ base, quote, side, amountRaw }: Order, quoteRaw: bigint) =>
  priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: amountRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down')

/** What price and trade answer alike. */
export function showOrder(order: Order, { amountRaw }: Quote) {
  const { base, quote } = order
  return {
    base: base.address,
    quote: quote.address,
    amount: fromRaw(order.amountRaw, base.decimals),
    rawAmount: order.amountRaw.toString(),
    expectedAmount: fromRaw(amountRaw, quote.decimals),
    price: orderPrice(order, amountRaw),
  }
}

/** Fraction by which the quote is worse than the pools' marginal price, fees included; never below 0. */
export function priceImpact({ swap, amountRaw, spotAmountRaw }: Quote): string {
  const [better, worse] = swap.exact === 'in' ? [spotAmountRaw, amountRaw] : [amountRaw, spotAmountRaw]
  if (better <= worse) return '0'
  return ratio(better - worse, better, 'up', 6)
}
