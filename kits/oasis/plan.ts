import {
  type ActionPlan,
  type At,
  type BookAction,
  SluiceError,
  type NewOrder,
  type Plan,
  type OrderName,
} from '../../core/contracts/index.ts'
import type { CallResult, Evm, EvmReader } from '../evm/types.ts'
import { pairOfMarket, type Pair, type Deployment, decodeView, oasisAbi } from './contract.ts'
import { divideRaw, formatRaw, toFraction, toRaw } from '../../core/base/decimal.ts'
import { offerLens, readLens, type PairOffers, type Offer } from './lens.ts'
import { writeCreate, writeCancel } from './outcome.ts'
import { offerCall, offersOfIds } from './own-orders.ts'

/** A plan for every action. One round trip reads the books of the markets, and the offers to cancel. */
export async function act(
  reader: EvmReader,
  deployment: Deployment,
  owner: string,
  actions: readonly BookAction[],
  at: At,
): Promise<readonly ActionPlan<Evm>[]> {
  const { market } = deployment
  const named = actions.map((action) => ({ action, pair: pairOfMarket(deployment, action.market) }))
  const traded = [...new Set(named.flatMap(({ action, pair }) => (action.do === 'create' ? [pair] : [])))]
  const calls = named.map(({ action }) => (action.do === 'cancel' ? [offerCall(market, idOf(action.order))] : []))
  const { results } = await reader.read([...calls.flat(), ...(traded.length > 0 ? [offerLens(market, traded)] : [])], at)
  const books = traded.length > 0 ? readLens(results.at(-1) ?? { ok: false, data: '0x' }, traded) : []
  const offers = results.values()

  const plans: ActionPlan<Evm>[] = []
  for (const [index, { action, pair }] of named.entries()) {
    if (action.do === 'create') {
      const found = books[traded.indexOf(pair)]
      if (!found) throw new Error('The offers of the market were not read.')
      plans.push({ covers: [index], plan: planOrder({ market, owner, pair, order: action.order, offers: found }) })
    } else {
      const id = idOf(action.order)
      if (!isOwn(deployment, pair, owner, offers.next().value)) throw await cancelProblem(reader, deployment, pair, owner, id, at)
      plans.push({ covers: [index], plan: planCancel(market, owner, id) })
    }
  }
  return plans
}

function isOwn({ market }: Deployment, { base, quote }: Pair, owner: string, result: CallResult | undefined): boolean {
  const offer = decodeView(market, 'offers', result)
  const tokens = [offer['pay_gem'], offer['buy_gem']]
  return offer['owner'] === owner && tokens.includes(base.address) && tokens.includes(quote.address)
}

/** Why an offer cannot be cancelled. The market deletes an offer that is over, so that only the logs say whose it was. */
async function cancelProblem(reader: EvmReader, deployment: Deployment, pair: Pair, owner: string, id: string, at: At) {
  const own = (await offersOfIds(reader, deployment, owner, [id], at)).find((offer) => offer.pair === pair)
  return own ? isOver(id, own.killed ? 'cancelled' : 'filled') : unknownOrder(id)
}

/** The market stores amounts in 128 bits. */
const maxStoredRaw = 2n ** 128n

interface OrderContext {
  /** The contract's address. */
  readonly market: string
  readonly owner: string
  readonly pair: Pair
  readonly order: NewOrder
  /** The offers in the book when it was read. */
  readonly offers: PairOffers
}

/** One call that places an order. */
function planOrder(context: OrderContext): Plan<Evm> {
  const { market, owner, pair, order } = context
  const { base, quote } = pair
  const amountRaw = toRaw(order.amount, base.decimals)
  if (amountRaw === undefined) throw new Error(`${order.amount} has more than ${base.decimals} decimals.`)
  const exactRaw = valueOf(pair, order, amountRaw)
  const quoteRaw = order.orderType === 'MARKET' ? exactRaw : matchingValue(context, amountRaw, exactRaw)
  const [pays, payRaw] = order.side === 'BUY' ? [quote, quoteRaw] : [base, amountRaw]
  const data = order.orderType === 'MARKET' ? fillOrKill(context, amountRaw, quoteRaw) : resting(context, amountRaw, quoteRaw)
  return {
    steps: [{ to: market, data, value: '0', spareGas }],
    needs: [
      { is: 'balance', token: pays.address, amountRaw: payRaw },
      { is: 'allowance', token: pays.address, spender: market, amountRaw: payRaw },
    ],
    memo: writeCreate({
      market,
      owner,
      side: order.side,
      atOnce: order.orderType === 'MARKET',
      base: base.address,
      quote: quote.address,
      decimals: quote.decimals - base.decimals,
      baseDecimals: base.decimals,
      amountRaw,
      quoteRaw,
    }),
  }
}

