// The trade of a swap, by one connector or by the best of a network, and its fill.
import type { AMMTradeRequest } from '../../api/index.ts'
import type { At, Chain, Fill, Json, Plan, Quote, Token } from '../../contracts/index.ts'
import { fromRaw, isLess, priceOf, valueAt } from '../../base/decimal.ts'
import { isObject } from '../../base/json.ts'
import { isTrouble, SluiceError, type FieldProblem } from '../../base/errors.ts'
import { checkRelays, type SubmitRequest, type SubmitResult } from '../../transactions/submit-request.ts'
import { maxPermitSeconds } from '../../contracts/permit2.ts'
import { heldAgainstMarket } from '../market-check.ts'
import type { Footprint } from '../../transactions/budgets.ts'
import { touchedPools, touchedTokens, touchedVenue } from '../touches.ts'
import { isOfOne, type ConnectorContext, type ConnectorsContext, type Handler, type Handlers } from '../context.ts'
import { swapBounds } from '../outcome.ts'
import { tradingOf, type NetworkEntry } from '../../plugins/index.ts'
import { readAllowances } from '../evm.ts'
import { permit2On } from '../spenders.ts'
import { deadlineAfter, effectiveSlippage, slippageBound, tighterBound, tradeRules, type Slippage } from '../slippage.ts'
import { readWallet, showGas, submit, type SigningWallet } from '../wallets.ts'
import { askConnectors, refuseChoice, showChoice } from './any.ts'
import { lackingApprovals } from './approvals-lacked.ts'
import type { LeftOutConnector } from './ask-each.ts'
import { byWhatIsLeft, type Candidate, type Candidates } from './candidates.ts'
import { costOf, type CoinRate } from './coin-rate.ts'
import { quoteBy } from './approved.ts'
import {
  quoteFromChain,
  planSwap,
  quoteSwap,
  readSwapRequest,
  recentQuote,
  showSwap,
  swapPrice,
  toSwap,
  type SourcedQuote,
  type SwapRequest,
} from './quote.ts'
import { readReference, requireReference } from './reference.ts'
import { refuseWarned } from './token-warnings.ts'

interface Trade {
  readonly request: AMMTradeRequest
  readonly swapRequest: SwapRequest
  readonly wallet: SigningWallet
  readonly at: At
}

const ammTrade: Handler<'AMMTrade'> = async (request, context) => {
  refuseChoice(request)
  const { network, signal } = context
  const at = { signal }
  const wallet = readWallet(request, context)
  if (request.privateOnly) checkRelays(network)
  const swapRequest = await readSwapRequest(request, network, at)
  await refuseWarned(swapRequest, wallet.address, network, at)
  const trade: Trade = { request, swapRequest, wallet, at }
  return isOfOne(context) ? tradeOnOne(trade, context) : tradeOnBest(trade, context)
}

/** The bound of a trade. */
interface Bound {
  readonly slippage: Slippage
  readonly slippageRaw: bigint
}

interface TradeOptions {
  /** Is checked beside the plan, and must hold before anything is signed. */
  readonly precondition?: (() => Promise<void>) | undefined
  /** Absent: by the quote itself. */
  readonly bound?: Bound | undefined
  /** Further fields of the answer. */
  readonly choice?: object
  /** What several connectors were asked for. */
  readonly compared?: ComparedPrices | undefined
}

interface ComparedPrices {
  /** The best price of those that were asked. */
  readonly bestPrice: string
  /** What the native coin is worth in the quote token. */
  readonly rate: CoinRate | undefined
}

const boundOf = ({ venue }: Pick<ConnectorContext, 'venue'>, quote: Quote, { request }: Trade): Bound => {
  const slippage = effectiveSlippage(venue.config, quote.route, request.allowedSlippage)
  return { slippage, slippageRaw: slippageBound(quote, slippage) }
}

/** A bound that comes from another quote is never looser than what the connector allows for this one. */
function withinOwn(given: Bound, quote: Quote, { config }: ConnectorContext['venue']): Bound {
  const { slippage } = tradeRules(config, quote.route)
  const own = { slippage, slippageRaw: slippageBound(quote, slippage) }
  return isWithin({ swap: quote.swap, amountRaw: given.slippageRaw }, own.slippageRaw) ? given : own
}

