// Orders held against the market, before they are planned: what each gives at most, and gets at least.
import type { BookSet } from '../../api/index.ts'
import type { BookAction, TimeInForce, Token } from '../../contracts/index.ts'
import {
  add,
  compare,
  divideRaw,
  isLess,
  max,
  multiply,
  parseDecimal,
  subtract,
  sum,
  toCommonScale,
  toFraction,
  valueAt,
  type Fraction,
} from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { requireLeverageSetting } from '../../limits/perpetual-limits.ts'
import { tokensOfMarket } from '../../market/book-tokens.ts'
import { tradingOf } from '../../plugins/index.ts'
import type { Commitment } from '../../transactions/budgets.ts'
import type { ConnectorContext } from '../context.ts'
import { touchesOfOrder } from '../touches.ts'
import { closesNearIndex, heldAgainstMarket, isHeldToIndex, requireNearIndex } from '../market-check.ts'
import { closing, perpetualCommitment } from '../perp/losses.ts'
import { readBookWorth } from '../perp/worth.ts'

/** No exchange that takes more is worth an order, and what a plugin names is only its word. */
const mostFee = toFraction('0.01')

/** What an order gives away at most, with the larger of the exchange's fees, but at most 1 %: tokens of the network's list. */
export function orderGives(
  { market, order }: Placement,
  { network, venue }: Pick<ConnectorContext, 'network' | 'venue'>,
): { token: string; amountRaw: bigint }[] {
  const [side, price] = order.side === 'SELL' ? (['base', '1'] as const) : (['quote', order.price] as const)
  const fees = [market.makerFee, market.takerFee]
    .filter((fee) => !fee.startsWith('-'))
    .map(toFraction)
    .map((fee) => (fee.numerator * mostFee.denominator > mostFee.numerator * fee.denominator ? mostFee : fee))
  return tokensOfMarket(market, side, network.tokens.listed, venue).map((token) => {
    const amountRaw = amountOf(order, price, token, 'up')
    const withFees = fees.map(({ numerator, denominator }) => divideRaw(amountRaw * (denominator + numerator), denominator, 'up'))
    return { token: token.address, amountRaw: withFees.reduce((most, raw) => (raw > most ? raw : most), amountRaw) }
  })
}

/** An order's amount in base times a price, in a token's smallest units. */
export function amountOf(
  { amount }: Pick<Placement['order'], 'amount'>,
  price: string,
  { decimals }: Token,
  rounding: 'up' | 'down',
): bigint {
  const { digits, scale } = parseDecimal(amount)
  return valueAt(price, { raw: digits, decimals: scale }, decimals, rounding)
}

export type Placement = BookAction & { do: 'create' }

/** Holds each order that is placed against the lists of the client and the market. Those that are refused keep no other from being placed. */
export async function holdOrders(type: BookSet, actions: ReadonlyMap<number, BookAction>, owner: string, context: ConnectorContext) {
  const commitments = new Map<number, Commitment>()
  const tooFar = new Map<number, SluiceError>()
  let stake: ReturnType<typeof stakeOfOrders> | undefined
  for (const [key, action] of actions) {
    if (action.do !== 'create') continue
    try {
      const { network, venue, services, caller } = context
      if (action.order.reduceOnly !== true)
        services.allowLists.require(caller.id, () => touchesOfOrder(type, action, venue, network), network)
      commitments.set(
        key,
        type === 'PERP_CLOB'
          ? await heldPerpetual(action, await (stake ??= stakeOfOrders(actions, owner, context)), context)
          : heldOrder(action, context),
      )
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      tooFar.set(key, error)
    }
  }
  return { commitments, tooFar }
}

