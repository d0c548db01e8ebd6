// A swap that a request asks for, and its quote by one connector: from memory, or asked of the chain.
import type { AMMPriceRequest, AMMTradeRequest } from '../../api/index.ts'
import type { AMM, At, EvmVerbs, Need, Plan, Quote, QuoteChoice, Swap, SwapTerms, Token } from '../../contracts/index.ts'
import type { MaybeAsync } from '../../contracts/plugin.ts'
import { after } from '../../base/async.ts'
import { fromRaw, priceOf } from '../../base/decimal.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import type { OneBlock } from '../../live-state/one-block.ts'
import type { QuoteVenue } from '../../live-state/quotes.ts'
import type { ConnectorContext, Services } from '../context.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { isSameAddress } from '../../base/addresses.ts'

/** A swap that a caller asks for: BUY or SELL of an exact amount of base. */
export interface SwapRequest {
  base: Token
  quote: Token
  side: AMMPriceRequest['side']
  /** Of base. */
  amountRaw: bigint
  /** Of the exchange's contracts; absent: all that it has. */
  version?: string
  /** The only one that it may pass; absent: any. */
  pool?: string
}

type SwapFields = Pick<AMMTradeRequest, 'base' | 'quote' | 'amount' | 'side' | 'version' | 'pool'>

type TokenPair = Pick<SwapRequest, 'base' | 'quote'>

/** @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
export const readSwapRequest = (fields: SwapFields, network: NetworkEntry, at: At): SwapRequest | Promise<SwapRequest> =>
  after(readTokenPair(fields, network, at), (pair) => swapRequestOf(fields, pair, fields.amount))

/** @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
export function readTokenPair(
  fields: Pick<SwapFields, 'base' | 'quote'>,
  { tokens }: NetworkEntry,
  at: At,
): TokenPair | Promise<TokenPair> {
  const [base, quote] = [tokens.resolve(fields.base, 'base', at), tokens.resolve(fields.quote, 'quote', at)]
  if (base instanceof Promise || quote instanceof Promise) return Promise.all([base, quote]).then(([one, other]) => tokenPairOf(one, other))
  return tokenPairOf(base, quote)
}

function tokenPairOf(base: Token, quote: Token): TokenPair {
  if (base.address === quote.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { base, quote }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
export function swapRequestOf(
  { side, version, pool }: Pick<SwapFields, 'side' | 'version' | 'pool'>,
  { base, quote }: TokenPair,
  amount: string,
): SwapRequest {
  const swapRequest: SwapRequest = { base, quote, side, amountRaw: readPositiveRaw(amount, base, 'amount') }
  if (version !== undefined) swapRequest.version = version
  if (pool !== undefined) swapRequest.pool = pool
  return swapRequest
}

/** Frozen: plugins get it, and a quote is compared with it. */
export const toSwap = ({ base, quote, side, amountRaw }: SwapRequest): Swap =>
  Object.freeze(
    side === 'BUY'
      ? { tokenIn: quote, tokenOut: base, exact: 'out', amountRaw }
      : { tokenIn: base, tokenOut: quote, exact: 'in', amountRaw },
  )

const noChoice: QuoteChoice = Object.freeze({})

export const toQuoteChoice = (version: string | undefined, pool?: string): QuoteChoice =>
  version === undefined && pool === undefined
    ? noChoice
    : { ...(version !== undefined && { version }), ...(pool !== undefined && { pool }) }

export interface SourcedQuote {
  readonly quote: Quote
  /** `memory`: no node was asked for it. */
  readonly source: 'memory' | 'rpc'
  /** By the states in memory, and what was read beside them; else the exchange was asked at the newest block. */
  readonly isFollowed: boolean
}

export interface QuoteScope extends Pick<ConnectorContext, 'network' | 'venue'> {
  readonly services: { readonly quotes: Pick<Services['quotes'], 'quote' | 'isCutOff'> }
  /** Of which quotes from memory have to be, with others of the same request. */
  readonly block?: OneBlock
}

/** Quotes, and says in a refusal of the pair which connector that is: one that computes wrong addresses refuses every pair. */
export function quoteSwap(swapRequest: SwapRequest, scope: QuoteScope, at: At): SourcedQuote | Promise<SourcedQuote> {
  try {
    const quoted = quoteFromMemory(swapRequest, scope, at)
    return quoted instanceof Promise ? quoted.catch((error: unknown) => refuseByName(error, scope)) : quoted
  } catch (error) {
    return refuseByName(error, scope)
  }
}

function refuseByName(error: unknown, { venue }: QuoteScope): never {
  if (!(error instanceof SluiceError) || error.name !== 'PAIR_NOT_FOUND') throw error
  throw new SluiceError(error.name, `${venue.connector}: ${error.message}`, error)
}

