import { type AMMPriceResponse, type AMMPriceRequest, badFields, SluiceError } from '../../api/index.ts'
import type { At, GasTerms, Plan, Quote, AMM, QuoteChoice, Swap, Token } from '../../contracts/index.ts'
import { fromRaw, priceOf, formatRatio } from '../../decimal.ts'
import type { QuoteVenue } from '../../live-state/quotes.ts'
import { after, lazySignal, type Handler, type Services } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { effectiveSlippage, slippageBound, tradeRules } from '../slippage.ts'
import { readPositiveRaw } from '../tokens.ts'
import { showGas, readAddress } from '../wallets.ts'

export const ammPrice: Handler<'AMMPrice'> = (request, call) => {
  const { network, venue } = call
  const at = lazySignal(call)
  const wallet = request.address === undefined ? undefined : readAddress(network, request.address)
  return after(readSwapRequest(request, network, at), (order) =>
    after(quoteSwap(order, request.version, call, at), (sourced) => {
      const { quote } = sourced
      const bound = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
      const terms = network.impl.gas(quote.gasUnits, quote.head, at)
      if (wallet === undefined) return after(terms, (gas) => shownBefore(order, sourced, bound, gas, network))
      const allowed = allowanceOf(wallet, quote, bound, network, venue, at)
      return Promise.all([terms, allowed]).then(([gas, allowance]) => ({
        ...show(order, sourced, bound, gas, network),
        ...(allowance && { allowance }),
      }))
    }),
  )
}

/** The last answer that was made of a quote, and what else it goes by. */
const shown = new WeakMap<Quote, { bound: bigint; gas: GasTerms; answer: ReturnType<typeof show> }>()

/** A quote from memory is the same object until a block changes it: who asks again is answered the same. */
function shownBefore(order: SwapRequest, sourced: SourcedQuote, bound: bigint, gas: GasTerms, network: NetworkEntry) {
  const known = shown.get(sourced.quote)
  if (known && known.bound === bound && known.gas.gasPriceRaw === gas.gasPriceRaw && known.gas.gasCostRaw === gas.gasCostRaw)
    return known.answer
  const answer = show(order, sourced, bound, gas, network)
  shown.set(sourced.quote, { bound, gas, answer })
  return answer
}

function show(order: SwapRequest, { quote, source }: SourcedQuote, bound: bigint, gas: GasTerms, network: NetworkEntry) {
  // What is spread comes last: V8 takes sixty times as long for the object when fields follow it.
  return {
    priceImpact: priceImpact(quote),
    route: [...quote.route],
    blockNumber: Number(quote.head.number),
    source,
    slippagePrice: swapPrice(order, bound),
    ...showSwap(order, quote),
    ...showGas(gas, network),
  }
}

/** Whether the wallet lets the exchange move what this swap would take at most. */
async function allowanceOf(
  wallet: string,
  quote: Quote,
  boundRaw: bigint,
  { impl, tokens }: NetworkEntry,
  venue: VenueEntry,
  at: At,
): Promise<AMMPriceResponse['allowance']> {
  const { ttlSeconds } = tradeRules(venue.config, quote.route)
  const plan: Plan = ammOf(venue).swap(quote, { recipient: wallet, boundRaw, deadline: quote.head.timestamp + ttlSeconds })
  for (const need of plan.needs) {
    if (need.is !== 'allowance' || !impl.evm) continue
    const token = await tokens.resolve(need.token, 'token', at)
    const [[current = 0n] = []] = await impl.evm.allowances(wallet, [need.spender], [token], at)
    return { spender: need.spender, sufficient: current >= need.amountRaw }
  }
  return { spender: quote.spender, sufficient: true }
}

type Side = AMMPriceRequest['side']