/** What trades of one request on one connector have in common. */
function tradesOn({ request, swapRequest, wallet, at }: Trade, context: ConnectorContext) {
  const { network, venue, services, caller } = context
  // Asked for beside the trade's own quote.
  const reference =
    venue.contained && request.limitPrice === undefined
      ? readReference(context, async (each, within) => {
          const { version: _version, pool: _pool, ...unrestricted } = swapRequest
          return (await quoteSwap(unrestricted, { network, venue: each, services }, within)).quote
        })
      : undefined
  // The trade may fail before it is asked for.
  reference?.catch(() => {})

  return async (
    { quote: preferred, source, isFollowed }: SourcedQuote,
    given: Bound,
    { precondition, choice = {}, compared }: TradeOptions = {},
  ) => {
    const quote = services.approvedSpenders.quoteBy(preferred, { network, venue, wallet: wallet.address })
    const { slippage, slippageRaw } = withinOwn(given, quote, venue)
    if (reference) {
      const bound = { swap: quote.swap, amountRaw: slippageRaw }
      requireReference(bound, await reference, { ...network, ...venue }, (amountRaw) => swapPrice(swapRequest, amountRaw))
    }
    const limitRaw = limitOf(swapRequest, request.limitPrice)
    const boundRaw = tighterBound(quote, slippageRaw, limitRaw, swapPrice(swapRequest, quote.amountRaw))
    const ageSeconds = services.following.ageSeconds(network, quote.head)
    const deadline = deadlineAfter(quote.head, tradeRules(venue.config, quote.route).ttlSeconds, ageSeconds)
    const { tokenIn, tokenOut, exact, amountRaw } = toSwap(swapRequest)
    const touches = (): Footprint => ({
      action: 'swap',
      connectors: touchedVenue(venue),
      tokens: touchedTokens([tokenIn.address, tokenOut.address], network),
      pools: touchedPools(
        quote.route.map(({ pool }) => pool),
        venue,
      ),
      slippage,
    })
    services.allowLists.require(caller.id, touches, network)
    const plan = await planSwap(tradingOf('AMM', venue), quote, { recipient: wallet.address, boundRaw, deadline }, at)
    // Computed before anything is sent: a plugin's quote that cannot be shown must not become an error about a trade that was sent.
    const shown = {
      ...showSwap(swapRequest, quote),
      limitPrice: swapPrice(swapRequest, boundRaw),
      // Absent if the exchange's contracts take no deadline.
      ...(plan.deadline !== undefined && { deadline: plan.deadline }),
      ...choice,
    }
    const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
    // By the same blocks as the quote.
    const checkFromCache = () =>
      services.walletChecks.checkFromCache({ ...network, chainImpl: network.impl }, plan, wallet.address, wallet.feeOverrides)
    const [givenRaw, gotRaw] = exact === 'in' ? [amountRaw, boundRaw] : [boundRaw, amountRaw]
    const commitment = heldAgainstMarket({ gives: { [tokenIn.address]: givenRaw }, gets: { [tokenOut.address]: gotRaw } }, context)
    const submission = {
      ...context,
      ...wallet,
      commitment,
      touches,
      plan,
      scope: { contracts: venue.contracts, valueRaw: maxValueRaw(swapRequest, boundRaw), deadline },
      kind: 'trade' as const,
      about: aboutTrade(swapRequest, network, venue.contained && movesOf(swapRequest, plan, network)),
      quote: quotedBy({ quote, source, compared }, swapRequest, context),
      answer,
      precondition,
      ...permitOf(quote, deadline, context),
      ...(request.privateOnly && { privateOnly: true as const }),
      ...(isFollowed && { checkFromCache }),
    }
    const acceptedRaw = acceptedOf(swapRequest, request.limitPrice)
    const bounds = swapBounds(toSwap(swapRequest), { quotedRaw: quote.amountRaw, boundRaw, slippage, acceptedRaw })
    return answer(await submit(submission, context, bounds))
  }
}

/**
 * Where the operator has permits signed (`signedPermits`), and the exchange is of this release: how the trade takes one in place of an allowance.
 * None is signed that ends later than the signer allows.
 */