/** Quotes from memory if the exchange and its chain can be followed, else asks the chain. */
function quoteFromMemory(
  swapRequest: SwapRequest,
  { network, venue, services: { quotes }, block }: QuoteScope,
  at: At,
): SourcedQuote | Promise<SourcedQuote> {
  const { version } = swapRequest
  requireVersion(version, tradingOf('AMM', venue), venue.connector)
  const quoteVenue = toQuoteVenue(network, venue)
  // One pool alone is asked of the chain: what is in memory is for routes over all.
  if (!quoteVenue || swapRequest.pool !== undefined) return quoteAndRemember(swapRequest, venue, at)
  const quoted = quotes.quote(quoteVenue, toSwap(swapRequest), toQuoteChoice(version), at, block)
  if (!(quoted instanceof Promise)) return followedQuote(quoted, 'memory', venue)
  return quoted.then(
    // It waited for a node.
    (quote) => followedQuote(quote, 'rpc', venue),
    (error: unknown) => {
      // The nodes answer, but do not tell what happened in the blocks.
      if (quotes.isCutOff(quoteVenue)) return quoteAndRemember(swapRequest, venue, at)
      throw error
    },
  )
}

function followedQuote(quote: Quote, source: SourcedQuote['source'], { recentQuotes }: VenueEntry): SourcedQuote {
  recentQuotes.counts[source] += 1
  return { quote, source, isFollowed: true }
}

async function quoteAndRemember(swapRequest: SwapRequest, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const sourced = await quoteFromChain(swapRequest, venue, at)
  if (!sourced.isFollowed) venue.recentQuotes.put(keyOf(swapRequest), sourced.quote)
  return sourced
}

/** Asks the exchange, at the chain's latest block; a host answers by the block that it has in memory, whose hash it knows. */
export async function quoteFromChain(swapRequest: SwapRequest, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const { version, pool } = swapRequest
  const quote = await tradingOf('AMM', venue).quote(toSwap(swapRequest), toQuoteChoice(version, pool), at)
  if (pool !== undefined && !quote.route.every((hop) => isSameAddress(hop.pool, pool)))
    throw new SluiceError('UNSUPPORTED', `${venue.connector} cannot quote by one pool alone: leave pool out.`)
  const isFollowed = venue.hosted !== undefined && quote.head.hash !== undefined
  const source = isFollowed && !quote.asked ? 'memory' : 'rpc'
  venue.recentQuotes.counts[source] += 1
  return { quote, source, isFollowed }
}

/** The plan of a swap. Where it depends on more than the quote, that is read first. */
export async function planSwap(amm: MaybeAsync<AMM>, quote: Quote, terms: Omit<SwapTerms, 'read'>, at: At): Promise<Plan> {
  const read = await amm.readForSwap?.(quote, terms, at)
  return amm.swap(quote, read === undefined ? terms : { ...terms, read })
}

/** The quote that the chain gave for the same swap a moment ago. */
export const recentQuote = (swapRequest: SwapRequest, { recentQuotes }: VenueEntry) => recentQuotes.get(keyOf(swapRequest))

const keyOf = ({ base, quote, side, amountRaw, version = '', pool = '' }: SwapRequest) =>
  [side, amountRaw, base.address, base.native, quote.address, quote.native, version, pool].join()

/** @throws SluiceError INCOMPLETE_PARAMS if the connector has no such version */
export function requireVersion(version: string | undefined, { versions }: Pick<AMM, 'versions'>, connector: string): void {
  if (version === undefined || versions.includes(version)) return
  const known = versions.join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `${connector} has no version "${version}" (${known})` }])
}

/** The exchange for quotes from memory; undefined if it or its chain cannot be followed. */
export function toQuoteVenue({ chain, network, impl }: NetworkEntry, venue: VenueEntry): QuoteVenue | undefined {
  const pricing = impl.changes && venue.impl.AMM?.followed
  return pricing && { chain, network, chainImpl: impl, connector: venue.connector, pricing, builtIn: venue.builtIn }
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

/** What the spender may take until the need ends: by Permit2, where it does so. */
export async function allowanceRaw(
  evm: EvmVerbs,
  wallet: string,
  { spender, permit2, until = 0 }: Extract<Need, { is: 'allowance' }>,
  token: Token,
  at: At,
): Promise<bigint> {
  if (permit2 === undefined || !evm.permit2) return (await evm.allowances(wallet, [spender], [token], at))[0]?.[0] ?? 0n
  const allowance = (await evm.permit2.allowances(wallet, permit2, [spender], [token], at))[0]?.[0]
  return allowance && allowance.expires >= until ? allowance.amountRaw : 0n
}
