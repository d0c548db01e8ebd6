import type { PerpAMMPriceRequest } from '../../api/index.ts'
import type { At, PerpClosing, PerpOrder, PerpPosition, PerpQuote, PerpTerms, Plan } from '../../contracts/index.ts'
import { formatFraction, fromRaw, valueAt } from '../../base/decimal.ts'
import type { ConnectorContext } from '../context.ts'
import type { PerpetualExposure } from '../../transactions/budgets.ts'
import { closesNearIndex, isHeldToIndex, requireNearIndex } from '../market-check.ts'
import { nothingLeaves } from '../outcome.ts'
import { tradingOf, type VenueEntry } from '../../plugins/index.ts'
import { deadlineAfter, effectiveSlippage, slippageBound, tighterBound } from '../slippage.ts'
import type { Footprint } from '../../transactions/budgets.ts'
import { touchedVenue } from '../touches.ts'
import { submitAndShow, readWallet, showGas, type SigningWallet } from '../wallets.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { showPosition } from './account.ts'
import { pricePerBase } from './figures.ts'
import { inTurn, quoteExposure } from './exposure.ts'
import { aboutPosition, noPositionError } from './fills.ts'
import { closing, committedBy, stakeOf } from './losses.ts'
import { readPositions } from './worth.ts'
import { positionAfterFill, readMarginRequest, requireFreeCollateral, requireMargin } from './margin-check.ts'
import { findMarket, requireOpen, showPrices, type PerpHandler } from './markets.ts'

const perpPrice: PerpHandler<'Price'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = tradingOf('PERP_AMM', venue)
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

/** Opens, increases, reduces or reverses a position. Checks margin and leverage at the quote's block. */
const perpOpen: PerpHandler<'Open'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = tradingOf('PERP_AMM', venue)
  const wallet = readWallet(request, context)
  const [order, { settlement }] = await Promise.all([readPerpOrder(request, venue, at), perp.listMarkets(at)])
  const marginRequest = readMarginRequest(request, settlement)
  return inTurn(wallet.address, context, async (turn) => {
    // Before the account: the loss of one that is closed in between counts twice then, and else not at all.
    const positions = turn || isHeldToIndex(context) ? await readPositions(perp, wallet.address, at) : []
    const quote = await perp.quote(order, wallet.address, at)
    const { account, position } = quote
    if (!account || !position) throw new Error(`${venue.connector} gave a quote for a wallet without its account and position.`)
    requireOpen(quote.market, 'TRADE_FAILED')
    requireMargin(quote, position, account, marginRequest)
    requireFreeCollateral(quote, account, settlement)
    const after = positionAfterFill(quote, position, account)
    const shown = { position: showPosition(after.position, after.account) }
    const exposureAt = (boundRaw: bigint) => turn && quoteExposure(turn, quote, { account, position, positions, boundRaw })
    const planOf = (terms: PerpTerms) => perp.open(quote, terms)
    return submitTrade(quote, { planOf, shown, positions, exposureAt }, wallet, request, context)
  })
}

/** Closes a wallet's position in a market, or as much of it as the exchange closes at once. */
const perpClose: PerpHandler<'Close'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = tradingOf('PERP_AMM', venue)
  const wallet = readWallet(request, context)
  const market = await findMarket(request, venue, at)
  const closing = await perp.quoteClose(wallet.address, market, at)
  if (!closing) throw await noPositionError(wallet.address, market, context)
  // A market that is closed for good pays positions out.
  if (closing.market.status === 'paused') requireOpen(closing.market, 'TRADE_FAILED')
  const { settlement } = await perp.listMarkets(at)
  requireFreeCollateral(closing, closing.account, settlement)
  const shown = { amount: showSize(closing.order) }
  return submitTrade(closing, { planOf: (terms) => perp.close(closing, terms), shown, reduces: true }, wallet, request, context)
}

interface TradeToSubmit<S extends object> {
  planOf(terms: PerpTerms): Plan | Promise<Plan>
  readonly shown: S
  readonly reduces?: boolean
  /** All of the account, where it is held to the index. */
  readonly positions?: readonly PerpPosition[]
  /** What the order leaves open at its bound, where that is limited. */
  exposureAt?(boundRaw: bigint): PerpetualExposure | undefined
}

