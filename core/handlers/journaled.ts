// A journaled transaction as callers see it: what was asked for, what it was quoted by, what became of it, and what it brought and cost.
import { fits } from '../base/schema-check.ts'
import { JournaledTransaction } from '../api/index.ts'
import { formatDecimal, fromRaw, multiply, toCommonScale } from '../base/decimal.ts'
import { isObject } from '../base/json.ts'
import { printable } from '../base/printable.ts'
import type { Json, Token } from '../contracts/index.ts'
import type { Registry } from '../plugins/index.ts'
import type { Cost } from '../transactions/costs.ts'
import { isFinal, txHashOf, type Entry, type JournaledPermit } from '../transactions/entry.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { LostAnswers } from '../transactions/delivery-table.ts'
import type { PlacedOrder } from '../transactions/order-fills.ts'
import { readAboutOrder } from './clob/order-state.ts'
import { journaledFill } from './fills.ts'
import { paidCostOf } from './mined-amounts.ts'
import { networkOf } from './limited-amounts.ts'

export interface JournalView {
  readonly status: Transactions['status']
  /** Undefined where the network is not there: then amounts of its coin are shown in its smallest units alone. */
  coinOf(entry: Entry): Pick<Token, 'symbol' | 'decimals'> | undefined
  /** Undefined where nobody lists it. */
  tokenOf(entry: Entry, address: string): Pick<Token, 'symbol' | 'decimals'> | undefined
  costOf(entry: Entry): Cost | undefined
  /** The most that an attempt offers, in the coin's smallest unit. Undefined where there is no such fee, or the network is not there. */
  maxFeeOf?(entry: Entry, attempt: Entry['attempts'][number]): bigint | undefined
  /** Which answers about it were lost. */
  deliveryOf?(entry: Entry): LostAnswers | undefined
}

export const journalView = ({ status }: Pick<Transactions, 'status'>, registry: Pick<Registry, 'networks'>): JournalView => ({
  status,
  coinOf: (entry) => networkOf(entry, registry)?.impl.nativeCurrency,
  costOf: (entry) => paidCostOf(entry, registry),
  // On the own rail of an exchange no fee is offered; of an archived transaction nobody knows any more what was.
  maxFeeOf: (entry, { fees }) => (entry.signer === undefined && fees ? networkOf(entry, registry)?.impl.rail.maxFee?.(fees) : undefined),
  tokenOf(entry, address) {
    const on = networkOf(entry, registry)
    const coin = on?.impl.nativeCurrency
    return coin?.address === address ? coin : on?.tokens.listedAt(address)
  },
})

export function showTransaction(entry: Entry, view: JournalView): JournaledTransaction {
  const { status, coinOf, costOf } = view
  const { chain, network, address, kind, connector, nonce, state, landed, replacedBy, reason, attempts, requestId } = entry
  const { signer, idempotencyKey, createdAt, updatedAt, deadline, privateOnly, permits, archived, client, request, planned } = entry
  const fill = isFinal(entry) ? journaledFill(entry) : undefined
  const quote = readQuote(entry)
  const cost = isFinal(entry) ? showCost(costOf(entry), coinOf(entry), quote) : undefined
  const slippage = slippageOf(entry, fill, quote)
  const delivery = view.deliveryOf?.(entry)
  return {
    id: entry.key,
    chain,
    network,
    address,
    client,
    kind,
    ...(connector !== undefined && { connector }),
    ...(signer !== undefined && { signer }),
    txHash: txHashOf(entry) ?? null,
    nonce,
    txState: state,
    final: isFinal(entry),
    txStatus: status(entry),
    txBlock: landed?.blockNumber ?? -1,
    ...(replacedBy !== undefined && { replacedBy }),
    ...(reason !== undefined && { reason: printable(reason) }),
    attempts: attempts.map((each) => showAttempt(each, entry, view)),
    requestId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    createdAt,
    updatedAt,
    ...(deadline !== undefined && { deadline }),
    ...(privateOnly && { privateOnly }),
    ...(permits && { permits: permits.map(showPermit) }),
    ...(request && { request: { path: request.path, fields: { ...request.fields } } }),
    ...(isObject(planned) && { planned: { ...planned } }),
    ...(quote && { quote }),
    ...(entry.simulated && { simulated: showMovements(entry, entry.simulated, view) }),
    ...(fill && { fill }),
    ...(cost && { cost }),
    ...(slippage && { slippage }),
    ...(entry.movements && { movements: showMovements(entry, entry.movements, view) }),
    ...(entry.orders && { orders: entry.orders.flatMap(showOrder) }),
    ...(delivery && { delivery }),
    ...(archived && { archived }),
  }
}

