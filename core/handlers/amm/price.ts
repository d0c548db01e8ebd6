// The price of a swap, by one connector or by all of a network, and the gas of a typical one.
import type { AMMPriceRequest, AMMPriceResponse } from '../../api/index.ts'
import type { At, GasTerms, Quote, TokenRisk } from '../../contracts/index.ts'
import { quoteBy } from './approved.ts'
import { after } from '../../base/async.ts'
import { formatRatio, fromRaw } from '../../base/decimal.ts'
import { badFields } from '../../base/errors.ts'
import { payerOf } from '../../base/fair-turns.ts'
import { numberOf, SecondTimes } from '../../base/second-times.ts'
import type { OneBlock } from '../../live-state/one-block.ts'
import { isOfOne, LazySignal, type ConnectorContext, type ConnectorsContext, type Handler, type Handlers } from '../context.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { effectiveSlippage, slippageBound, tradeRules } from '../slippage.ts'
import { readAddress, showGas } from '../wallets.ts'
import { priceOfEach } from './amounts.ts'
import { askConnectors, refuseChoice, showCandidates, showChoice } from './any.ts'
import { requireAny } from './ask-each.ts'
import { keptBest } from './kept-best.ts'
import {
  allowanceRaw,
  planSwap,
  quoteSwap,
  readTokenPair,
  showSwap,
  swapPrice,
  swapRequestOf,
  type SourcedQuote,
  type SwapRequest,
} from './quote.ts'
import { shownWarning, warningsOf } from './token-warnings.ts'

/** A request for a price, for each of its amounts the same but for the wallet. */
interface PriceQuestion {
  readonly request: AMMPriceRequest
  readonly at: At
  /** A token is on no list, so that a node was asked for it. */
  readonly asksToken: boolean
  /** Whose allowance the answer tells. */
  readonly wallet: string | undefined
}

/** Makes no promise if the quote comes from memory: see `after`. */
const ammPrice: Handler<'AMMPrice'> = (request, context) => {
  refuseChoice(request)
  const { amount, amounts } = request
  const at = new LazySignal(context)
  let known: ReturnType<typeof readTokenPair> | undefined
  let warned: ReturnType<typeof warningsOf> | undefined
  const priceOf = (each: string, block?: OneBlock, isAnswer = true) => {
    const wallet = isAnswer && request.address !== undefined ? readAddress(context.network, request.address) : undefined
    const tokens = (known ??= readTokenPair(request, context.network, at))
    const question = { request, at, wallet, asksToken: tokens instanceof Promise }
    return after(tokens, (pair) => {
      const swap = swapRequestOf(request, pair, each)
      const priced = () => (isOfOne(context) ? priceOne(swap, question, context, block) : priceOfBest(swap, question, context, block))
      if (!context.network.impl.warnings) return priced()
      const ofWallet = request.address === undefined ? undefined : readAddress(context.network, request.address)
      return withWarnings((warned ??= warningsOf(pair, ofWallet, context.network, at)), priced)
    })
  }
  const { turns } = context.services
  const nextTurn = () => (turns.isOver() ? turns.next(payerOf(context.signal)) : undefined)
  if (amounts !== undefined) return priceOfEach({ amount, amounts }, priceOf, nextTurn)
  if (amount === undefined)
    throw badFields([{ field: 'amount', problem: 'is required: a decimal string such as "1.5", or amounts: a list of them' }])
  return priceOf(amount)
}

type PriceAnswer = Omit<AMMPriceResponse, 'network' | 'timestamp' | 'latency' | 'quotes'>

/** With what others may do to the tokens. Where a node was asked for that, it is asked for the price meanwhile. */
function withWarnings(
  warned: ReturnType<typeof warningsOf>,
  priced: () => PriceAnswer | Promise<PriceAnswer>,
): PriceAnswer | Promise<PriceAnswer> {
  const show = (found: readonly TokenRisk[]) => (found.length === 0 ? {} : { warnings: found.map(shownWarning) })
  if (warned instanceof Promise) {
    const both = Promise.all([warned, (async () => priced())()])
    return both.then(([found, shown]) => ({ ...shown, ...show(found), source: 'rpc' }))
  }
  return warned === undefined || warned.length === 0 ? priced() : after(priced(), (shown) => ({ ...shown, ...show(warned) }))
}