function permitOf({ swap: { tokenIn } }: Quote, deadline: number, { venue, network }: ConnectorContext): Pick<SubmitRequest, 'permit'> {
  const { builtIn, config, impl } = venue
  const withPermit = impl.permit2?.withPermit
  const isNear = deadline <= Math.floor(Date.now() / 1000) + maxPermitSeconds
  if (!builtIn || !withPermit || !isNear || tokenIn.native || !network.impl.rail.permits || !signsPermits(config)) return {}
  return { permit: { withPermit, decimals: tokenIn.decimals } }
}

const signsPermits = (config: object): boolean => 'signedPermits' in config && config.signedPermits === true

async function tradeOnOne(trade: Trade, context: ConnectorContext) {
  const { swapRequest, at } = trade
  const { network, venue, services } = context
  const tradeBy = tradesOn(trade, context)
  const tradeOn = (sourced: SourcedQuote, { bound = boundOf(context, sourced.quote, trade), ...options }: TradeOptions = {}) =>
    tradeBy(sourced, bound, options)

  const last = recentQuote(swapRequest, venue)
  // The deadline counts from the quote's block: a quote is used if its age takes at most a tenth of the ttl.
  if (last && services.following.ageSeconds(network, last.head) * 10 <= tradeRules(venue.config, last.route).ttlSeconds) {
    try {
      return await tradeOnLast(last)
    } catch (error) {
      const approved = await approvedInstead({ quote: last, source: 'rpc', isFollowed: false }, error)
      if (!approved) throw error
      return tradeOn(approved, { bound: boundOf(context, last, trade) })
    }
  }
  const quoted = await quoteSwap(swapRequest, context, at)
  try {
    return await tradeOn(quoted)
  } catch (error) {
    const approved = await approvedInstead(quoted, error)
    if (approved) return tradeOn(approved, { bound: boundOf(context, quoted.quote, trade) })
    // There may be a new block that is not in memory yet.
    if (!quoted.isFollowed || !isRefused(error)) throw error
    return tradeOn(await quoteFromChain(swapRequest, venue, at))
  }

  /** Exchanges get further contracts, and wallets go on with those that they have approved. */
  async function approvedInstead({ quote: best, source, isFollowed }: SourcedQuote, error: unknown): Promise<SourcedQuote | undefined> {
    if (!isUnapproved(error) || best.swap.tokenIn.native || !network.impl.evm) return undefined
    const needed = best.swap.exact === 'in' ? best.swap.amountRaw : boundOf(context, best, trade).slippageRaw
    const permit2 = permit2On(network, services.registry)
    const known = [...new Set([...Object.values(venue.impl.spenders ?? {}), best.spender])]
    const asked = { addresses: known, permit2: new Map([...permit2].filter(([each]) => known.includes(each))) }
    const { tokenIn } = best.swap
    const [plain, byPermit2] = await readAllowances(network.impl.evm, trade.wallet.address, asked, [tokenIn], at)
    const isApproved = (spender: string) => (byPermit2.get(spender)?.[0]?.amountRaw ?? plain.get(spender)?.[0] ?? 0n) >= needed
    const spenders = known.filter(isApproved)
    const same = [best.spender, ...(best.otherSpenders ?? [])].find((each) => spenders.includes(each))
    if (same === undefined) return quoteBySpenders(trade, context, best, spenders)
    const quote = quoteBy(best, same)
    services.approvedSpenders.remember(quote, { network, venue, wallet: trade.wallet.address })
    return { quote, source, isFollowed }
  }

  /**
   * Saves a round trip if the price has not moved since the caller asked for it: the plan is checked while the price is asked for again.
   */
  async function tradeOnLast(quote: Quote) {
    const fresh = quoteFromChain(swapRequest, venue, at)
    const hasMoved = fresh.then((each) => !isSameQuote(quote, each.quote))
    // The node may refuse it before the plan is there that waits for it.
    hasMoved.catch(() => {})
    const precondition = async () => {
      if (await hasMoved) throw new Error('The price has moved: the plan must not be signed.')
    }
    try {
      return await tradeOn({ quote, source: 'rpc', isFollowed: false }, { precondition })
    } catch (error) {
      // Even if the price is the same, an exchange may refuse the old plan: the chain's clock may have passed its deadline.
      if ((await hasMoved) || isRefused(error)) return tradeOn(await fresh)
      throw error
    }
  }
}

/**
 * The best quote that these spenders carry out. Undefined where there is none, or where it is worse than the slippage of the best of all allows.
 * @throws SluiceError NETWORK, RATE_LIMIT or TIMEOUT where nobody could tell
 */