/** By the order's own price: the worst that it may be filled at. */
function heldOrder(action: Placement, context: ConnectorContext): Commitment {
  const { market, order } = action
  const [side, price] = order.side === 'SELL' ? (['quote', order.price] as const) : (['base', '1'] as const)
  const [bought] = tokensOfMarket(market, side, context.network.tokens.listed, context.venue)
  const gives = Object.fromEntries(orderGives(action, context).map(({ token, amountRaw }) => [token, amountRaw]))
  const named = Object.keys(gives).length === 0 ? { [order.side === 'SELL' ? market.base : market.quote]: 1n } : gives
  const held = heldAgainstMarket(
    { gives: named, gets: bought ? { [bought.address]: amountOf(order, price, bought, 'down') } : { [market[side]]: 1n } },
    context,
  )
  return endsAtOnce.has(order.timeInForce) ? held : { ...held, mayLoseLater: true }
}

const endsAtOnce: ReadonlySet<TimeInForce> = new Set(['IOC', 'FOK'])

/** What the account is worth, as a part of the notional of all orders that may open something; undefined where they are not held against the index. */
async function stakeOfOrders(actions: ReadonlyMap<number, BookAction>, owner: string, context: ConnectorContext) {
  const opening = [...actions.values()].flatMap((action) =>
    action.do === 'create' && action.order.reduceOnly !== true ? [action.order] : [],
  )
  if (opening.length === 0 || !isHeldToIndex(context)) return undefined
  const { worth } = await readBookWorth(tradingOf('PERP_CLOB', context.venue), owner, { signal: context.signal })
  const { aRaw, bRaw } = toCommonScale(worth, sum(opening.map(({ price, amount }) => multiply(price, amount))))
  return { numerator: aRaw > 0n ? aRaw : 0n, denominator: bRaw > 0n ? bRaw : 1n }
}

async function heldPerpetual({ market, order }: Placement, stake: Fraction | undefined, context: ConnectorContext): Promise<Commitment> {
  const { venue, services, caller, network } = context
  const limits = services.limitsOn(caller.id, network)
  requireLeverageSetting(order.leverage, limits)
  if (!isHeldToIndex(context) && limits?.maxDailyLoss === undefined) return { gives: {}, gets: {} }
  const { indexPrice } = await tradingOf('PERP_CLOB', venue).prices(market, { signal: context.signal })
  const side = order.side === 'BUY' ? 'LONG' : 'SHORT'
  const reduces = order.reduceOnly === true
  const atWorst = { side, worst: toFraction(order.price), index: toFraction(indexPrice) } as const
  requireNearIndex({ ...atWorst, stake: reduces ? undefined : stake }, context)
  const [fee = '0'] = [market.makerFee, market.takerFee].toSorted((a, b) => compare(b, a))
  const notional = multiply(order.price, order.amount)
  const indexed = multiply(indexPrice, order.amount)
  const lost = side === 'LONG' ? subtract(notional, indexed) : subtract(indexed, notional)
  const committed = perpetualCommitment(market, add(lost, isLess(fee, '0') ? '0' : multiply(max(notional, indexed), fee)), context)
  return reduces && closesNearIndex(atWorst, context) ? closing(committed) : committed
}

/** Of all orders of a plan. */
export function sumOf(all: readonly Commitment[]): Commitment {
  const add = (key: 'gives' | 'gets') => {
    const sum = new Map<string, bigint>()
    for (const each of all) for (const [token, raw] of Object.entries(each[key] ?? {})) sum.set(token, (sum.get(token) ?? 0n) + raw)
    return Object.fromEntries(sum)
  }
  const markets = all.flatMap(({ market }) => market ?? [])
  return {
    gives: add('gives'),
    gets: add('gets'),
    ...(markets.length === all.length && {
      market: {
        lossMicros: markets.reduce((sum, { lossMicros }) => sum + lossMicros, 0n),
        prices: Object.assign({}, ...markets.map(({ prices }) => prices)) as Readonly<Record<string, bigint>>,
        medianPrices: Object.assign({}, ...markets.map(({ medianPrices }) => medianPrices)) as Readonly<Record<string, bigint>>,
      },
    }),
    ...(all.length > 0 && all.every((each) => each.closesNearIndex) && { closesNearIndex: true as const }),
    ...(all.some((each) => each.mayLoseLater) && { mayLoseLater: true as const }),
  }
}