function priceOne(
  swapRequest: SwapRequest,
  { request, at, asksToken, wallet }: PriceQuestion,
  context: ConnectorContext,
  block: OneBlock | undefined,
) {
  const { network, venue, services } = context
  return after(quoteSwap(swapRequest, block ? { network, venue, services, block } : context, at), (sourced) => {
    const { quote } = sourced
    const boundRaw = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
    const gasTerms = network.impl.gas(quote.gasUnits, quote.head, at)
    const hasAsked = asksToken || gasTerms instanceof Promise || wallet !== undefined
    const shown: SourcedQuote = hasAsked ? { ...sourced, source: 'rpc' } : sourced
    if (wallet === undefined) return after(gasTerms, (gas) => cachedResponse(swapRequest, shown, boundRaw, gas, network))
    return Promise.all([gasTerms, ofWallet(wallet, quote, boundRaw, network, venue, at)]).then(([gas, own]) => ({
      ...responseOf(swapRequest, shown, boundRaw, gas, network),
      ...own,
    }))
  })
}

function priceOfBest(
  swap: SwapRequest,
  { request, at, asksToken, wallet }: PriceQuestion,
  { network, services }: ConnectorsContext,
  block: OneBlock | undefined,
) {
  const scope = { network, services, ...(block && { block }) }
  const { connectors, allowedSlippage, candidates: isAll = false } = request
  const asking = { swap, connectors, allowedSlippage, onlyBest: !isAll, ...(wallet !== undefined && { wallet }) }
  const make = () =>
    after(askConnectors(asking, scope, at), (asked) => {
      const { candidates, leftOut } = asked
      const [best] = candidates
      const source = asksToken ? 'rpc' : asked.source
      // What is added to a spread's copy makes a hidden class for each object: see `replaced` in field-reader.ts.
      const shown = Object.assign(
        responseOf(swap, { ...best.sourced, source }, best.boundRaw, best.gas, network),
        showChoice(best, leftOut, swap, isAll),
        isAll && { candidates: showCandidates(candidates, swap, network) },
      )
      return { asked: { ...asked, source }, shown }
    })
  if (wallet === undefined && !isAll && !block) return keptBest(questionOf(swap, connectors, allowedSlippage), scope, at, make)
  return after(make(), ({ asked: { candidates }, shown }) => {
    const [best] = candidates
    if (wallet === undefined) return shown
    const own = ofWallet(wallet, best.sourced.quote, best.boundRaw, network, best.venue, at)
    return own.then((each) => ({ ...shown, ...each }))
  })
}

/** Without commas: names of connectors have none. */
const questionOf = (
  { base, quote, side, amountRaw, version = '', pool = '' }: SwapRequest,
  connectors: readonly string[] | undefined,
  slippage = '',
): string => `${side} ${amountRaw} ${base.address} ${quote.address} ${version} ${pool} ${slippage} ${connectors?.join() ?? '*'}`

interface KnownResponse {
  readonly quote: Quote
  readonly boundRaw: bigint
  readonly gas: GasTerms
  readonly response: Readonly<ReturnType<typeof responseOf>>
}

/** By the last bits of the amount. */
const slotBits = 9
const knownResponses: (KnownResponse | undefined)[] = Array.from({ length: 2 ** slotBits })
const seenAmounts = new SecondTimes()

/** A quote that is kept in memory is the same object until a block changes it, so the same question gets the same response. */
function cachedResponse(swapRequest: SwapRequest, sourced: SourcedQuote, boundRaw: bigint, gas: GasTerms, network: NetworkEntry) {
  const { quote } = sourced
  const slot = Number(BigInt.asUintN(slotBits, quote.amountRaw))
  const known = knownResponses[slot]
  const { gasPriceRaw, gasCostRaw } = gas
  const isKnown = known?.quote === quote && known.response.source === sourced.source
  if (isKnown && known.boundRaw === boundRaw && known.gas.gasPriceRaw === gasPriceRaw && known.gas.gasCostRaw === gasCostRaw)
    return known.response
  // Most quotes are asked for only once: a response is kept from the second time on.
  if (!seenAmounts.isSecond(numberOf(quote.amountRaw))) return responseOf(swapRequest, sourced, boundRaw, gas, network)
  const response = Object.freeze(responseOf(swapRequest, sourced, boundRaw, gas, network))
  knownResponses[slot] = { quote, boundRaw, gas, response }
  return response
}

