// What the native coin is worth in a token: the cost of gas of quotes that are compared.
import type { At, GasTerms, Head, Token } from '../../contracts/index.ts'
import { after } from '../../base/async.ts'
import { divideRaw } from '../../base/decimal.ts'
import { dropOldest } from '../../base/oldest.ts'
import type { NetworkEntry, VenueEntry } from '../../plugins/index.ts'
import { askEach, isLeftOut, isOfStates, type AskScope } from './ask-each.ts'
import { quoteSwap, type SourcedQuote, type SwapRequest } from './quote.ts'
import { bestReference } from './reference.ts'

/** What an amount of the native coin is worth in a token. */
export interface CoinRate {
  readonly coinRaw: bigint
  readonly tokenRaw: bigint
}

/** Undefined where no connector has a price of the coin. */
export interface RatedCoin {
  readonly rate: CoinRate | undefined
  readonly source: SourcedQuote['source']
}

interface KnownRate {
  readonly block: string
  /** Who was asked. */
  readonly venues: readonly VenueEntry[]
  readonly rated: RatedCoin
}

const mostRates = 1_000
const knownRates = new WeakMap<NetworkEntry, Map<string, KnownRate>>()

/** Rounded up. */
export const costOf = ({ gasCostRaw }: Pick<GasTerms, 'gasCostRaw'>, { coinRaw, tokenRaw }: CoinRate) =>
  divideRaw(gasCostRaw * tokenRaw, coinRaw, 'up')

/** A number alone may be that of two blocks. */
export const blockOf = ({ hash, number }: Head): string => hash ?? String(number)

/** The newest block that quotes are of. */
export const newestOf = (quoted: readonly { readonly sourced: SourcedQuote }[]): Head | undefined =>
  quoted
    .map(({ sourced }) => sourced.quote.head)
    .reduce<Head | undefined>((newest, head) => (newest && newest.number >= head.number ? newest : head), undefined)

/**
 * The marginal price of the native coin by the best of the built-in connectors that are ready, once a block. One that was found while some of them were in trouble,
 * or by another block, is not kept.
 */
export function coinRate(
  token: Token,
  quoted: readonly { readonly sourced: SourcedQuote }[],
  scope: AskScope,
  at: At,
): RatedCoin | Promise<RatedCoin> {
  const { network, services } = scope
  const { nativeCurrency, evm } = network.impl
  const coinRaw = 10n ** BigInt(nativeCurrency.decimals) / 10n
  if ([nativeCurrency.address, evm?.wrapped?.token.address].includes(token.address))
    return { rate: { coinRaw, tokenRaw: coinRaw }, source: 'memory' }
  const newest = newestOf(quoted)
  const block = newest && blockOf(newest)
  const rates = knownRates.get(network) ?? new Map<string, KnownRate>()
  knownRates.set(network, rates)
  const known = rates.get(token.address)
  const venues = services.registry
    .venuesOn(network.chain, network.network)
    .filter((venue) => venue.builtIn && venue.impl.AMM && venue.notReady() === undefined)
  if (known && known.block === block && isSameList(known.venues, venues)) return known.rated
  const swap: SwapRequest = { base: nativeCurrency, quote: token, side: 'SELL', amountRaw: coinRaw }
  const answers = askEach(venues, scope, `price of ${nativeCurrency.symbol}`, (venue) => quoteSwap(swap, { ...scope, venue }, at), at)
  return after(answers, (each) => {
    const quotes = each.flatMap((one) => (isLeftOut(one) ? [] : [{ connector: one.venue.connector, quote: one.answer.quote }]))
    const best = bestReference(quotes)?.quote
    const rate = best && { coinRaw, tokenRaw: best.spotAmountRaw }
    const isOfBlock = block !== undefined && quotes.every(({ quote }) => blockOf(quote.head) === block)
    if (isOfBlock && each.every((one) => !isLeftOut(one) || isOfStates(one))) {
      rates.delete(token.address)
      rates.set(token.address, { block, venues, rated: { rate, source: 'memory' } })
      dropOldest(rates, mostRates)
    }
    const hasAskedNode = each.some((one) => (isLeftOut(one) ? one.hasWaited : one.answer.source === 'rpc'))
    return { rate, source: hasAskedNode ? 'rpc' : 'memory' }
  })
}

const isSameList = (one: readonly VenueEntry[], other: readonly VenueEntry[]): boolean =>
  one.length === other.length && one.every((each, index) => each === other[index])
