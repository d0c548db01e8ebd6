// What the native coin is worth in a token: the cost of gas of quotes that are compared.
import type { At, GasTerms, Token } from '../../contracts/index.ts'
import { divideRaw } from '../../base/decimal.ts'
import { after } from '../context.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import { askEach, isLeftOut, type AskScope } from './ask-each.ts'
import { quoteSwap, type SourcedQuote, type SwapRequest } from './quote.ts'
import { bestReference } from './reference.ts'

/** What an amount of the native coin is worth in a token. */
export interface CoinRate {
  readonly coinRaw: bigint
  readonly tokenRaw: bigint
}

interface KnownRate {
  readonly blockNumber: bigint
  readonly rate: CoinRate | undefined
}

const mostRates = 1_000
const knownRates = new WeakMap<NetworkEntry, Map<string, KnownRate>>()

/** Rounded up. */
export const costOf = ({ gasCostRaw }: Pick<GasTerms, 'gasCostRaw'>, { coinRaw, tokenRaw }: CoinRate) =>
  divideRaw(gasCostRaw * tokenRaw, coinRaw, 'up')

/** The marginal price of the native coin by the best of the built-in connectors, once a block. Undefined where they have none. */
export function coinRate(
  token: Token,
  quoted: readonly { readonly sourced: SourcedQuote }[],
  scope: AskScope,
  at: At,
): CoinRate | undefined | Promise<CoinRate | undefined> {
  const { network, services } = scope
  const { nativeCurrency, evm } = network.impl
  const coinRaw = 10n ** BigInt(nativeCurrency.decimals) / 10n
  if ([nativeCurrency.address, evm?.wrapped?.token.address].includes(token.address)) return { coinRaw, tokenRaw: coinRaw }
  const blockNumber = quoted.reduce((newest, { sourced: { quote } }) => (quote.head.number > newest ? quote.head.number : newest), 0n)
  const rates = knownRates.get(network) ?? new Map<string, KnownRate>()
  knownRates.set(network, rates)
  const known = rates.get(token.address)
  if (known?.blockNumber === blockNumber) return known.rate
  const swap: SwapRequest = { base: nativeCurrency, quote: token, side: 'SELL', amountRaw: coinRaw }
  const venues = services.registry
    .venuesOn(network.chain, network.network)
    .filter((venue) => venue.builtIn && venue.impl.AMM && venue.notReady() === undefined)
  const answers = askEach(venues, scope, `price of ${nativeCurrency.symbol}`, (venue) => quoteSwap(swap, { ...scope, venue }, at), at)
  return after(answers, (each) => {
    const quotes = each.flatMap((one) => (isLeftOut(one) ? [] : [{ connector: one.venue.connector, quote: one.answer.quote }]))
    const best = bestReference(quotes)?.quote
    const rate = best && { coinRaw, tokenRaw: best.spotAmountRaw }
    rates.delete(token.address)
    rates.set(token.address, { blockNumber, rate })
    const oldest = rates.keys().next().value
    if (rates.size > mostRates && oldest !== undefined) rates.delete(oldest)
    return rate
  })
}
