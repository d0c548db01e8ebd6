import { orderStates, orderTypes, timesInForce } from '../contracts/index.ts'
import { checkPlan, object, invalid, type Check } from './amm-answers.ts'
import { isObject } from '../json.ts'

/** Digits with at most one point: what stands in exponents, or is no number, would be shown and reckoned with as it is. */
const decimal = /^\d{1,100}(\.\d{1,100})?$/

function checkDecimal(of: string, key: string, value: unknown, kind: 'signed' | 'above 0' | '0 or more'): void {
  const text = typeof value === 'string' ? (kind === 'signed' ? value.replace(/^-/, '') : value) : ''
  if (!decimal.test(text) || (kind === 'above 0' && !/[1-9]/.test(text)))
    throw invalid(of, key, `a decimal string${kind === 'signed' ? '' : ` ${kind === 'above 0' ? 'above 0' : 'of 0 or more'}`}`)
}

function checkOptional(of: string, key: string, value: unknown, kind: Parameters<typeof checkDecimal>[3]): void {
  if (value !== undefined) checkDecimal(of, key, value, kind)
}

function checkText(of: string, key: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalid(of, key, 'text')
  return value
}

function checkOneOf(of: string, key: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'string' || !known.includes(value)) throw invalid(of, key, known.map((each) => `'${each}'`).join(' or '))
}

/** Milliseconds since the Unix epoch. */
function checkTime(of: string, key: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalid(of, key, 'milliseconds since the Unix epoch')
  return value
}