function showAttempt(attempt: Entry['attempts'][number], entry: Entry, { maxFeeOf, coinOf }: JournalView): ShownAttempt {
  const { id, signedAt, sends, sentAt, node } = attempt
  const [coin, maxFeeRaw] = [coinOf(entry), maxFeeOf?.(entry, attempt)]
  return {
    txHash: id,
    signedAt,
    sends,
    ...(sentAt !== undefined && { sentAt }),
    ...(node !== undefined && { node: printable(node) }),
    ...(coin && maxFeeRaw !== undefined && { maxFee: fromRaw(maxFeeRaw, coin.decimals), feeToken: coin.symbol }),
  }
}

type ShownAttempt = JournaledTransaction['attempts'][number]

const showPermit = ({ token, spender, amountRaw, decimals, expires, nonce, state }: JournaledPermit) => ({
  token,
  spender,
  amount: fromRaw(BigInt(amountRaw), decimals),
  expires,
  nonce,
  state,
})

/** None where its row does not say what it is: that is no reason to show nothing of the others. */
function showOrder({ clientOrderId, orderId, market, about, report, fills }: PlacedOrder): NonNullable<JournaledTransaction['orders']> {
  if (!isObject(about)) return []
  const { side, price, amount } = readAboutOrder({ about })
  if (![side, price, amount].every((each) => typeof each === 'string')) return []
  return [
    {
      clientOrderId,
      ...(orderId !== undefined && { orderId }),
      market,
      side,
      price,
      amount,
      ...(report && { state: report.state }),
      ...(report?.filledAmount !== undefined && { filledAmount: report.filledAmount }),
      ...(report?.averagePrice !== undefined && { averagePrice: report.averagePrice }),
      fills: fills.map((each) => ({ ...each })),
    },
  ]
}

type ShownQuote = NonNullable<JournaledTransaction['quote']>

const StoredQuote = JournaledTransaction.properties.quote

/** A server wrote it, maybe of another version: one that does not say what is told of quotes is no reason to tell nothing of the other transactions. */
function readQuote({ quote }: Entry): ShownQuote | undefined {
  if (!fits(StoredQuote, quote)) return undefined
  const { marketPrice = '0', coinPrice = '0' } = quote
  return isDecimal(marketPrice) && isDecimal(coinPrice) ? quote : undefined
}

const isDecimal = (text: unknown): text is string => typeof text === 'string' && /^-?\d{1,200}(\.\d{1,200})?(e-?\d{1,2})?$/i.test(text)

function showCost(
  cost: Cost | undefined,
  coin: Pick<Token, 'symbol' | 'decimals'> | undefined,
  quote: ShownQuote | undefined,
): JournaledTransaction['cost'] {
  if (!cost) return undefined
  const { feeRaw, gasUsed, layer1FeeRaw, rentRaw } = cost
  const fee = coin && fromRaw(BigInt(feeRaw), coin.decimals)
  return {
    rawFee: feeRaw,
    ...(fee !== undefined && { fee, feeToken: coin?.symbol }),
    ...(fee !== undefined && quote?.coinPrice !== undefined && { feeInQuote: multiply(fee, quote.coinPrice) }),
    ...(coin && layer1FeeRaw !== undefined && { layer1Fee: fromRaw(BigInt(layer1FeeRaw), coin.decimals) }),
    ...(gasUsed !== undefined && { gasUsed }),
    ...(coin && rentRaw !== undefined && { rent: fromRaw(BigInt(rentRaw), coin.decimals) }),
  }
}

const showMovements = (entry: Entry, movements: NonNullable<Entry['movements']>, { tokenOf }: JournalView) =>
  Object.entries(movements).map(([token, rawAmount]) => {
    const listed = tokenOf(entry, token)
    return {
      token,
      ...(listed && { symbol: listed.symbol }),
      ...(listed && rawAmount !== null && { amount: formatDecimal({ digits: BigInt(rawAmount), scale: listed.decimals }) }),
      rawAmount,
    }
  })

/** How much worse the price of the fill is, as fractions. */
function slippageOf(
  { kind, request, planned }: Entry,
  fill: Json | object | undefined,
  quote: ShownQuote | undefined,
): JournaledTransaction['slippage'] {
  const side = request?.fields['side']
  if (kind !== 'trade' || !isObject(fill) || !isObject(planned) || (side !== 'BUY' && side !== 'SELL')) return undefined
  const [price, quoted] = [fill['price'], planned['price']]
  if (!isDecimal(price) || !isDecimal(quoted)) return undefined
  const market = quote?.marketPrice
  return { quote: worseThan(quoted, price, side), ...(market !== undefined && { market: worseThan(market, price, side) }) }
}

const slippageDecimals = 10

/** As a fraction of the expected price, rounded up; below 0 it is better. */
function worseThan(expected: string, price: string, side: 'BUY' | 'SELL'): string {
  const { aRaw: expectedRaw, bRaw: priceRaw } = toCommonScale(expected, price)
  if (expectedRaw === 0n) return '0'
  const lost = (side === 'SELL' ? expectedRaw - priceRaw : priceRaw - expectedRaw) * 10n ** BigInt(slippageDecimals)
  return formatDecimal({ digits: (lost > 0n ? lost + expectedRaw - 1n : lost) / expectedRaw, scale: slippageDecimals })
}