function responseOf(swapRequest: SwapRequest, { quote, source }: SourcedQuote, boundRaw: bigint, gas: GasTerms, network: NetworkEntry) {
  const { base, quote: other, amount, rawAmount, expectedAmount, price } = showSwap(swapRequest, quote)
  const { gasPrice, gasPriceToken, gasLimit, gasCost } = showGas(gas, network)
  // Without spreads, of which V8 copies each field by its name.
  return {
    priceImpact: priceImpact(quote),
    route: [...quote.route],
    blockNumber: Number(quote.head.number),
    source,
    slippagePrice: swapPrice(swapRequest, boundRaw),
    base,
    quote: other,
    amount,
    rawAmount,
    expectedAmount,
    price,
    gasPrice,
    gasPriceToken,
    gasLimit,
    gasCost,
  }
}

/** What the answer says of a wallet: whether it allows the exchange the largest amount that this swap may take, and what new accounts of it would keep. */
async function ofWallet(
  wallet: string,
  quote: Quote,
  boundRaw: bigint,
  network: NetworkEntry,
  venue: VenueEntry,
  at: At,
): Promise<Pick<AMMPriceResponse, 'allowance' | 'rent'>> {
  const { impl } = network
  if (impl.evm) {
    const allowance = await allowanceOf(wallet, quote, boundRaw, network, venue, at)
    return allowance ? { allowance } : {}
  }
  // What a wallet signs for moves its tokens.
  const allowance = { spender: quote.spender, sufficient: true }
  const { ttlSeconds } = tradeRules(venue.config, quote.route)
  const terms = { recipient: wallet, boundRaw, deadline: quote.head.timestamp + ttlSeconds }
  const { steps } = await planSwap(tradingOf('AMM', venue), quote, terms, at)
  const rents = steps.flatMap((step) => impl.rail.outline(step).rentRaw ?? [])
  if (rents.length === 0) return { allowance }
  const rentRaw = rents.reduce((sum, each) => sum + each, 0n)
  return { allowance, rent: fromRaw(rentRaw, impl.nativeCurrency.decimals) }
}

async function allowanceOf(
  wallet: string,
  quote: Quote,
  boundRaw: bigint,
  { impl, tokens }: NetworkEntry,
  venue: VenueEntry,
  at: At,
): Promise<AMMPriceResponse['allowance']> {
  if (!impl.evm) return undefined
  const { ttlSeconds } = tradeRules(venue.config, quote.route)
  const deadline = quote.head.timestamp + ttlSeconds
  let preferred: AMMPriceResponse['allowance']
  for (const spender of [quote.spender, ...(quote.otherSpenders ?? [])]) {
    const plan = await planSwap(tradingOf('AMM', venue), quoteBy(quote, spender), { recipient: wallet, boundRaw, deadline }, at)
    const need = plan.needs.find((each) => each.is === 'allowance')
    if (!need) return { spender, sufficient: true }
    const token = await tokens.resolve(need.token, 'token', at)
    const sufficient = (await allowanceRaw(impl.evm, wallet, need, token, at)) >= need.amountRaw
    preferred ??= { spender: need.spender, sufficient }
    if (sufficient) return { spender: need.spender, sufficient }
  }
  return preferred
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

const ammEstimateGas: Handler<'AMMEstimateGas'> = async (_request, context) => {
  const { network, venue, signal } = context
  if (venue) tradingOf('AMM', venue)
  else requireAny(context)
  return showGas(await network.impl.gas(typicalSwapGas, undefined, { signal }), network)
}

export const priceHandlers = {
  AMMPrice: ammPrice,
  AMMEstimateGas: ammEstimateGas,
} satisfies Partial<Handlers>