/** The amount's value at the order's price, in quote. Rounded so that the price holds: a BUY pays no more, a SELL gets no less. */
function valueOf({ base, quote }: Pair, { side, price, amount }: NewOrder, amountRaw: bigint): bigint {
  const { numerator, denominator } = toFraction(price)
  const raw = divideRaw(
    amountRaw * numerator * 10n ** BigInt(quote.decimals),
    denominator * 10n ** BigInt(base.decimals),
    side === 'BUY' ? 'down' : 'up',
  )
  if (amountRaw >= maxStoredRaw) throw outOfRange('amount', `${amount} ${base.symbol} is more than the market can store`)
  if (raw >= maxStoredRaw)
    throw outOfRange('price', `${amount} ${base.symbol} at ${price} ${quote.symbol} is more than the market can store`)
  if (raw > 0n) return raw
  const unit = `${formatRaw(1n, quote.decimals)} ${quote.symbol}`
  throw outOfRange('amount', `${amount} ${base.symbol} at ${price} ${quote.symbol} is less than ${unit}, the smallest unit`)
}

const outOfRange = (field: 'amount' | 'price', problem: string) =>
  new SluiceError('INCOMPLETE_PARAMS', `${field}: ${problem}.`, { details: [{ field, problem }] })

/**
 * Never with the market's own `rounding`: it lets offers match whose prices differ by less than a unit, and a rest of one unit matches any price
 * then. Who offers that before the order is mined is paid all that the market may take (`MatchingMarket._matcho`).
 */
function resting({ pair, order, offers }: OrderContext, amountRaw: bigint, quoteRaw: bigint): string {
  const isBuy = order.side === 'BUY'
  const { base, quote } = pair
  const [pays, wants] = isBuy ? [quote, base] : [base, quote]
  const offer = isBuy ? { payRaw: quoteRaw, buyRaw: amountRaw } : { payRaw: amountRaw, buyRaw: quoteRaw }
  const position = neighbourOf((isBuy ? offers.buys : offers.sells).offers, offer)
  return oasisAbi.encodeFunctionData('offer', [offer.payRaw, pays.address, offer.buyRaw, wants.address, position, false])
}

/** Exact: a BUY pays no more than its price for what it gets, and a SELL gets no less than its price for what it pays. */
function isWithin({ side, price }: NewOrder, { base, quote }: Pair, { baseRaw, quoteRaw }: TradeAmounts): boolean {
  const { numerator, denominator } = toFraction(price)
  const [at, limit] = [quoteRaw * denominator * 10n ** BigInt(base.decimals), baseRaw * numerator * 10n ** BigInt(quote.decimals)]
  return side === 'BUY' ? at <= limit : at >= limit
}

/** Fills the whole order within its price or nothing. The market's functions for this compare the price of the whole only. */
function fillOrKill({ pair, order, offers }: OrderContext, amountRaw: bigint, limitRaw: bigint): string {
  const { base, quote } = pair
  const { side, amount, price } = order
  const { offers: makers, isComplete } = side === 'BUY' ? offers.sells : offers.buys
  const fill = fillAtOnce(makers, side, amountRaw)
  if (!fill && isComplete)
    throw new SluiceError(
      'TRADE_FAILED',
      `The order book of ${base.symbol}-${quote.symbol} has less than ${amount} ${base.symbol} on the other side: trade less.`,
      { details: { reason: 'too little in the order book' } },
    )
  if (fill && [...fill.matched, { baseRaw: amountRaw, quoteRaw: fill.quoteRaw }].some((each) => !isWithin(order, pair, each)))
    throw side === 'BUY'
      ? new SluiceError(
          'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
          `${amount} ${base.symbol} cannot be bought at ${price} ${quote.symbol} or less now: the order book asks more for a part of it.`,
        )
      : new SluiceError(
          'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
          `${amount} ${base.symbol} cannot be sold at ${price} ${quote.symbol} or more now: the order book pays less for a part of it.`,
        )
  return side === 'BUY'
    ? oasisAbi.encodeFunctionData('buyAllAmount', [base.address, amountRaw, quote.address, limitRaw])
    : oasisAbi.encodeFunctionData('sellAllAmount', [base.address, amountRaw, quote.address, limitRaw])
}

export const isOfferId = (orderId: string): boolean => /^[1-9]\d{0,38}$/.test(orderId)

/** @throws SluiceError UNKNOWN_ORDER where the name cannot be an offer's id */
function idOf({ orderId, clientOrderId }: OrderName): string {
  if (orderId !== undefined && isOfferId(orderId)) return orderId
  throw unknownOrder(orderId ?? clientOrderId)
}

const unknownOrder = (name = '') =>
  new SluiceError('UNKNOWN_ORDER', `The wallet has no order ${name} in this market that can be cancelled; /clob/orders lists its orders.`)

function isOver(id: string, how: 'filled' | 'cancelled'): SluiceError {
  const reason = `the order was ${how} already`
  return new SluiceError('TRADE_FAILED', `Order ${id} cannot be cancelled: ${reason}.`, { details: { reason } })
}