function list(of: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${of} is no array`)
  return value
}

const sides = ['BUY', 'SELL'] as const

const checkSide = (of: string, value: unknown) => checkOneOf(of, 'side', value, sides)
const checkState = (of: string, value: unknown) => checkOneOf(of, 'state', value, orderStates)
const checkOrderType = (of: string, value: unknown) => checkOneOf(of, 'orderType', value, orderTypes)

/** @returns what the market is called, in capitals */
function checkMarketName(of: string, value: unknown): string {
  const market = object(`${of}.market`, value)
  const [base, quote] = (['base', 'quote'] as const).map((key) => checkText(`${of}.market`, key, market[key]))
  checkText(`${of}.market`, 'id', market.id)
  return `${base}-${quote}`.toUpperCase()
}

/** @param asked where a market was asked for */
function checkSameMarket(of: string, value: unknown, asked: unknown): void {
  checkMarketName(of, value)
  if (asked !== undefined && object('market', value).id !== object('market', asked).id)
    throw invalid(of, 'market', 'that which was asked for')
}

function checkBookMarket(value: unknown): string {
  const market = object('market', value)
  const name = checkMarketName('markets', market)
  checkGrid(market.prices)
  checkDecimal('market', 'lotSize', market.lotSize, 'above 0')
  for (const key of ['minOrderSize', 'minNotional']) checkOptional('market', key, market[key], '0 or more')
  for (const key of ['makerFee', 'takerFee']) checkDecimal('market', key, market[key], 'signed')
  checkOptional('market', 'maxLeverage', market.maxLeverage, 'above 0')
  checkOneOf('market', 'status', market.status, ['open', 'paused', 'closed'])
  for (const [orderType, times] of Object.entries(object('market.takes', market.takes))) {
    checkOrderType('market.takes', orderType)
    if (list(`market.takes.${orderType}`, times).length === 0)
      throw invalid('market.takes', orderType, 'a list with the usual time in force first')
    for (const each of list('times', times)) checkOneOf('market.takes', orderType, each, timesInForce)
  }
  return name
}

function checkGrid(grid: unknown): void {
  if (grid === 'any') return
  const { step, significantFigures, maxDecimals } = object('market.prices', grid)
  if (step !== undefined) return checkDecimal('market.prices', 'step', step, 'above 0')
  const isCount = (value: unknown, least: number) => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= 77
  if (!isCount(significantFigures, 1) || !isCount(maxDecimals, 0))
    throw invalid('market', 'prices', "'any', { step }, or { significantFigures, maxDecimals }")
}

/** By the venue's own chain, or over a bridge. */
function checkDepositPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'bridge') throw invalid('plan', 'via', "'bridge', or left out")
}

/** By the chain, or by the exchange's own rail. */
function checkBookPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'venue') throw invalid('plan', 'via', "'venue', or left out")
  if (plan.signer !== undefined) checkText('plan', 'signer', plan.signer)
  checkPlan({ ...plan, needs: [] })
}

/** Lists of markets are long, and the same one is given again and again. */
const goodLists = new WeakSet<object>()

/** By verb of every order book. What it says of another market or order than was asked for would be shown as this one's. */
export const clobChecks: Readonly<Record<string, Check>> = {
  markets: (answer) => {
    const markets = list('markets', answer)
    if (goodLists.has(markets)) return
    const names = markets.map(checkBookMarket)
    if (new Set(names).size < names.length) throw new Error('markets has two of one name')
    goodLists.add(markets)
  },
  orders: (answer, [, query]) => {
    const { market, names } = object('query', query)
    for (const each of list('orders', answer)) {
      const order = object('order', each)
      checkText('order', 'orderId', order.orderId)
      if (order.clientOrderId !== undefined) checkText('order', 'clientOrderId', order.clientOrderId)
      checkSameMarket('order', order.market, market)
      checkSide('order', order.side)
      checkOrderType('order', order.orderType)
      checkState('order', order.state)
      for (const key of ['price', 'amount', 'filledAmount']) checkDecimal('order', key, order[key], '0 or more')
      checkOptional('order', 'averagePrice', order.averagePrice, '0 or more')
      for (const key of ['createdAt', 'updatedAt']) checkTime('order', key, order[key])
      if (names !== undefined && !list('names', names).some((name) => isNamed(order, name)))
        throw invalid('orders', 'order', 'one that was named')
    }
  },
  trades: (answer, [query]) => {
    const { market, orderId, before } = object('query', query)
    let last = before === undefined ? Infinity : Number(before) - 1
    for (const each of list('trades', answer)) {
      const trade = object('trade', each)
      checkText('trade', 'tradeId', trade.tradeId)
      if (trade.orderId !== undefined) checkText('trade', 'orderId', trade.orderId)
      if (orderId !== undefined && trade.orderId !== orderId) throw invalid('trade', 'orderId', 'that which was asked for')
      checkSameMarket('trade', trade.market, market)
      checkSide('trade', trade.side)
      for (const key of ['price', 'amount']) checkDecimal('trade', key, trade[key], 'above 0')
      checkDecimal('trade', 'fee', trade.fee, 'signed')
      checkText('trade', 'feeToken', trade.feeToken)
      last = checkNotNewer('trades', trade.timestamp, last)
    }
  },
  balances: (answer) => {
    const symbols = list('balances', answer).map((each) => {
      const balance = object('balance', each)
      for (const key of ['total', 'available', 'locked']) checkDecimal('balance', key, balance[key], 'signed')
      return checkText('balance', 'symbol', balance.symbol)
    })
    if (new Set(symbols).size < symbols.length) throw new Error('balances has two of one symbol')
  },
  act: (answer, [, actions]) => {
    const covered = list('act', answer).flatMap((each) => {
      const { covers, plan } = object('act', each)
      checkBookPlan(plan)
      return list('covers', covers)
    })
    const wanted = list('actions', actions).length
    const places = new Set(covered)
    const isEach = Array.from({ length: wanted }, (_, place) => place).every((place) => places.has(place))
    if (!isEach || covered.length !== wanted) throw new Error('act must give plans that cover each action once')
  },
  outcome: (answer) => {
    for (const each of list('outcome', answer)) {
      const { state, orderId, filledAmount, averagePrice, reason } = object('outcome', each)
      checkState('outcome', state)
      if (orderId !== undefined) checkText('outcome', 'orderId', orderId)
      checkOptional('outcome', 'filledAmount', filledAmount, '0 or more')
      checkOptional('outcome', 'averagePrice', averagePrice, '0 or more')
      if (reason !== undefined) checkText('outcome', 'reason', reason)
    }
  },
  move: checkBookPlan,
  depositFrom: checkDepositPlan,
}

/** Newest first. */
function checkNotNewer(of: string, timestamp: unknown, last: number): number {
  const time = checkTime(of, 'timestamp', timestamp)
  if (time > last) throw invalid(of, 'timestamp', 'before what was asked for, newest first')
  return time
}

const isNamed = (order: Readonly<Record<string, unknown>>, name: unknown): boolean =>
  isObject(name) &&
  ((name.orderId !== undefined && name.orderId === order.orderId) ||
    (name.clientOrderId !== undefined && name.clientOrderId === order.clientOrderId))

type Checks = Readonly<Record<string, Check>>

const signed = (of: string, value: Readonly<Record<string, unknown>>, keys: readonly string[]) => {
  for (const key of keys) checkDecimal(of, key, value[key], 'signed')
}

/** By verb of MARGIN_CLOB. */
export const marginClobChecks: Checks = {
  ...clobChecks,
  account: (answer) => {
    const account = object('account', answer)
    checkText('account', 'mode', account.mode)
    for (const each of list('account.sharedWith', account.sharedWith)) checkText('account', 'sharedWith', each)
    signed('account', account, ['equity', 'collateral', 'borrowed', 'freeCollateral', 'initialMargin', 'maintenanceMargin'])
    checkOptional('account', 'marginRatio', account.marginRatio, 'signed')
    for (const each of list('account.tokens', account.tokens)) {
      const token = object('account.tokens', each)
      checkText('account.tokens', 'symbol', token.symbol)
      signed('account.tokens', token, ['deposited', 'borrowed', 'available', 'borrowRate'])
      checkOptional('account.tokens', 'borrowCap', token.borrowCap, '0 or more')
    }
  },
}

/** By verb of PERP_CLOB. */
export const perpClobChecks: Checks = {
  ...clobChecks,
  positions: (answer) => {
    for (const each of list('positions', answer)) {
      const position = object('position', each)
      checkSameMarket('position', position.market, undefined)
      checkOneOf('position', 'side', position.side, ['LONG', 'SHORT'])
      checkOneOf('position', 'marginMode', position.marginMode, ['cross', 'isolated'])
      for (const key of ['amount', 'entryPrice', 'markPrice', 'leverage']) checkDecimal('position', key, position[key], '0 or more')
      signed('position', position, ['unrealizedProfit', 'pendingFunding'])
      checkOptional('position', 'liquidationPrice', position.liquidationPrice, '0 or more')
    }
  },
  account: (answer) => {
    const account = object('account', answer)
    signed('account', account, ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'])
    checkDecimal('account', 'notional', account.notional, '0 or more')
  },
  leverage: checkBookPlan,
  prices: (answer) => {
    const { indexPrice, markPrice, fundingRate, nextFundingTimestamp } = object('prices', answer)
    for (const [key, price] of Object.entries({ indexPrice, markPrice })) checkDecimal('prices', key, price, 'above 0')
    checkDecimal('prices', 'fundingRate', fundingRate, 'signed')
    checkTime('prices', 'nextFundingTimestamp', nextFundingTimestamp)
  },
  fundingPayments: (answer, [, query]) => {
    const { market, before } = object('query', query)
    let last = before === undefined ? Infinity : Number(before) - 1
    for (const each of list('fundingPayments', answer)) {
      const payment = object('payment', each)
      checkSameMarket('payment', payment.market, market)
      signed('payment', payment, ['amount', 'rate'])
      last = checkNotNewer('fundingPayments', payment.timestamp, last)
    }
  },
}
