import {
  orderStates,
  orderTypes,
  timesInForce,
  type BookMarket,
  type CLOB,
  type MarginCLOB,
  type OrderName,
  type PerpCLOB,
} from '../contracts/index.ts'
import { checkPlan, invalid, list, object, present, requireOneOf, requireTexts, type Rules } from './answer-checks.ts'

type Fields = Readonly<Record<string, unknown>>

/** Lists of markets are long, and a connector returns the same one again and again. */
const checkedLists = new WeakSet<object>()

/** What every order book has. An answer about another market or order than the requested one would be shown as the requested one's. */
const bookRules: Omit<Rules<CLOB>, 'move' | 'depositFrom'> = {
  markets: (answer) => {
    const markets = list('markets', answer)
    if (checkedLists.has(markets)) return
    requireUnique('markets', 'name', markets.map(checkBookMarket))
    checkedLists.add(markets)
  },
  orders: (answer, [, { market, names }]) => {
    for (const each of list('orders', answer)) {
      const order = object('order', each)
      requireTexts('order', order, ['orderId', ...present(order, ['clientOrderId'])], { empty: false })
      checkSameMarket('order', order.market, market)
      requireOneOf('order', 'side', order.side, ['BUY', 'SELL'])
      requireOneOf('order', 'orderType', order.orderType, orderTypes)
      requireOneOf('order', 'state', order.state, orderStates)
      requireDecimals('order', order, ['price', 'amount', 'filledAmount', ...present(order, ['averagePrice'])])
      for (const key of ['createdAt', 'updatedAt']) checkTime('order', key, order[key])
      if (names && !names.some((name) => isNamed(order, name))) throw invalid('orders', 'order', 'one of the requested ones')
    }
  },
  trades: (answer, [{ market, orderId, before }]) => {
    let last = before === undefined ? Infinity : before - 1
    for (const each of list('trades', answer)) {
      const trade = object('trade', each)
      requireTexts('trade', trade, ['tradeId', 'feeToken', ...present(trade, ['orderId'])], { empty: false })
      if (orderId !== undefined && trade.orderId !== orderId) throw invalid('trade', 'orderId', 'the requested one')
      checkSameMarket('trade', trade.market, market)
      requireOneOf('trade', 'side', trade.side, ['BUY', 'SELL'])
      requireDecimals('trade', trade, ['price', 'amount'], 'above 0')
      requireDecimals('trade', trade, ['fee'], 'signed')
      last = checkNotNewer('trades', trade.timestamp, last)
    }
  },
  balances: (answer) => {
    const symbols = list('balances', answer).map((each) => {
      const balance = object('balance', each)
      requireTexts('balance', balance, ['symbol'], { empty: false })
      requireDecimals('balance', balance, ['total', 'available', 'locked'], 'signed')
      return balance.symbol
    })
    requireUnique('balances', 'symbol', symbols)
  },
  act: (answer, [, actions]) => {
    const covered = list('act', answer).flatMap((each) => {
      const { covers, plan } = object('act', each)
      checkBookPlan(plan)
      return list('covers', covers)
    })
    if (covered.length !== actions.length || !actions.every((_, index) => covered.includes(index)))
      throw new Error('act must return plans that cover each action once')
  },
  outcome: (answer) => {
    for (const each of list('outcome', answer)) {
      const outcome = object('outcome', each)
      requireOneOf('outcome', 'state', outcome.state, orderStates)
      requireTexts('outcome', outcome, present(outcome, ['orderId', 'reason']), { empty: false })
      requireDecimals('outcome', outcome, present(outcome, ['filledAmount', 'averagePrice']))
    }
  },
}

export const clobRules: Rules<CLOB> = { ...bookRules, move: checkBookPlan, depositFrom: checkDepositPlan }

export const marginCLOBRules: Rules<MarginCLOB> = {
  ...clobRules,
  account: (answer) => {
    const account = object('account', answer)
    requireTexts('account', account, ['mode'], { empty: false })
    for (const sharedWith of list('account.sharedWith', account.sharedWith))
      requireTexts('account', { sharedWith }, ['sharedWith'], { empty: false })
    const amounts = ['equity', 'collateral', 'borrowed', 'freeCollateral', 'initialMargin', 'maintenanceMargin']
    requireDecimals('account', account, [...amounts, ...present(account, ['marginRatio'])], 'signed')
    for (const each of list('account.tokens', account.tokens)) {
      const token = object('account.tokens', each)
      requireTexts('account.tokens', token, ['symbol'], { empty: false })
      requireDecimals('account.tokens', token, ['deposited', 'borrowed', 'available', 'borrowRate'], 'signed')
      requireDecimals('account.tokens', token, present(token, ['borrowCap']))
    }
  },
}

