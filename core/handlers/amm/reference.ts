// What the built-in connectors say that a swap is worth. The bound of a trade follows its quote and the slippage, and a stranger's plugin may quote
// what it likes and brings a slippage of its own: so they bound a trade only where a quote of theirs is near, and otherwise the caller says the bound.
import { abortable, withDeadline } from '../../base/async.ts'
import type { At, Quote } from '../../contracts/index.ts'
import { badFields, isTrouble, type SluiceError } from '../../base/errors.ts'
import type { NetworkContext } from '../context.ts'
import type { VenueEntry } from '../../plugins/index.ts'

/** How much worse than the reference the bound of a trade may be; and than the pools' own price the reference, which else is that of pools too small for it. */
const toleratedPercent = 5n

/** For all built-in connectors, which are asked beside each other and beside the trade's own quote. */
const referenceMs = 5_000

/** The best quote of a built-in connector. */
export interface Reference {
  readonly connector: string
  readonly quote: Pick<Quote, 'swap' | 'amountRaw'>
}

type ComparedQuote = Pick<Quote, 'swap' | 'amountRaw'>

/** Whether a quote is worse for the caller by more than is tolerated. A better one only makes the trade's bound tighter. */
export function isFarWorse({ swap: { exact }, amountRaw }: ComparedQuote, referenceRaw: bigint): boolean {
  return exact === 'in'
    ? amountRaw * 100n < referenceRaw * (100n - toleratedPercent)
    : amountRaw * 100n > referenceRaw * (100n + toleratedPercent)
}

/** The best of the quotes that say something of the market: those of pools that are deep enough for the swap. */
export function bestReference(quotes: readonly { connector: string; quote: ComparedQuote & Pick<Quote, 'spotAmountRaw'> }[]) {
  const deep = quotes.filter(({ quote }) => !isFarWorse(quote, quote.spotAmountRaw))
  return deep.toSorted(({ quote: one }, { quote: other }) => {
    const isBetter = one.swap.exact === 'in' ? one.amountRaw > other.amountRaw : one.amountRaw < other.amountRaw
    return isBetter ? -1 : 1
  })[0]
}

/**
 * The best quote of the network's built-in connectors, from memory where they are followed. One that has none, or is not there in time, is left out.
 * @throws SluiceError where a node has trouble with one: that may be the best, and the others would let a trade be worse
 */
export async function readReference(
  { network: { chain, network }, services: { registry }, signal }: NetworkContext,
  quoteOf: (venue: VenueEntry, at: At) => Promise<Quote>,
  withinMs = referenceMs,
): Promise<Reference | undefined> {
  const venues = registry.venuesOn(chain, network).filter(({ builtIn, impl }) => builtIn && impl.AMM)
  async function ask(venue: VenueEntry, at: At) {
    if (venue.notReady() !== undefined) await venue.wake()
    return venue.notReady() === undefined ? [{ connector: venue.connector, quote: await quoteOf(venue, at) }] : []
  }
  const orNone = (error: unknown) => {
    if (isTrouble(error)) throw error
    return []
  }
  const quotes = await Promise.all(
    venues.map((venue) => withDeadline(signal, withinMs, (within) => abortable(ask(venue, { signal: within }), within)).catch(orNone)),
  )
  return bestReference(quotes.flat())
}

/**
 * @param bound the worst that the quote and the slippage let the trade do
 * @param priceOf what an amount of the other side is, as a price for the message
 * @throws SluiceError INCOMPLETE_PARAMS unless it is near the quote of a built-in connector
 */
export function requireReference(
  bound: ComparedQuote,
  reference: Reference | undefined,
  { connector, chain, network }: Record<'connector' | 'chain' | 'network', string>,
  priceOf: (amountRaw: bigint) => string,
): void {
  if (!reference) throw limitNeeded(`no built-in connector on ${chain}/${network} has a price for this swap to compare with`, connector)
  if (!isFarWorse(bound, reference.quote.amountRaw)) return
  const [own, best] = [bound.amountRaw, reference.quote.amountRaw].map(priceOf)
  const what = `the worst price that its quote and slippage allow, ${own}, is more than ${toleratedPercent} % worse than ${best}, the best of the built-in connectors (${reference.connector})`
  throw limitNeeded(what, connector)
}

const limitNeeded = (why: string, connector: string): SluiceError =>
  badFields([
    {
      field: 'limitPrice',
      problem: `is required: ${connector} is not built in, and ${why}. Nothing was signed; give the worst price that you accept`,
    },
  ])
