import { SluiceError, type NewOrder, type Plan } from '../../../contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { oasisAbi } from '../abi.ts'
import { amountText, divide, rawOf, ratioOf } from '../decimal.ts'
import type { Pair } from '../pairs.ts'
import type { PairOffers } from '../reading/lens.ts'
import { writeCreate } from './memo.ts'
import { matchOffer, neighbourOf, tradeAtOnce } from './matching.ts'

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
    steps: [{ to: market, data, value: '0' }],
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
  if (raw > 0n && raw < mostRaw && amountRaw < mostRaw) return raw
  const size = raw > 0n ? 'more than the market can keep' : `less than ${amountText(1n, quote.decimals)} ${quote.symbol}`
  throw new SluiceError('TRADE_FAILED', `${amount} ${base.symbol} at ${price} ${quote.symbol} is ${size}: choose another amount.`, {
    details: { reason: 'the amount at that price is out of range' },
  })
}

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
function keepsPrice({ side, price }: NewOrder, { base, quote }: Pair, { paidRaw, gotRaw }: { paidRaw: bigint; gotRaw: bigint }): boolean {
  const { numerator, denominator } = ratioOf(price)
  const [quoteRaw, baseRaw] = side === 'BUY' ? [paidRaw, gotRaw] : [gotRaw, paidRaw]
  const [paid, limit] = [quoteRaw * denominator * 10n ** BigInt(base.decimals), baseRaw * numerator * 10n ** BigInt(quote.decimals)]
  return side === 'BUY' ? paid <= limit : paid >= limit
}

/** All of it or nothing, within the order's price: by the market's own calls for that. */
function atOnce({ pair, order, offers }: Placing, amountRaw: bigint, boundRaw: bigint): string {
  const { base, quote } = pair
  const met = order.side === 'BUY' ? offers.sells : offers.buys
  const comesTo = tradeAtOnce(met.offers, order.side, amountRaw)
  if (comesTo === undefined && met.whole)
    throw new SluiceError(
      'TRADE_FAILED',
      `The order book of ${base.symbol}-${quote.symbol} has less than ${order.amount} ${base.symbol} for it: trade less.`,
      {
        details: { reason: 'too little in the order book' },
      },
    )
  if (comesTo !== undefined && (order.side === 'BUY' ? comesTo > boundRaw : comesTo < boundRaw))
    throw pastBound(pair, order, comesTo, boundRaw)
  return order.side === 'BUY'
    ? oasisAbi.encodeFunctionData('buyAllAmount', [base.address, amountRaw, quote.address, boundRaw])
    : oasisAbi.encodeFunctionData('sellAllAmount', [base.address, amountRaw, quote.address, boundRaw])
}

function pastBound({ base, quote }: Pair, { side, amount, price }: NewOrder, comesToRaw: bigint, boundRaw: bigint): SluiceError {
  const [comesTo, bound] = [comesToRaw, boundRaw].map((raw) => `${amountText(raw, quote.decimals)} ${quote.symbol}`)
  const [code, does, than] =
    side === 'BUY'
      ? (['SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'costs', 'more'] as const)
      : (['SWAP_PRICE_LOWER_THAN_LIMIT_PRICE', 'brings', 'less'] as const)
  return new SluiceError(code, `${amount} ${base.symbol} ${does} ${comesTo} now, ${than} than the ${bound} that it is worth at ${price}.`)
}