export const perpCLOBRules: Rules<PerpCLOB> = {
  ...clobRules,
  positions: (answer) => {
    for (const each of list('positions', answer)) {
      const position = object('position', each)
      checkSameMarket('position', position.market, undefined)
      requireOneOf('position', 'side', position.side, ['LONG', 'SHORT'])
      requireOneOf('position', 'marginMode', position.marginMode, ['cross', 'isolated'])
      const amounts = ['amount', 'entryPrice', 'markPrice', 'leverage']
      requireDecimals('position', position, [...amounts, ...present(position, ['liquidationPrice'])])
      requireDecimals('position', position, ['unrealizedProfit', 'pendingFunding'], 'signed')
    }
  },
  account: (answer) => {
    const account = object('account', answer)
    requireDecimals('account', account, ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'], 'signed')
    requireDecimals('account', account, ['notional'])
  },
  leverage: checkBookPlan,
  prices: (answer) => {
    const prices = object('prices', answer)
    requireDecimals('prices', prices, ['indexPrice', 'markPrice'], 'above 0')
    requireDecimals('prices', prices, ['fundingRate'], 'signed')
    checkTime('prices', 'nextFundingTimestamp', prices.nextFundingTimestamp)
  },
  fundingPayments: (answer, [, { market, before }]) => {
    let last = before === undefined ? Infinity : before - 1
    for (const each of list('fundingPayments', answer)) {
      const payment = object('payment', each)
      checkSameMarket('payment', payment.market, market)
      requireDecimals('payment', payment, ['amount', 'rate'], 'signed')
      last = checkNotNewer('fundingPayments', payment.timestamp, last)
    }
  },
}

function checkBookMarket(value: unknown): string {
  const market = object('market', value)
  const name = checkMarketName('markets', market)
  checkGrid(market.prices)
  requireDecimals('market', market, ['lotSize', ...present(market, ['maxLeverage'])], 'above 0')
  requireDecimals('market', market, present(market, ['minOrderSize', 'minNotional']))
  requireDecimals('market', market, ['makerFee', 'takerFee'], 'signed')
  requireOneOf('market', 'status', market.status, ['open', 'paused', 'closed'])
  for (const [orderType, times] of Object.entries(object('market.takes', market.takes))) {
    requireOneOf('market.takes', 'orderType', orderType, orderTypes)
    if (list(`market.takes.${orderType}`, times).length === 0)
      throw invalid('market.takes', orderType, 'a list with the usual time in force first')
    for (const each of list('times', times)) requireOneOf('market.takes', orderType, each, timesInForce)
  }
  return name
}

function checkGrid(grid: unknown): void {
  if (grid === 'any') return
  const prices = object('market.prices', grid)
  if (prices.step !== undefined) return requireDecimals('market.prices', prices, ['step'], 'above 0')
  const isCount = (value: unknown, min: number) => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= 77
  if (!isCount(prices.significantFigures, 1) || !isCount(prices.maxDecimals, 0))
    throw invalid('market', 'prices', "'any', { step }, or { significantFigures, maxDecimals }")
}

/** @returns the market's name in capitals */
function checkMarketName(of: string, value: unknown): string {
  const market = object(`${of}.market`, value)
  requireTexts(`${of}.market`, market, ['id', 'base', 'quote'], { empty: false })
  return `${String(market.base)}-${String(market.quote)}`.toUpperCase()
}

function checkSameMarket(of: string, value: unknown, requested: BookMarket | undefined): void {
  checkMarketName(of, value)
  if (requested && object('market', value).id !== requested.id) throw invalid(of, 'market', 'the requested one')
}

/** A plan for the venue's own chain, or for the exchange's own rail. */
function checkBookPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'venue') throw invalid('plan', 'via', "'venue', or left out")
  requireTexts('plan', plan, present(plan, ['signer']), { empty: false })
  checkPlan({ ...plan, needs: [] })
}

/** A plan for the venue's own chain, or a transfer over a bridge. */
function checkDepositPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'bridge') throw invalid('plan', 'via', "'bridge', or left out")
}

const isNamed = ({ orderId, clientOrderId }: Fields, name: OrderName): boolean =>
  (name.orderId !== undefined && name.orderId === orderId) || (name.clientOrderId !== undefined && name.clientOrderId === clientOrderId)

function requireUnique(of: string, key: string, values: readonly unknown[]): void {
  if (new Set(values).size < values.length) throw new Error(`${of} has two entries of one ${key}`)
}

/** Digits with at most one point. Text with an exponent, or that is not a number, would be shown and computed with as it is. */
const decimal = /^\d{1,100}(\.\d{1,100})?$/

function requireDecimals(
  of: string,
  fields: Fields,
  keys: readonly string[],
  kind: 'signed' | 'above 0' | '0 or more' = '0 or more',
): void {
  for (const key of keys) {
    const value = fields[key]
    const text = typeof value === 'string' ? (kind === 'signed' ? value.replace(/^-/, '') : value) : ''
    if (decimal.test(text) && (kind !== 'above 0' || /[1-9]/.test(text))) continue
    throw invalid(
      of,
      key,
      { signed: 'a decimal string', 'above 0': 'a decimal string above 0', '0 or more': 'a decimal string of 0 or more' }[kind],
    )
  }
}

/** Milliseconds since the Unix epoch. */
function checkTime(of: string, key: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalid(of, key, 'milliseconds since the Unix epoch')
  return value
}

/** Newest first. @param last of the entry before, or of the request */
function checkNotNewer(of: string, timestamp: unknown, last: number): number {
  const time = checkTime(of, 'timestamp', timestamp)
  if (time > last) throw invalid(of, 'timestamp', 'before the requested time, newest first')
  return time
}