async function quoteBySpenders(
  trade: Trade,
  context: ConnectorContext,
  best: Quote,
  spenders: readonly string[],
): Promise<SourcedQuote | undefined> {
  const { swapRequest, at } = trade
  if (spenders.length === 0 || swapRequest.version !== undefined || swapRequest.pool !== undefined) return undefined
  const asked = Promise.resolve(tradingOf('AMM', context.venue).quote(toSwap(swapRequest), { spenders }, at))
  const quote = await asked.catch((error: unknown) => {
    // It may have one: the wallet need not approve anything then.
    if (isTrouble(error)) throw error
    return undefined
  })
  if (!quote || !spenders.includes(quote.spender)) return undefined
  return isWithin(quote, boundOf(context, best, trade).slippageRaw) ? { quote, source: 'rpc', isFollowed: false } : undefined
}

const isWithin = ({ swap, amountRaw }: Pick<Quote, 'swap' | 'amountRaw'>, boundRaw: bigint) =>
  swap.exact === 'in' ? amountRaw >= boundRaw : amountRaw <= boundRaw

/**
 * Trades on the best connector, and where its trade fails the checks before anything is signed, on the next. Without a limit price that has to be
 * within the slippage of the best: a node's error must not send a trade to a pool that gives half. Where all fail that were in memory, the chain is asked.
 */
async function tradeOnBest(trade: Trade, context: ConnectorsContext) {
  const { request, swapRequest, wallet, at } = trade
  const asked = { swap: swapRequest, connectors: request.connectors, allowedSlippage: request.allowedSlippage, wallet: wallet.address }
  const passedOver: LeftOutConnector[] = []
  let refusal: unknown
  /** With finding out what approved contracts give. */
  let trouble: unknown
  // What is in memory may lack a new block: where all were refused, the chain is asked.
  for (const fromChain of [false, true]) {
    const answers = await askConnectors({ ...asked, fromChain }, context, at)
    const attempt = await tradeOnFirst(answers)
    if (attempt !== undefined) return attempt
    if (!passedOver.some(({ error }) => isRefused(error)) || answers.candidates.every(({ sourced }) => sourced.source === 'rpc')) break
  }
  throw isUnapproved(refusal) && trouble !== undefined ? trouble : refusal

  async function tradeOnFirst({ candidates, leftOut }: Candidates) {
    let bound: Bound | undefined
    const prices = candidates.map(({ sourced }) => swapPrice(swapRequest, sourced.quote.amountRaw))
    const bestPrice = prices.reduce((best, each) => (isLess(best, each) === (swapRequest.side === 'SELL') ? each : best))
    for (const candidate of await withApproved(candidates)) {
      const { venue, sourced, slippage, boundRaw } = candidate
      if (bound && !isWithin(sourced.quote, bound.slippageRaw)) continue
      const choice = showChoice(candidate, [...leftOut, ...passedOver], swapRequest)
      try {
        const tradeBy = tradesOn(trade, { ...context, signal: context.signal, venue })
        return await tradeBy(sourced, bound ?? { slippage, slippageRaw: boundRaw }, {
          choice,
          compared: { bestPrice, rate: candidate.rate },
        })
      } catch (error) {
        if (!isOfConnector(error)) throw error
        // Its price is within the limit: what the caller lacks is the approval, whatever worse prices others have.
        if (refusal === undefined || (isBeyondLimit(refusal) && isUnapproved(error))) refusal = error
        const known = passedOver.findIndex(({ connector }) => connector === venue.connector)
        passedOver.splice(known < 0 ? passedOver.length : known, known < 0 ? 0 : 1, { connector: venue.connector, error })
        // What a contained plugin quotes binds nobody. Nor does a trusted one whose trade would fail: it may never have been able to give that.
        const isBinding = isRefused(error) ? venue.builtIn && request.limitPrice === undefined : isUnapproved(error) && !venue.contained
        if (isBinding) bound ??= { slippage, slippageRaw: boundRaw }
      }
    }
    return undefined
  }

  /**
   * With what the connectors of those that are not approved give by contracts that are. The approved ones stand in the order of what they leave,
   * wherever one does: what one connector gives otherwise may be worse than what the next one gives.
   */
  async function withApproved(candidates: Candidates['candidates']): Promise<readonly Candidate[]> {
    if (candidates.every(({ approved }) => approved)) return candidates
    const { network, services } = context
    const lacking = await lackingApprovals(candidates, wallet.address, network, services.registry, at)
    const each = await Promise.all(
      candidates.map(async (candidate) => {
        const { venue, sourced } = candidate
        if (candidate.approved) return [candidate]
        const spenders = [...new Set(Object.values(venue.impl.spenders ?? {}))].filter((spender) => lacking(venue, spender) === 0)
        const same = sourced.quote.otherSpenders?.find((each) => spenders.includes(each))
        if (same !== undefined) return [{ ...candidate, sourced: { ...sourced, quote: quoteBy(sourced.quote, same) }, approved: true }]
        const other = await quoteBySpenders(trade, { ...context, signal: context.signal, venue }, sourced.quote, spenders).catch(
          (error: unknown) => {
            if (!isTrouble(error)) throw error
            trouble ??= error
            return undefined
          },
        )
        if (!other) return [candidate]
        const gas = await network.impl.gas(other.quote.gasUnits, other.quote.head, at)
        const costRaw = candidate.rate && costOf(gas, candidate.rate)
        return [candidate, { ...candidate, sourced: other, gas, costRaw, approved: true }]
      }),
    )
    const all = each.flat()
    const approved = all.filter((candidate) => candidate.approved).toSorted(byWhatIsLeft)
    return all.map((candidate) => (candidate.approved ? (approved.shift() ?? candidate) : candidate))
  }
}

