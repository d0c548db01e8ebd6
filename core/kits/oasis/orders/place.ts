import { SluiceError, type NewOrder, type Plan } from '../../../contracts/index.ts'
import type { Evm } from '../../../../kits/evm/types.ts'
import { oasisAbi } from '../abi.ts'
import { amountText, divide, rawOf, ratioOf } from '../../../../kits/oasis/decimal.ts'
import type { Pair } from '../../../../kits/oasis/contract.ts'
import type { PairOffers } from '../../../../kits/oasis/lens.ts'
import { spareGas } from './gas.ts'
import { writeCreate } from './memo.ts'
import { matchOffer, neighbourOf, tradeAtOnce, type Matched, type Traded } from './matching.ts'

/** The market keeps amounts in 128 bits. */
const mostRaw = 2n ** 128n

export interface Placing {
  /** The contract. */
  readonly market: string
  readonly owner: string
  readonly pair: Pair
  readonly order: NewOrder
  /** As they were read. */
  readonly offers: PairOffers
}

/** One call that places an order. */
export function planOrder(placing: Placing): Plan<Evm> {
  const { market, owner, pair, order } = placing
  const { base, quote } = pair
  const amountRaw = rawOf(order.amount, base.decimals)
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
  const { numerator, denominator } = ratioOf(price)
  const raw = divide(
    amountRaw * numerator * 10n ** BigInt(quote.decimals),
    denominator * 10n ** BigInt(base.decimals),
    side === 'BUY' ? 'down' : 'up',
  )
  if (amountRaw >= mostRaw) throw outOfRange('amount', `${amount} ${base.symbol} is more than the market can keep`)
  if (raw >= mostRaw)
    throw outOfRange('price', `${amount} ${base.symbol} at ${price} ${quote.symbol} come to more than the market can keep`)
  if (raw > 0n) return raw
  const least = `${amountText(1n, quote.decimals)} ${quote.symbol}`
  throw outOfRange(
    'amount',
    `${amount} ${base.symbol} at ${price} ${quote.symbol} come to less than ${least}, which is the least that there is`,
  )
}

const outOfRange = (field: 'amount' | 'price', problem: string) =>
  new SluiceError('INCOMPLETE_PARAMS', `${field}: ${problem}.`, { details: [{ field, problem }] })

function resting({ pair, order, offers }: Placing, amountRaw: bigint, quoteRaw: bigint): string {
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
const keepsPrice = (order: NewOrder, pair: Pair, { paidRaw, gotRaw }: Matched): boolean =>
  isWithin(order, pair, order.side === 'BUY' ? { quoteRaw: paidRaw, baseRaw: gotRaw } : { quoteRaw: gotRaw, baseRaw: paidRaw })

/** Exactly: no more is paid for what a BUY gets than at its price, and no less is got for what a SELL gives. */
function isWithin({ side, price }: NewOrder, { base, quote }: Pair, { baseRaw, quoteRaw }: Traded): boolean {
  const { numerator, denominator } = ratioOf(price)
  const [at, limit] = [quoteRaw * denominator * 10n ** BigInt(base.decimals), baseRaw * numerator * 10n ** BigInt(quote.decimals)]
  return side === 'BUY' ? at <= limit : at >= limit
}

/** All of it or nothing, within the order's price: by the market's own calls for that, which hold the price against the whole. */
function atOnce({ pair, order, offers }: Placing, amountRaw: bigint, boundRaw: bigint): string {
  const { base, quote } = pair
  const { side, amount, price } = order
  const { offers: met, whole } = side === 'BUY' ? offers.sells : offers.buys
  const traded = tradeAtOnce(met, side, amountRaw)
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
