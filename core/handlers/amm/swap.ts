// Swaps through pools: their price, their gas, and the trade.
import type { AMMPriceRequest, AMMPriceResponse, AMMTradeRequest } from '../../api/index.ts'
import type { AMM, At, Chain, EvmVerbs, GasTerms, Need, Plan, Quote, QuoteChoice, Swap, Token, Fill, Json } from '../../contracts/index.ts'
import { formatRatio, fromRaw, priceOf, valueAt } from '../../decimal.ts'
import { badFields, SluiceError } from '../../errors.ts'
import type { QuoteVenue } from '../../live-state/quotes.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import { after, LazySignal, type ConnectorContext, type Handler, type Handlers } from '../context.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { swapBounds } from '../outcome.ts'
import { hasAmount, priceOfEach, type WithAmount } from './amounts.ts'
import { readReference, requireReference } from './reference.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../registry.ts'
import { effectiveSlippage, slippageBound, tradeRules, deadlineAfter, tighterBound } from '../slippage.ts'
import { readAddress, showGas, submit, readWallet } from '../wallets.ts'

/** Makes no promise if the quote comes from memory: see `after`. */
const ammPrice: Handler<'AMMPrice'> = (request, context) => {
  if (request.amounts !== undefined) return priceOfEach(request.amounts, request, (each) => priceOne(each, context))
  if (!hasAmount(request))
    throw badFields([{ field: 'amount', problem: 'is required: a decimal string such as "1.5", or amounts: a list of them' }])
  return priceOne(request, context)
}

