import type { AMMPriceRequest, AMMPriceResponse } from '../../api/index.ts'
import type { AMM, At, GasTerms, Plan, Quote, QuoteChoice, Swap, Token } from '../../contracts/index.ts'
import { formatRatio, fromRaw, priceOf } from '../../decimal.ts'
import { badFields } from '../../errors.ts'
import type { QuoteVenue } from '../../live-state/quotes.ts'
import { after, lazySignal, type ConnectorContext, type Handler, type Handlers } from '../context.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../registry.ts'
import { effectiveSlippage, slippageBound, tradeRules } from '../slippage.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { readAddress, showGas } from '../wallets.ts'

/** Makes no promise if the quote comes from memory: see `after`. */
const ammPrice: Handler<'AMMPrice'> = (request, context) => {
  const { network, venue } = context
  const at = lazySignal(context)
  const wallet = request.address === undefined ? undefined : readAddress(network, request.address)
  return after(readSwapRequest(request, network, at), (swapRequest) =>
    after(quoteSwap(swapRequest, context, at), (sourced) => {
      const { quote } = sourced
      const boundRaw = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
      const gasTerms = network.impl.gas(quote.gasUnits, quote.head, at)
      if (wallet === undefined) return after(gasTerms, (gas) => cachedResponse(swapRequest, sourced, boundRaw, gas, network))
      return Promise.all([gasTerms, allowanceOf(wallet, quote, boundRaw, network, venue, at)]).then(([gas, allowance]) => ({
        ...responseOf(swapRequest, sourced, boundRaw, gas, network),
        ...(allowance && { allowance }),
      }))
    }),
  )
}

/** The last response for a quote, with what else it depends on. */
const responses = new WeakMap<Quote, { boundRaw: bigint; gas: GasTerms; response: ReturnType<typeof responseOf> }>()

/** A quote from memory is the same object until a block changes it, so the same question gets the same response. */
function cachedResponse(swapRequest: SwapRequest, sourced: SourcedQuote, boundRaw: bigint, gas: GasTerms, network: NetworkEntry) {
  const cached = responses.get(sourced.quote)
  if (cached && cached.boundRaw === boundRaw && cached.gas.gasPriceRaw === gas.gasPriceRaw && cached.gas.gasCostRaw === gas.gasCostRaw)
    return cached.response
  const response = responseOf(swapRequest, sourced, boundRaw, gas, network)
  responses.set(sourced.quote, { boundRaw, gas, response })
  return response
}

function responseOf(swapRequest: SwapRequest, { quote, source }: SourcedQuote, boundRaw: bigint, gas: GasTerms, network: NetworkEntry) {
  // Spreads come last: V8 takes sixty times as long for the object if fields follow them.
  return {
    priceImpact: priceImpact(quote),
    route: [...quote.route],
    blockNumber: Number(quote.head.number),
    source,
    slippagePrice: swapPrice(swapRequest, boundRaw),
    ...showSwap(swapRequest, quote),
    ...showGas(gas, network),
  }
}

/** Whether the wallet allows the exchange the largest amount that this swap may take. */
async function allowanceOf(
  wallet: string,
  quote: Quote,
  boundRaw: bigint,
  { impl, tokens }: NetworkEntry,
  venue: VenueEntry,
  at: At,
): Promise<AMMPriceResponse['allowance']> {
  const { ttlSeconds } = tradeRules(venue.config, quote.route)
  const plan: Plan = tradingOf('AMM', venue).swap(quote, { recipient: wallet, boundRaw, deadline: quote.head.timestamp + ttlSeconds })
  for (const need of plan.needs) {
    if (need.is !== 'allowance' || !impl.evm) continue
    const token = await tokens.resolve(need.token, 'token', at)
    const [[current = 0n] = []] = await impl.evm.allowances(wallet, [need.spender], [token], at)
    return { spender: need.spender, sufficient: current >= need.amountRaw }
  }
  return { spender: quote.spender, sufficient: true }
}

/** How much worse the quote is than the pools' marginal price, fees included, as a fraction. Never below 0. */
function priceImpact({ swap, amountRaw, spotAmountRaw }: Quote): string {
  const [better, worse] = swap.exact === 'in' ? [spotAmountRaw, amountRaw] : [amountRaw, spotAmountRaw]
  if (better <= worse) return '0'
  return formatRatio(better - worse, better, 'up', 6)
}

/** The request names no pair: this is what a swap through one pool uses. */
const typicalSwapGas = 110_000n

const ammEstimateGas: Handler<'AMMEstimateGas'> = async (_request, { network, venue, signal }) => {
  tradingOf('AMM', venue)
  return showGas(await network.impl.gas(typicalSwapGas, undefined, { signal }), network)
}

/** A swap that a caller asks for: BUY or SELL of an exact amount of base. */
export interface SwapRequest {
  base: Token
  quote: Token
  side: AMMPriceRequest['side']
  /** Of base. */
  amountRaw: bigint
  /** Of the exchange's contracts; absent: all that it has. */
  version?: string
}

type SwapFields = Pick<AMMPriceRequest, 'base' | 'quote' | 'amount' | 'side' | 'version'>