const planCancel = (market: string, owner: string, id: string): Plan<Evm> => ({
  steps: [{ to: market, data: oasisAbi.encodeFunctionData('cancel', [id]), value: '0' }],
  needs: [],
  memo: writeCancel({ market, owner, id }),
})

/** So many smallest units an order's value may differ from its price, in all; never more than one part of a hundred thousand. */
const maxUnitsOff = 8n
const leastParts = 100_000n

/**
 * The value at which an order matches the offers of exactly its price. The market rounds down what is left after each match, so that an order
 * that asks for its price to the unit stops before them. It differs by a few units where the offers that it matches hold its price all the same.
 */
function matchingValue({ pair, order, offers }: OrderContext, amountRaw: bigint, exactRaw: bigint): bigint {
  const isBuy = order.side === 'BUY'
  const makers = (isBuy ? offers.sells : offers.buys).offers
  let best = { quoteRaw: exactRaw, gotRaw: 0n }
  // A unit of quote, or what a unit of base is worth where that is more.
  const unitRaw = divideRaw(exactRaw, amountRaw, 'up')
  for (let units = 0n; units <= maxUnitsOff && units * unitRaw * leastParts <= exactRaw; units++) {
    const quoteRaw = isBuy ? exactRaw + units * unitRaw : exactRaw - units * unitRaw
    const { paidRaw, gotRaw } = matchOffer(
      makers,
      isBuy ? { payRaw: quoteRaw, buyRaw: amountRaw } : { payRaw: amountRaw, buyRaw: quoteRaw },
    )
    if (!isWithin(order, pair, isBuy ? { quoteRaw: paidRaw, baseRaw: gotRaw } : { quoteRaw: gotRaw, baseRaw: paidRaw })) break
    if (gotRaw > best.gotRaw) best = { quoteRaw, gotRaw }
    if (paidRaw === 0n && units > 0n) break
  }
  return best.quoteRaw
}

/** What an order would pay and get from the offers that it matches. */
interface MatchResult {
  readonly paidRaw: bigint
  readonly gotRaw: bigint
}

/** The market's matching of a new offer, to the unit: MatchingMarket._matcho. It stops at the first offer that asks for more. */
function matchOffer(makers: readonly Offer[], offer: Pick<Offer, 'payRaw' | 'buyRaw'>): MatchResult {
  let { payRaw, buyRaw } = offer
  let [paidRaw, gotRaw] = [0n, 0n]
  for (const maker of makers) {
    if (maker.buyRaw * buyRaw > payRaw * maker.payRaw) break
    const takenRaw = buyRaw < maker.payRaw ? buyRaw : maker.payRaw
    paidRaw += (takenRaw * maker.buyRaw) / maker.payRaw
    gotRaw += takenRaw
    const before = buyRaw
    buyRaw -= takenRaw
    payRaw = (buyRaw * payRaw) / before
    if (payRaw === 0n || buyRaw === 0n) break
  }
  return { paidRaw, gotRaw }
}

interface TradeAmounts {
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
}

/** The offers that an amount of base matches at once, and its value, rounded down for each offer as the market does. Undefined where there are too few. */
function fillAtOnce(
  makers: readonly Offer[],
  side: 'BUY' | 'SELL',
  amountRaw: bigint,
): { matched: readonly TradeAmounts[]; quoteRaw: bigint } | undefined {
  let [leftRaw, quoteRaw] = [amountRaw, 0n]
  const matched: TradeAmounts[] = []
  for (const { payRaw, buyRaw } of makers) {
    const offered = side === 'BUY' ? { baseRaw: payRaw, quoteRaw: buyRaw } : { baseRaw: buyRaw, quoteRaw: payRaw }
    const takenRaw = leftRaw < offered.baseRaw ? leftRaw : offered.baseRaw
    matched.push(offered)
    quoteRaw += (takenRaw * offered.quoteRaw) / offered.baseRaw
    leftRaw -= takenRaw
    if (leftRaw === 0n) return { matched, quoteRaw }
  }
  return undefined
}

/** The offer behind which the market sorts a new one: the last that is as good or better. 0 where the new one is the best. */
function neighbourOf(sorted: readonly Offer[], { payRaw, buyRaw }: Pick<Offer, 'payRaw' | 'buyRaw'>): bigint {
  const worse = sorted.findIndex((offer) => buyRaw * offer.payRaw < offer.buyRaw * payRaw)
  return sorted[worse < 0 ? sorted.length - 1 : worse - 1]?.id ?? 0n
}

/** For an offer that is sorted into the book. A match uses less gas, several matches or the removal of dust more. */
export const typicalGasUnits = 250_000n

/** An order that matched when it was planned may have to be sorted into the book, and one that would rest may match two or three offers. */
const spareGas = '350000'