function priceOne(request: WithAmount, context: ConnectorContext) {
  const { network, venue } = context
  const at = new LazySignal(context)
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

interface KnownResponse {
  readonly quote: Quote
  readonly boundRaw: bigint
  readonly gas: GasTerms
  readonly response: Readonly<ReturnType<typeof responseOf>>
}

/** By the last bits of the amount. */
const slotBits = 9
const knownResponses: (KnownResponse | undefined)[] = Array.from({ length: 2 ** slotBits })
const lastQuotes: (Quote | undefined)[] = Array.from({ length: 2 ** slotBits })

/** A quote that is kept in memory is the same object until a block changes it, so the same question gets the same response. */
function cachedResponse(swapRequest: SwapRequest, sourced: SourcedQuote, boundRaw: bigint, gas: GasTerms, network: NetworkEntry) {
  const { quote } = sourced
  const slot = Number(BigInt.asUintN(slotBits, quote.amountRaw))
  const known = knownResponses[slot]
  const { gasPriceRaw, gasCostRaw } = gas
  if (known?.quote === quote && known.boundRaw === boundRaw && known.gas.gasPriceRaw === gasPriceRaw && known.gas.gasCostRaw === gasCostRaw)
    return known.response
  // Most quotes are asked for only once: a response is kept from the second time on.
  if (lastQuotes[slot] !== quote) {
    lastQuotes[slot] = quote
    return responseOf(swapRequest, sourced, boundRaw, gas, network)
  }
  const response = Object.freeze(responseOf(swapRequest, sourced, boundRaw, gas, network))
  knownResponses[slot] = { quote, boundRaw, gas, response }
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
  const deadline = quote.head.timestamp + ttlSeconds
  const plan: Plan = await tradingOf('AMM', venue).swap(quote, { recipient: wallet, boundRaw, deadline })
  for (const need of plan.needs) {
    if (need.is !== 'allowance' || !impl.evm) continue
    const token = await tokens.resolve(need.token, 'token', at)
    return { spender: need.spender, sufficient: (await allowanceRaw(impl.evm, wallet, need, token, at)) >= need.amountRaw }
  }
  return { spender: quote.spender, sufficient: true }
}

/** What the spender may take until the need ends: by Permit2, where it does so. */
async function allowanceRaw(
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

/**
 * The part of the input's value that the swap loses against the pools' marginal price, fees included: 1 − output / (input × marginal price), as
 * `computePriceImpact` of @uniswap/sdk-core has it for both sides. For an exact output the input is compared with what it would be at that
 * price. Rounded up; never below 0.
 */
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

const ammTrade: Handler<'AMMTrade'> = async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  const wallet = readWallet(request, context)
  const swapRequest = await readSwapRequest(request, network, at)
  const ageSeconds = ({ head }: Quote) => services.following.ageSeconds(network, head)
  // Asked for beside the trade's own quote.
  const reference =
    venue.contained && request.limitPrice === undefined
      ? readReference(context, async (each, within) => {
          const { version: _, ...unversioned } = swapRequest
          return (await quoteSwap(unversioned, { network, venue: each, services }, within)).quote
        })
      : undefined

  /**
   * @param precondition is checked beside the plan, and must hold before anything is signed
   * @param better a quote whose slippage bounds the trade
   */
  async function tradeOn({ quote, source }: SourcedQuote, precondition?: () => Promise<void>, better: Quote = quote) {
    const slippage = effectiveSlippage(venue.config, better.route, request.allowedSlippage)
    const slippageRaw = slippageBound(better, slippage)
    if (reference) {
      const bound = { swap: quote.swap, amountRaw: slippageRaw }
      requireReference(bound, await reference, { ...network, ...venue }, (amountRaw) => swapPrice(swapRequest, amountRaw))
    }
    const limitRaw = limitOf(swapRequest, request.limitPrice)
    const boundRaw = tighterBound(quote, slippageRaw, limitRaw, swapPrice(swapRequest, quote.amountRaw))
    const deadline = deadlineAfter(quote.head, tradeRules(venue.config, quote.route).ttlSeconds, ageSeconds(quote))
    const plan = await tradingOf('AMM', venue).swap(quote, { recipient: wallet.address, boundRaw, deadline })
    // Computed before anything is sent: a plugin's quote that cannot be shown must not become an error about a trade that was sent.
    const shown = {
      ...showSwap(swapRequest, quote),
      limitPrice: swapPrice(swapRequest, boundRaw),
      // Absent if the exchange's contracts take no deadline.
      ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    }
    const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
    // By the same blocks as the quote.
    const checkFromCache = () =>
      services.walletChecks.checkFromCache({ ...network, chainImpl: network.impl }, plan, wallet.address, wallet.feeOverrides)
    const submission = {
      ...context,
      ...wallet,
      plan,
      scope: { contracts: venue.contracts, valueRaw: maxValueRaw(swapRequest, boundRaw), deadline },
      kind: 'trade' as const,
      about: aboutTrade(swapRequest, venue.contained && movesOf(swapRequest, plan, network)),
      answer,
      precondition,
      ...(source === 'memory' && { checkFromCache }),
    }
    const bounds = swapBounds(toSwap(swapRequest), { quotedRaw: quote.amountRaw, boundRaw, slippage })
    return answer(await submit(submission, context, bounds))
  }

  const last = recentQuote(swapRequest, venue)
  // The deadline counts from the quote's block: a quote is used if its age takes at most a tenth of the ttl.
  if (last && ageSeconds(last) * 10 <= tradeRules(venue.config, last.route).ttlSeconds) {
    try {
      return await tradeOnLast(last)
    } catch (error) {
      const approved = await quoteOfApproved(last, error)
      if (!approved) throw error
      return tradeOn(approved, undefined, last)
    }
  }
  const quoted = await quoteSwap(swapRequest, context, at)
  try {
    return await tradeOn(quoted)
  } catch (error) {
    const approved = await quoteOfApproved(quoted.quote, error)
    if (approved) return tradeOn(approved, undefined, quoted.quote)
    // There may be a new block that is not in memory yet.
    if (quoted.source === 'rpc' || !isRefused(error)) throw error
    return tradeOn(await quoteFromChain(swapRequest, venue, at))
  }

  /**
   * The best quote by what is approved, where the best of all needs a contract that the wallet has not approved: an exchange gets further
   * contracts, and wallets go on with those that they know. Undefined where the quote is worse than the slippage of the best allows.
   */
  async function quoteOfApproved(best: Quote, error: unknown): Promise<SourcedQuote | undefined> {
    if (!isUnapproved(error) || swapRequest.version !== undefined || best.swap.tokenIn.native || !network.impl.evm) return undefined
    const others = new Set(Object.values(venue.impl.spenders ?? {}).filter((each) => each !== best.spender))
    const needed = best.swap.exact === 'in' ? best.swap.amountRaw : best.amountRaw
    const spenders: string[] = []
    for (const spender of others) {
      const permit2 = venue.impl.permit2?.spenders.includes(spender) ? { permit2: venue.impl.permit2.address } : {}
      const need = { is: 'allowance' as const, token: best.swap.tokenIn.address, spender, amountRaw: needed, ...permit2 }
      if ((await allowanceRaw(network.impl.evm, wallet.address, need, best.swap.tokenIn, at)) >= needed) spenders.push(spender)
    }
    if (spenders.length === 0) return undefined
    const quote = await Promise.resolve(tradingOf('AMM', venue).quote(toSwap(swapRequest), { spenders }, at)).catch(() => undefined)
    if (!quote || !spenders.includes(quote.spender)) return undefined
    const boundRaw = slippageBound(best, effectiveSlippage(venue.config, best.route, request.allowedSlippage))
    const isWithin = best.swap.exact === 'in' ? quote.amountRaw >= boundRaw : quote.amountRaw <= boundRaw
    return isWithin ? { quote, source: 'rpc' } : undefined
  }

  /**
   * Saves a round trip if the price has not moved since the caller asked for it: the plan is checked while the price is asked for again.
   */
  async function tradeOnLast(last: Quote) {
    const fresh = quoteFromChain(swapRequest, venue, at)
    const hasMoved = fresh.then(({ quote }) => !isSameQuote(last, quote))
    try {
      return await tradeOn({ quote: last, source: 'rpc' }, async () => {
        if (await hasMoved) throw new Error('The price has moved: the plan must not be signed.')
      })
    } catch (error) {
      // Even if the price is the same, an exchange may refuse the old plan: the chain's clock may have passed its deadline.
      if ((await hasMoved) || isRefused(error)) return tradeOn(await fresh)
      throw error
    }
  }
}

/** Whether two quotes, perhaps of different blocks, have the same amount and route. */
const isSameQuote = (one: Quote, other: Quote) =>
  one.amountRaw === other.amountRaw && one.spender === other.spender && JSON.stringify(one.route) === JSON.stringify(other.route)

const isUnapproved = (error: unknown) => error instanceof SluiceError && error.name === 'INSUFFICIENT_ALLOWANCE'

/** By the check, before anything was signed. */
const isRefused = (error: unknown) => error instanceof SluiceError && error.name === 'TRADE_FAILED'

/** The largest amount of the native coin that the swap may take. */
function maxValueRaw(swapRequest: SwapRequest, boundRaw: bigint): bigint {
  const { tokenIn, exact, amountRaw } = toSwap(swapRequest)
  if (!tokenIn.native) return 0n
  return exact === 'in' ? amountRaw : boundRaw
}

/** The limit in the quote's smallest units: at most this much for a BUY, at least this much for a SELL. */
function limitOf({ base, quote, side, amountRaw }: SwapRequest, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: amountRaw, decimals: base.decimals }, quote.decimals, side === 'BUY' ? 'down' : 'up')
}