/** Refusals that another connector may not have. They come before anything is signed. */
function isOfConnector(error: unknown): error is SluiceError {
  if (!(error instanceof SluiceError)) return false
  // A connector that is not trusted needs one.
  if (error.name === 'INCOMPLETE_PARAMS')
    return Array.isArray(error.details) && (error.details as FieldProblem[]).every(({ field }) => field === 'limitPrice')
  if (error.name === 'LIMIT_EXCEEDED') {
    const { limit } = isObject(error.details) ? error.details : {}
    return limit === 'allowed.connectors' || limit === 'allowed.pools'
  }
  return ['TRADE_FAILED', 'INSUFFICIENT_ALLOWANCE', ...limitErrors].includes(error.name)
}

/** Whether two quotes, perhaps of different blocks, have the same amount and route. */
const isSameQuote = (one: Quote, other: Quote) =>
  one.amountRaw === other.amountRaw && one.spender === other.spender && JSON.stringify(one.route) === JSON.stringify(other.route)

const isUnapproved = (error: unknown) => error instanceof SluiceError && error.name === 'INSUFFICIENT_ALLOWANCE'

/** Of the request. */
const isBeyondLimit = (error: unknown) => error instanceof SluiceError && limitErrors.includes(error.name)
const limitErrors = ['SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE']

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

/** What a purchase may cost by its limitPrice, as a caller computes it who approves that: with the last unit rounded up. */
function acceptedOf({ base, quote, side, amountRaw }: SwapRequest, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined || side !== 'BUY') return undefined
  return valueAt(limitPrice, { raw: amountRaw, decimals: base.decimals }, quote.decimals, 'up')
}

/** The address of one that is in no list. */
type TradedToken = { symbol: string; decimals: number; address?: string }

/** What the journal keeps of a trade, in `about`, to show its fill in the caller's terms. */
type AboutTrade = {
  side: 'BUY' | 'SELL'
  base: TradedToken
  quote: TradedToken
  /** Of contained plugins: where the fill is read from events. */
  moves?: {
    /** Addresses. */
    in: string
    out: string
    /** Of the native coin with the transaction. */
    sentRaw: string
  }
}

function aboutTrade({ side, base, quote }: SwapRequest, { tokens }: NetworkEntry, moves: AboutTrade['moves']): Json {
  const traded = ({ symbol, decimals, address }: Token): TradedToken => ({
    symbol,
    decimals,
    ...(!tokens.listedAt(address) && { address }),
  })
  return { side, base: traded(base), quote: traded(quote), ...(moves && { moves }) }
}