/** @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
export function readSwapRequest(fields: SwapFields, { tokens }: NetworkEntry, at: At): SwapRequest | Promise<SwapRequest> {
  const [base, quote] = [tokens.resolve(fields.base, 'base', at), tokens.resolve(fields.quote, 'quote', at)]
  if (base instanceof Promise || quote instanceof Promise)
    return Promise.all([base, quote]).then(([one, other]) => swapRequestOf(fields, one, other))
  return swapRequestOf(fields, base, quote)
}

function swapRequestOf({ side, amount, version }: SwapFields, base: Token, quote: Token): SwapRequest {
  if (base.address === quote.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { base, quote, side, amountRaw: readPositiveRaw(amount, base, 'amount'), ...(version !== undefined && { version }) }
}

export const toSwap = ({ base, quote, side, amountRaw }: SwapRequest): Swap =>
  side === 'BUY' ? { tokenIn: quote, tokenOut: base, exact: 'out', amountRaw } : { tokenIn: base, tokenOut: quote, exact: 'in', amountRaw }

export const toQuoteChoice = (version: string | undefined): QuoteChoice => (version === undefined ? {} : { version })

export interface SourcedQuote {
  readonly quote: Quote
  /** Computed from the state in memory, or asked of the chain just now. */
  readonly source: 'memory' | 'rpc'
}

/** Quotes from memory if the exchange and its chain can be followed, else asks the chain. */
export function quoteSwap(
  swapRequest: SwapRequest,
  { network, venue, services: { quotes } }: ConnectorContext,
  at: At,
): SourcedQuote | Promise<SourcedQuote> {
  const { version } = swapRequest
  requireVersion(version, tradingOf('AMM', venue), venue.connector)
  const quoteVenue = toQuoteVenue(network, venue)
  if (!quoteVenue) return quoteAndRemember(swapRequest, venue, at)
  const quoted = quotes.quote(quoteVenue, toSwap(swapRequest), toQuoteChoice(version), at)
  if (!(quoted instanceof Promise)) return fromMemory(quoted, venue)
  return quoted.then(
    (quote) => fromMemory(quote, venue),
    (error: unknown) => {
      // The nodes answer, but do not tell what happened in the blocks.
      if (quotes.isCutOff(quoteVenue)) return quoteAndRemember(swapRequest, venue, at)
      throw error
    },
  )
}

function fromMemory(quote: Quote, { recentQuotes }: VenueEntry): SourcedQuote {
  recentQuotes.counts.memory += 1
  return { quote, source: 'memory' }
}

async function quoteAndRemember(swapRequest: SwapRequest, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const sourced = await quoteFromChain(swapRequest, venue, at)
  venue.recentQuotes.put(keyOf(swapRequest), sourced.quote)
  return sourced
}

/** Asks the exchange, at the chain's latest block. */
export async function quoteFromChain(swapRequest: SwapRequest, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const quote = await tradingOf('AMM', venue).quote(toSwap(swapRequest), toQuoteChoice(swapRequest.version), at)
  venue.recentQuotes.counts.rpc += 1
  return { quote, source: 'rpc' }
}

/** The quote that the chain gave for the same swap a moment ago. */
export const recentQuote = (swapRequest: SwapRequest, { recentQuotes }: VenueEntry) => recentQuotes.get(keyOf(swapRequest))

const keyOf = ({ base, quote, side, amountRaw, version = '' }: SwapRequest) =>
  [side, amountRaw, base.address, base.native, quote.address, quote.native, version].join()

/** @throws SluiceError INCOMPLETE_PARAMS if the connector has no such version */
export function requireVersion(version: string | undefined, { versions }: Pick<AMM, 'versions'>, connector: string): void {
  if (version === undefined || versions.includes(version)) return
  const known = versions.join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `${connector} has no version "${version}" (${known})` }])
}

/** The exchange for quotes from memory; undefined if it or its chain cannot be followed. */
export function toQuoteVenue({ chain, network, impl }: NetworkEntry, venue: VenueEntry): QuoteVenue | undefined {
  const pricing = impl.changes && venue.impl.AMM?.followed
  return pricing && { chain, network, chainImpl: impl, connector: venue.connector, pricing }
}

/** Quote per one base, for the whole amount. Rounded against the trader: up for BUY, down for SELL. */
export const swapPrice = ({ base, quote, side, amountRaw }: SwapRequest, quoteRaw: bigint) =>
  priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: amountRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down')

/** The fields that the responses of price and trade have in common. */
export function showSwap(swapRequest: SwapRequest, { amountRaw }: Quote) {
  const { base, quote } = swapRequest
  return {
    base: base.address,
    quote: quote.address,
    amount: fromRaw(swapRequest.amountRaw, base.decimals),
    rawAmount: swapRequest.amountRaw.toString(),
    expectedAmount: fromRaw(amountRaw, quote.decimals),
    price: swapPrice(swapRequest, amountRaw),
  }
}

export const priceHandlers = {
  AMMPrice: ammPrice,
  AMMEstimateGas: ammEstimateGas,
} satisfies Partial<Handlers>