/** What the journal keeps of a trade, in `about`, to show its fill in the caller's terms. */
interface AboutTrade {
  side: 'BUY' | 'SELL'
  base: { symbol: string; decimals: number }
  quote: { symbol: string; decimals: number }
  /** Where the fill is read from events. Absent in entries of earlier versions. */
  moves?: {
    /** Addresses. */
    in: string
    out: string
    /** Of the native coin with the transaction. */
    sentRaw: string
  }
}

const aboutTrade = ({ side, base, quote }: SwapRequest, moves: AboutTrade['moves']): Json => ({
  side,
  base: { symbol: base.symbol, decimals: base.decimals },
  quote: { symbol: quote.symbol, decimals: quote.decimals },
  ...(moves && { moves }),
})

/** What a trade moves by its plan. A final entry has no steps any more. */
function movesOf(swapRequest: SwapRequest, { steps }: Pick<Plan, 'steps'>, { impl }: NetworkEntry): AboutTrade['moves'] {
  const { tokenIn, tokenOut } = toSwap(swapRequest)
  const sentRaw = steps.reduce((sum, step) => sum + impl.rail.outline(step).valueRaw, 0n)
  return { in: tokenIn.address, out: tokenOut.address, sentRaw: sentRaw.toString() }
}

/**
 * The fill of a trade by the events of its transaction, for connectors whose word is not taken. Undefined where they do not tell both amounts.
 * @param about from `aboutTrade`
 */
