import type { PerpClosing, PerpQuote, PerpTerms, Plan, At, PerpOrder } from '../../contracts/index.ts'
import { formatFraction, fromRaw, valueAt } from '../../decimal.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { RequestContext, TargetContext, Services } from '../context.ts'
import { explainRefusal } from '../explain-errors.ts'
import type { VenueEntry } from '../registry.ts'
import { deadlineAfter, effectiveSlippage, slippageBound, tighterBound } from '../slippage.ts'
import { readPositiveRaw } from '../tokens.ts'
import { readWallet, showGas } from '../wallets.ts'
import { showPosition } from './account.ts'
import { pricePerBase } from './figures.ts'
import { aboutPosition, noPositionError } from './fills.ts'
import { positionAfterFill, readMarginRequest, requireFreeCollateral, requireMargin } from './margin-check.ts'
import { perpOf, requireOpen, type PerpHandler, findMarket, showPrices } from './markets.ts'

/** What is to be done as quoted, and what is shown of it beside its price and bounds. */
interface Trade<S> {
  quote: PerpQuote | PerpClosing
  shown: S
  planOf(terms: PerpTerms): Plan
}

/** Has a trade carried out, with its bound and its deadline. */
async function submitTrade<S extends object>(
  { quote: { order, quoteRaw, head }, shown, planOf }: Trade<S>,
  wallet: ReturnType<typeof readWallet>,
  request: { limitPrice?: string; allowedSlippage?: string },
  context: RequestContext & { services: Services } & TargetContext<'connector'>,
) {
  const { network, venue, services, signal } = context
  const quoted = toQuotedAmount(order, quoteRaw)
  const price = orderPrice(order, quoteRaw)
  const slippage = slippageBound(quoted, effectiveSlippage(venue.config, [], request.allowedSlippage))
  const boundRaw = tighterBound(quoted, slippage, limitOf(order, request.limitPrice), price)
  const deadline = deadlineAfter(head, venue.config.ttl)
  const plan = planOf({ owner: wallet.address, boundRaw, deadline })
  // Before anything is sent: what cannot be shown must not become an error about a trade that was made.
  const bounds = { price, limitPrice: orderPrice(order, boundRaw), deadline, blockNumber: Number(head.number) }
  const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...bounds, ...showGas(gas, network), nonce, txHash })
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  const about = aboutPosition(order)
  const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'position', about, answer }, signal)
  return answer(await explainRefusal(submitted, venue))
}

/** Opens, adds to, reduces or turns a position. Margin and leverage are checked at the quote's block. */
export const perpOpen: PerpHandler<'Open'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const wallet = readWallet(request, context)
  const [order, { settlement }] = await Promise.all([readPerpOrder(request, venue, at), perp.listed(at)])
  const stake = readMarginRequest(request, settlement)
  const quote = await perp.quote(order, wallet.address, at)
  const { account, position } = quote
  if (!account || !position) throw new Error(`${venue.connector} quoted for a wallet without its account and position.`)
  requireOpen(quote.market, 'TRADE_FAILED')
  requireMargin(quote, position, account, stake)
  requireFreeCollateral(quote, account, settlement)
  const after = positionAfterFill(quote, position, account)
  const shown = { position: showPosition(after.position, after.account) }
  return submitTrade({ quote, shown, planOf: (terms) => perp.open(quote, terms) }, wallet, request, context)
}

/** Closes all that a wallet has in a market, or as much of it as the exchange lets go at once. */
export const perpClose: PerpHandler<'Close'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const wallet = readWallet(request, context)
  const market = await findMarket(request, venue, at)
  const closing = await perp.closing(wallet.address, market, at)
  if (!closing) throw await noPositionError(wallet.address, market, context)
  // One that is closed for good pays positions out.
  if (closing.market.status === 'paused') requireOpen(closing.market, 'TRADE_FAILED')
  const { settlement } = await perp.listed(at)
  requireFreeCollateral(closing, closing.account, settlement)
  const shown = { amount: showSize(closing.order) }
  return submitTrade({ quote: closing, shown, planOf: (terms) => perp.close(closing, terms) }, wallet, request, context)
}

interface OrderFields {
  base: string
  quote: string
  amount: string
  side: 'LONG' | 'SHORT' | 'BUY' | 'SELL'
}

/** A request's order, with its market found and its size in smallest units. */
async function readPerpOrder(request: OrderFields, venue: VenueEntry, at: At): Promise<PerpOrder> {
  const market = await findMarket(request, venue, at)
  const side = request.side === 'LONG' || request.side === 'BUY' ? 'LONG' : 'SHORT'
  const { base: symbol, baseDecimals: decimals, id: address } = market
  return { market, side, sizeRaw: readPositiveRaw(request.amount, { symbol, decimals, address }, 'amount') }
}

/** What was quoted for an order, as slippage and limits see it. */
const toQuotedAmount = ({ side }: PerpOrder, quoteRaw: bigint) =>
  ({ swap: { exact: side === 'LONG' ? 'out' : 'in' }, amountRaw: quoteRaw }) as const

/** Quote per one base, rounded against optimism: up for a LONG, down for a SHORT. */
const orderPrice = ({ market, side, sizeRaw }: PerpOrder, quoteRaw: bigint): string =>
  formatFraction(pricePerBase(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down')

/** The limit for the whole size in the market's quote: at most this much for a LONG, at least this much for a SHORT. */
function limitOf({ market, side, sizeRaw }: PerpOrder, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: sizeRaw, decimals: market.baseDecimals }, market.quoteDecimals, side === 'LONG' ? 'down' : 'up')
}

/** What answers show of an order. */
const showSize = ({ market, sizeRaw }: PerpOrder) => fromRaw(sizeRaw, market.baseDecimals)

export const perpPrice: PerpHandler<'Price'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = perpOf(venue)
  const order = await readPerpOrder(request, venue, at)
  const { market, quoteRaw, feeRaw, prices, gasUnits, head } = await perp.quote(order, undefined, at)
  requireOpen(market, 'PRICE_FAILED')
  return {
    quote: market.quote,
    base: market.base,
    side: order.side,
    amount: showSize(order),
    price: orderPrice(order, quoteRaw),
    expectedAmount: fromRaw(quoteRaw, market.quoteDecimals),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    ...showPrices(prices),
    ...showGas(await network.impl.gas(gasUnits, head, at), network),
    blockNumber: Number(head.number),
  }
}
