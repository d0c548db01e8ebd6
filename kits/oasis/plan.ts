import {
  type ActionPlan,
  type At,
  type BookAction,
  SluiceError,
  type NewOrder,
  type Plan,
  type OrderName,
} from '../../core/contracts/index.ts'
import type { CallResult, Evm, EvmReader, Call } from '../evm/types.ts'
import { pairOfMarket, type Pair, type Deployment, decodeView, oasisAbi } from './contract.ts'
import { divideRaw, formatRaw, toFraction, toRaw } from '../../core/decimal.ts'
import { offerLens, readLens, type PairOffers, type Offer } from './lens.ts'
import { writeCreate, writeCancel } from './outcome.ts'
import { ownOffers } from './own-orders.ts'

/** A plan for every action, of what is read in one round trip: the books of the markets, and the offers that are to be cancelled. */
export async function act(
  reader: EvmReader,
  place: Deployment,
  owner: string,
  actions: readonly BookAction[],
  at: At,
): Promise<readonly ActionPlan<Evm>[]> {
  const { market } = place
  const named = actions.map((action) => ({ action, pair: pairOfMarket(place, action.market) }))
  const traded = [...new Set(named.flatMap(({ action, pair }) => (action.do === 'create' ? [pair] : [])))]
  const calls = named.map(({ action }) => (action.do === 'cancel' ? [offerCall(market, idOf(action.order))] : []))
  const { results } = await reader.read([...calls.flat(), ...(traded.length > 0 ? [offerLens(market, traded)] : [])], at)
  const books = traded.length > 0 ? readLens(results.at(-1) ?? { ok: false, data: '0x' }, traded) : []
  const offers = results.values()

  const plans: ActionPlan<Evm>[] = []
  for (const [index, { action, pair }] of named.entries()) {
    if (action.do === 'create') {
      const found = books[traded.indexOf(pair)]
      if (!found) throw new Error('The offers of a market that is traded in were not read.')
      plans.push({ covers: [index], plan: planOrder({ market, owner, pair, order: action.order, offers: found }) })
    } else {
      const id = idOf(action.order)
      if (!isOwn(place, pair, owner, offers.next().value)) throw await whyNot(reader, place, pair, owner, id, at)
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

/** The market forgets an offer that is over, and only its logs tell whose it was. */
async function whyNot(reader: EvmReader, place: Deployment, pair: Pair, owner: string, id: string, at: At) {
  const own = (await ownOffers(reader, place, owner, at)).find((offer) => offer.id === id && offer.pair === pair)
  return own ? isOver(id, own.killed ? 'cancelled' : 'filled') : unknownOrder(id)
}

/** The market keeps amounts in 128 bits. */
const mostRaw = 2n ** 128n

interface OrderContext {
  /** The contract. */
  readonly market: string
  readonly owner: string
  readonly pair: Pair
  readonly order: NewOrder
  /** As they were read. */
  readonly offers: PairOffers
}

/** One call that places an order. */
function planOrder(placing: OrderContext): Plan<Evm> {
  const { market, owner, pair, order } = placing
  const { base, quote } = pair
  const amountRaw = toRaw(order.amount, base.decimals)
  if (amountRaw === undefined) throw new Error(`${order.amount} has more than ${base.decimals} decimals.`)
  const quoteRaw = worthOf(pair, order, amountRaw)
  const [pays, payRaw] = order.side === 'BUY' ? [quote, quoteRaw] : [base, amountRaw]
  const data = order.orderType === 'MARKET' ? atOnce(placing, amountRaw, quoteRaw) : resting(placing, amountRaw, quoteRaw)
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

/** Of an amount at the order's price, rounded so that the price is kept: a BUY pays no more, a SELL takes no less. */
function worthOf({ base, quote }: Pair, { side, price, amount }: NewOrder, amountRaw: bigint): bigint {
  const { numerator, denominator } = toFraction(price)
  const raw = divideRaw(
    amountRaw * numerator * 10n ** BigInt(quote.decimals),
    denominator * 10n ** BigInt(base.decimals),
    side === 'BUY' ? 'down' : 'up',
  )
  if (amountRaw >= mostRaw) throw outOfRange('amount', `${amount} ${base.symbol} is more than the market can keep`)
  if (raw >= mostRaw)
    throw outOfRange('price', `${amount} ${base.symbol} at ${price} ${quote.symbol} come to more than the market can keep`)
  if (raw > 0n) return raw
  const least = `${formatRaw(1n, quote.decimals)} ${quote.symbol}`
  throw outOfRange(
    'amount',
    `${amount} ${base.symbol} at ${price} ${quote.symbol} come to less than ${least}, which is the least that there is`,
  )
}

const outOfRange = (field: 'amount' | 'price', problem: string) =>
  new SluiceError('INCOMPLETE_PARAMS', `${field}: ${problem}.`, { details: [{ field, problem }] })

function resting({ pair, order, offers }: OrderContext, amountRaw: bigint, quoteRaw: bigint): string {
  const isBuy = order.side === 'BUY'
  const { base, quote } = pair
  const [pays, wants] = isBuy ? [quote, base] : [base, quote]
  const offer = isBuy ? { payRaw: quoteRaw, buyRaw: amountRaw } : { payRaw: amountRaw, buyRaw: quoteRaw }
  const [own, met] = isBuy ? [offers.buys, offers.sells] : [offers.sells, offers.buys]
  const position = neighbourOf(own.offers, offer)
  return oasisAbi.encodeFunctionData('offer', [
    offer.payRaw,
    pays.address,
    offer.buyRaw,
    wants.address,
    position,
    keepsPrice(order, pair, matchOffer(met.offers, offer, true)),
  ])
}

/**
 * Offers of one price differ by what rounding made of them, and the market's own `rounding` lets them meet all the same: as long as the
 * order's price is kept, over all that it meets. Where it would not be, the market is to be strict.
 */
const keepsPrice = (order: NewOrder, pair: Pair, { paidRaw, gotRaw }: MatchResult): boolean =>
  isWithin(order, pair, order.side === 'BUY' ? { quoteRaw: paidRaw, baseRaw: gotRaw } : { quoteRaw: gotRaw, baseRaw: paidRaw })

/** Exactly: no more is paid for what a BUY gets than at its price, and no less is got for what a SELL gives. */
function isWithin({ side, price }: NewOrder, { base, quote }: Pair, { baseRaw, quoteRaw }: TradeAmounts): boolean {
  const { numerator, denominator } = toFraction(price)
  const [at, limit] = [quoteRaw * denominator * 10n ** BigInt(base.decimals), baseRaw * numerator * 10n ** BigInt(quote.decimals)]
  return side === 'BUY' ? at <= limit : at >= limit
}

/** All of it or nothing, within the order's price: by the market's own calls for that, which hold the price against the whole. */
function atOnce({ pair, order, offers }: OrderContext, amountRaw: bigint, boundRaw: bigint): string {
  const { base, quote } = pair
  const { side, amount, price } = order
  const { offers: met, whole } = side === 'BUY' ? offers.sells : offers.buys
  const traded = fillAtOnce(met, side, amountRaw)
  if (!traded && whole)
    throw new SluiceError(
      'TRADE_FAILED',
      `The order book of ${base.symbol}-${quote.symbol} has less than ${amount} ${base.symbol} for it: trade less.`,
      {
        details: { reason: 'too little in the order book' },
      },
    )
  if (traded && [...traded.met, { baseRaw: amountRaw, quoteRaw: traded.quoteRaw }].some((each) => !isWithin(order, pair, each)))
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
    ? oasisAbi.encodeFunctionData('buyAllAmount', [base.address, amountRaw, quote.address, boundRaw])
    : oasisAbi.encodeFunctionData('sellAllAmount', [base.address, amountRaw, quote.address, boundRaw])
}

/** @throws SluiceError UNKNOWN_ORDER where it can be no offer's */
function idOf({ orderId, clientOrderId }: OrderName): string {
  if (orderId !== undefined && /^[1-9]\d{0,38}$/.test(orderId)) return orderId
  throw unknownOrder(orderId ?? clientOrderId)
}

const unknownOrder = (name = '') =>
  new SluiceError('UNKNOWN_ORDER', `The wallet has no order ${name} in this market that could be cancelled; /clob/orders lists its orders.`)

function isOver(id: string, how: 'filled' | 'cancelled'): SluiceError {
  const reason = `the order was ${how} already`
  return new SluiceError('TRADE_FAILED', `Order ${id} cannot be cancelled: ${reason}.`, { details: { reason } })
}

const offerCall = (market: string, id: string): Call => ({ to: market, data: oasisAbi.encodeFunctionData('offers', [id]) })

const planCancel = (market: string, owner: string, id: string): Plan<Evm> => ({
  steps: [{ to: market, data: oasisAbi.encodeFunctionData('cancel', [id]), value: '0' }],
  needs: [],
  memo: writeCancel({ market, owner, id }),
})

/** What an order would give and get of the offers that it meets. */
interface MatchResult {
  readonly paidRaw: bigint
  readonly gotRaw: bigint
}

/**
 * What the market makes of a new offer: MatchingMarket._matcho, to the unit. It stops at the first offer that asks for more, and with
 * `rounding` at the first that asks for more than rounding can have made of the same price.
 */
function matchOffer(makers: readonly Offer[], offer: Pick<Offer, 'payRaw' | 'buyRaw'>, rounding: boolean): MatchResult {
  let { payRaw, buyRaw } = offer
  let [paidRaw, gotRaw] = [0n, 0n]
  for (const maker of makers) {
    const slack = rounding ? maker.buyRaw + buyRaw + payRaw + maker.payRaw : 0n
    if (maker.buyRaw * buyRaw > payRaw * maker.payRaw + slack) break
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

/** The offers that an amount of base meets at once, and what it comes to, rounded down by each as the market does. Undefined where they are too few. */
function fillAtOnce(
  makers: readonly Offer[],
  side: 'BUY' | 'SELL',
  amountRaw: bigint,
): { met: readonly TradeAmounts[]; quoteRaw: bigint } | undefined {
  let [leftRaw, quoteRaw] = [amountRaw, 0n]
  const met: TradeAmounts[] = []
  for (const { payRaw, buyRaw } of makers) {
    const offered = side === 'BUY' ? { baseRaw: payRaw, quoteRaw: buyRaw } : { baseRaw: buyRaw, quoteRaw: payRaw }
    const takenRaw = leftRaw < offered.baseRaw ? leftRaw : offered.baseRaw
    met.push(offered)
    quoteRaw += (takenRaw * offered.quoteRaw) / offered.baseRaw
    leftRaw -= takenRaw
    if (leftRaw === 0n) return { met, quoteRaw }
  }
  return undefined
}

/** The offer that the market sorts a new one in behind: the last that asks for as much or less. 0 where the new one is the best. */
function neighbourOf(sorted: readonly Offer[], { payRaw, buyRaw }: Pick<Offer, 'payRaw' | 'buyRaw'>): bigint {
  const worse = sorted.findIndex((offer) => buyRaw * offer.payRaw < offer.buyRaw * payRaw)
  return sorted[worse < 0 ? sorted.length - 1 : worse - 1]?.id ?? 0n
}

/** An offer that is made and sorted in; what meets another one uses less, and what meets several or sweeps up dust uses more. */
export const typicalGasUnits = 250_000n

/** An order that would be filled now is made and sorted in where somebody else comes first, and one that would rest may meet two or three. */
const spareGas = '350000'