export function readTradeFill(receipt: Json, about: Json, wallet: string, { evm }: Pick<Chain, 'evm'>): Fill | undefined {
  const { moves } = about as unknown as AboutTrade
  const moved = moves && evm?.moved?.(receipt, BigInt(moves.sentRaw), wallet)
  if (!moved) return undefined
  const fill = { amountInRaw: -(moved.get(moves.in) ?? 0n), amountOutRaw: moved.get(moves.out) ?? 0n }
  return fill.amountInRaw > 0n && fill.amountOutRaw > 0n ? fill : undefined
}

/** @param about from `aboutTrade`: this server wrote the journal, and the entry's `kind` tells which `about` it has */
export function showTradeFill(fill: Fill, about: Json) {
  const { side, base, quote } = about as unknown as AboutTrade
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
    amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
    price: priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down'),
  }
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

type SwapFields = Pick<AMMTradeRequest, 'base' | 'quote' | 'amount' | 'side' | 'version'>

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

/** Frozen: plugins get it, and a quote is compared with it. */
export const toSwap = ({ base, quote, side, amountRaw }: SwapRequest): Swap =>
  Object.freeze(
    side === 'BUY'
      ? { tokenIn: quote, tokenOut: base, exact: 'out', amountRaw }
      : { tokenIn: base, tokenOut: quote, exact: 'in', amountRaw },
  )

export const toQuoteChoice = (version: string | undefined): QuoteChoice => (version === undefined ? {} : { version })

interface SourcedQuote {
  readonly quote: Quote
  /** Computed from the state in memory, or asked of the chain just now. */
  readonly source: 'memory' | 'rpc'
}

type QuoteScope = Pick<ConnectorContext, 'network' | 'venue' | 'services'>

/** Quotes, and says in a refusal of the pair which connector that is: one that computes wrong addresses refuses every pair. */
function quoteSwap(swapRequest: SwapRequest, scope: QuoteScope, at: At): SourcedQuote | Promise<SourcedQuote> {
  const named = (error: unknown): never => {
    if (!(error instanceof SluiceError) || error.name !== 'PAIR_NOT_FOUND') throw error
    throw new SluiceError(error.name, `${scope.venue.connector}: ${error.message}`, error)
  }
  try {
    const quoted = quoteFromMemory(swapRequest, scope, at)
    return quoted instanceof Promise ? quoted.catch(named) : quoted
  } catch (error) {
    return named(error)
  }
}

/** Quotes from memory if the exchange and its chain can be followed, else asks the chain. */
function quoteFromMemory(
  swapRequest: SwapRequest,
  { network, venue, services: { quotes } }: QuoteScope,
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
  if (sourced.source === 'rpc') venue.recentQuotes.put(keyOf(swapRequest), sourced.quote)
  return sourced
}

/** Asks the exchange, at the chain's latest block; a host answers by the block that it has in memory, whose hash it knows. */
async function quoteFromChain(swapRequest: SwapRequest, venue: VenueEntry, at: At): Promise<SourcedQuote> {
  const quote = await tradingOf('AMM', venue).quote(toSwap(swapRequest), toQuoteChoice(swapRequest.version), at)
  const source = venue.hosted && quote.head.hash !== undefined ? 'memory' : 'rpc'
  venue.recentQuotes.counts[source] += 1
  return { quote, source }
}

/** The quote that the chain gave for the same swap a moment ago. */
const recentQuote = (swapRequest: SwapRequest, { recentQuotes }: VenueEntry) => recentQuotes.get(keyOf(swapRequest))

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
function showSwap(swapRequest: SwapRequest, { amountRaw }: Quote) {
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

export const swapHandlers = {
  AMMPrice: ammPrice,
  AMMEstimateGas: ammEstimateGas,
  AMMTrade: ammTrade,
} satisfies Partial<Handlers>