/** Submits a quoted trade with its bound and deadline. */
async function submitTrade<S extends object>(
  quote: PerpQuote | PerpClosing,
  { planOf, shown, reduces = false, positions = [], exposureAt }: TradeToSubmit<S>,
  wallet: SigningWallet,
  request: { limitPrice?: string; allowedSlippage?: string },
  context: ConnectorContext,
) {
  const {
    network,
    venue: { contracts, config },
    services,
    caller,
  } = context
  const { order, quoteRaw, head, prices } = quote
  const quoted = { swap: { exact: order.side === 'LONG' ? 'out' : 'in' }, amountRaw: quoteRaw } as const
  const price = orderPrice(order, quoteRaw)
  const slippage = effectiveSlippage(config, [], request.allowedSlippage)
  const slippageRaw = slippageBound(quoted, slippage)
  const boundRaw = tighterBound(quoted, slippageRaw, limitOf(order, request.limitPrice), price)
  const touches = (): Footprint => {
    const { base, quote: symbol } = order.market
    return {
      action: 'perpetual',
      connectors: touchedVenue(context.venue),
      tokens: [base, symbol].map((each) => ({ name: each, symbol: each })),
      slippage,
    }
  }
  if (!reduces) services.allowLists.require(caller.id, touches, network)
  const worst = pricePerBase(order.market, boundRaw, order.sizeRaw)
  const atWorst = { side: order.side, worst, index: prices.index }
  requireNearIndex({ ...atWorst, stake: reduces ? undefined : stakeOf(quote, boundRaw, positions) }, context)
  const perpetual = exposureAt?.(boundRaw)
  const committed = committedBy(quote, boundRaw, context)
  const commitment = reduces && closesNearIndex(atWorst, context) ? closing(committed) : { ...committed, ...(perpetual && { perpetual }) }
  const deadline = deadlineAfter(head, config.ttl, services.following.ageSeconds(network, head))
  const plan = await planOf({ owner: wallet.address, boundRaw, deadline })
  // Computed before anything is sent: what cannot be shown must not become an error about a trade that was sent.
  const bounds = { price, limitPrice: orderPrice(order, boundRaw), deadline, blockNumber: Number(head.number) }
  const about = aboutPosition(order)
  const scope = { contracts, valueRaw: 0n, deadline }
  return submitAndShow(
    { plan, scope, bounds: nothingLeaves, kind: 'position', touches, reduces, about, commitment },
    { ...shown, ...bounds },
    wallet,
    context,
  )
}

/** @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS */
async function readPerpOrder(
  request: Pick<PerpAMMPriceRequest, 'base' | 'quote' | 'amount' | 'side'>,
  venue: VenueEntry,
  at: At,
): Promise<PerpOrder> {
  const market = await findMarket(request, venue, at)
  const side = request.side === 'LONG' || request.side === 'BUY' ? 'LONG' : 'SHORT'
  const { base: symbol, baseDecimals: decimals, id: address } = market
  return { market, side, sizeRaw: readPositiveRaw(request.amount, { symbol, decimals, address }, 'amount') }
}

/** Quote per one base. Rounded against the trader: up for a LONG, down for a SHORT. */
const orderPrice = ({ market, side, sizeRaw }: PerpOrder, quoteRaw: bigint): string =>
  formatFraction(pricePerBase(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down')

/** The limit for the whole size in the market's quote: a maximum for a LONG, a minimum for a SHORT. */
function limitOf({ market, side, sizeRaw }: PerpOrder, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: sizeRaw, decimals: market.baseDecimals }, market.quoteDecimals, side === 'LONG' ? 'down' : 'up')
}

const showSize = ({ market, sizeRaw }: PerpOrder) => fromRaw(sizeRaw, market.baseDecimals)

export const perpTradeHandlers = {
  Price: perpPrice,
  Open: perpOpen,
  Close: perpClose,
}