/** A request for a swap, with its tokens found and its amount in smallest units. */
export interface SwapRequest {
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

export function readSwapRequest(request: SwapFields, { tokens }: NetworkEntry, at: At): SwapRequest | Promise<SwapRequest> {
  const [base, quote] = [tokens.resolve(request.base, 'base', at), tokens.resolve(request.quote, 'quote', at)]
  if (base instanceof Promise || quote instanceof Promise)
    return Promise.all([base, quote]).then(([one, other]) => orderOf(request, one, other))
  return orderOf(request, base, quote)
}

function orderOf(request: SwapFields, base: Token, quote: Token): SwapRequest {
  if (base.address === quote.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { base, quote, side: request.side, amountRaw: readPositiveRaw(request.amount, base, 'amount') }
}

/** BUY and SELL of the base, as tokens and an exact amount. */
export const toSwap = ({ base, quote, side, amountRaw }: SwapRequest): Swap =>
  side === 'BUY' ? { tokenIn: quote, tokenOut: base, exact: 'out', amountRaw } : { tokenIn: base, tokenOut: quote, exact: 'in', amountRaw }

export const toQuoteChoice = (version: string | undefined): QuoteChoice => (version === undefined ? {} : { version })

/** Where a quote comes from: the state in memory, or what the chain was just asked. */
type QuoteSource = 'memory' | 'rpc'

export interface SourcedQuote {
  readonly quote: Quote
  readonly source: QuoteSource
}

/** What asks an exchange for quotes. */
interface QuoteContext {
  readonly network: NetworkEntry
  readonly venue: VenueEntry
  readonly services: Pick<Services, 'quotes'>
}

/** From memory, where the exchange and its chain can be followed; else the chain is asked. */
export function quoteSwap(
  order: SwapRequest,
  version: string | undefined,
  { network, venue, services: { quotes } }: QuoteContext,
  at: At,
): SourcedQuote | Promise<SourcedQuote> {
  requireVersion(version, ammOf(venue), venue.connector)
  const followed = toQuoteVenue(network, venue)
  if (!followed) return askAndRemember(order, version, venue, at)
  const quoted = quotes.quote(followed, toSwap(order), toQuoteChoice(version), at)
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

function fromMemory(quote: Quote, { recentQuotes: { counts: given } }: VenueEntry): SourcedQuote {
  given.memory += 1
  return { quote, source: 'memory' }
}

async function askAndRemember(order: SwapRequest, version: string | undefined, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const asked = await quoteFromChain(order, version, venue, at)
  venue.recentQuotes.put(questionOf(order, version), asked.quote)
  return asked
}

/** @throws SluiceError INCOMPLETE_PARAMS where the connector has no such version */
export function requireVersion(version: string | undefined, { versions }: Pick<AMM, 'versions'>, connector: string): void {
  if (version === undefined || versions.includes(version)) return
  const known = versions.join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `${connector} has no version "${version}" (${known})` }])
}

/** An exchange as it is quoted from memory; undefined where it, or its chain, can only be asked. */
export function toQuoteVenue({ chain, network, impl }: NetworkEntry, venue: VenueEntry): QuoteVenue | undefined {
  const pricing = impl.changes && venue.impl.AMM?.followed
  return pricing && { chain, network, chainImpl: impl, connector: venue.connector, pricing }
}

/** The chain is asked, at its latest block. */
export async function quoteFromChain(order: SwapRequest, version: string | undefined, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const quote = await ammOf(venue).quote(toSwap(order), toQuoteChoice(version), at)
  venue.recentQuotes.counts.rpc += 1
  return { quote, source: 'rpc' }
}

/** What the chain said to the same question a moment ago, where it was asked. */
export const recentQuote = (order: SwapRequest, version: string | undefined, { recentQuotes: quotes }: VenueEntry) =>
  quotes.get(questionOf(order, version))

const questionOf = ({ base, quote, side, amountRaw }: SwapRequest, version = '') =>
  [side, amountRaw, base.address, base.native, quote.address, quote.native, version].join()

/** Whether two quotes promise the same by the same way, at whatever blocks. */
export const isSameQuote = (one: Quote, other: Quote) =>
  one.amountRaw === other.amountRaw && one.spender === other.spender && JSON.stringify(one.route) === JSON.stringify(other.route)

/** The price of `quoteRaw` for the order's amount, rounded against optimism. */
export const swapPrice = ({ base, quote, side, amountRaw }: SwapRequest, quoteRaw: bigint) =>
  priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: amountRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down')

/** What price and trade answer alike. */
export function showSwap(order: SwapRequest, { amountRaw }: Quote) {
  const { base, quote } = order
  return {
    base: base.address,
    quote: quote.address,
    amount: fromRaw(order.amountRaw, base.decimals),
    rawAmount: order.amountRaw.toString(),
    expectedAmount: fromRaw(amountRaw, quote.decimals),
    price: swapPrice(order, amountRaw),
  }
}

/** Fraction by which the quote is worse than the pools' marginal price, fees included; never below 0. */
function priceImpact({ swap, amountRaw, spotAmountRaw }: Quote): string {
  const [better, worse] = swap.exact === 'in' ? [spotAmountRaw, amountRaw] : [amountRaw, spotAmountRaw]
  if (better <= worse) return '0'
  return formatRatio(better - worse, better, 'up', 6)
}

/** What a swap through one pool uses: what the answer is for, since the request names no pair. */
const typicalSwapGas = 110_000n

export const ammEstimateGas: Handler<'AMMEstimateGas'> = async (_request, { network, venue, signal }) => {
  ammOf(venue)
  return showGas(await network.impl.gas(typicalSwapGas, undefined, { signal }), network)
}