/** @param about from `aboutTrade`. Undefined where it is not, in a row that somebody else wrote */
export function tradedSymbols(
  about: Json,
): { readonly side: 'BUY' | 'SELL'; readonly symbolIn: string; readonly symbolOut: string } | undefined {
  if (!isObject(about) || !isObject(about['base']) || !isObject(about['quote'])) return undefined
  const { side, base, quote } = about as unknown as AboutTrade
  const [symbolIn, symbolOut] = side === 'BUY' ? [quote.symbol, base.symbol] : [base.symbol, quote.symbol]
  return { side, symbolIn, symbolOut }
}

/** `Entry.quote` */
function quotedBy(
  { quote: { head, route, amountRaw }, source, compared }: Pick<SourcedQuote, 'quote' | 'source'> & Pick<TradeOptions, 'compared'>,
  swapRequest: SwapRequest,
  context: ConnectorContext,
): Json {
  const marketPrice = marketPriceOf(swapRequest, context) ?? compared?.bestPrice
  const coinPrice = coinPriceOf(swapRequest, amountRaw, compared?.rate, context)
  return {
    blockNumber: Number(head.number),
    source,
    route: route.map((hop) => ({ ...hop })),
    ...(marketPrice !== undefined && { marketPrice }),
    ...(coinPrice !== undefined && { coinPrice }),
  }
}

/** Quote per one native coin, rounded up, where it is known without asking anybody: by those that were compared, by the market, or by the trade itself. */
function coinPriceOf(
  swapRequest: SwapRequest,
  amountRaw: bigint,
  rate: CoinRate | undefined,
  { network, services: { market } }: ConnectorContext,
): string | undefined {
  const { base, quote } = swapRequest
  const { nativeCurrency: coin, evm } = network.impl
  const isCoin = ({ address }: Token) => address === coin.address || address === evm?.wrapped?.token.address
  if (isCoin(quote)) return '1'
  if (rate) return priceOf({ raw: rate.tokenRaw, decimals: quote.decimals }, { raw: rate.coinRaw, decimals: coin.decimals }, 'up')
  if (market.isChecked(network)) {
    const ofCoin = market.shownValues(network, [coin.address], 'highX')[coin.address]
    const ofQuote = market.shownValues(network, [quote.address], 'lowX')[quote.address]
    if (ofCoin && ofQuote) return priceOf({ raw: ofCoin, decimals: quote.decimals }, { raw: ofQuote, decimals: coin.decimals }, 'up')
  }
  return isCoin(base) ? swapPrice(swapRequest, amountRaw) : undefined
}

/** What the market would have given at best, where it is known now. */
function marketPriceOf({ base, quote, side }: SwapRequest, { network, services: { market } }: ConnectorContext): string | undefined {
  if (!market.isChecked(network)) return undefined
  const value = (token: string, bound: 'highX' | 'lowX') => market.shownValues(network, [token], bound)[token]
  const [high, low] = ['highX', 'lowX'] as const
  const [ofBase, ofQuote] =
    side === 'SELL' ? [value(base.address, high), value(quote.address, low)] : [value(base.address, low), value(quote.address, high)]
  if (ofBase === undefined || ofQuote === undefined || ofBase === 0n || ofQuote === 0n) return undefined
  return priceOf({ raw: ofBase, decimals: quote.decimals }, { raw: ofQuote, decimals: base.decimals }, side === 'SELL' ? 'up' : 'down')
}

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
export function readTradeFill(
  receipt: Json,
  about: Json,
  wallet: string,
  { evm, altchain }: Pick<Chain, 'evm' | 'altchain'>,
): Fill | undefined {
  const { moves } = about as AboutTrade
  if (!moves) return undefined
  const tokens = [moves.in, moves.out]
  const moved = evm ? evm.moved?.(receipt, BigInt(moves.sentRaw), wallet) : altchain?.moved?.(receipt, wallet, { tokens })
  if (!moved) return undefined
  const fill = { amountInRaw: -(moved.get(moves.in) ?? 0n), amountOutRaw: moved.get(moves.out) ?? 0n }
  return fill.amountInRaw > 0n && fill.amountOutRaw > 0n ? fill : undefined
}

/** @param about from `aboutTrade`: this server wrote the journal, and the entry's `kind` tells which `about` it has */
export function showTradeFill(fill: Fill, about: Json) {
  const { side, base, quote } = about as AboutTrade
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
    amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
    price: priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down'),
  }
}

export const tradeHandlers = { AMMTrade: ammTrade } satisfies Partial<Handlers>
