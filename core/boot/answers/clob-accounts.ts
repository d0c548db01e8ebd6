import { clobChecks, checkNotNewer } from '../../loader/order-book-answers.ts'
import { object, type Check } from './check.ts'
import { checkBookPlan, checkDecimal, checkOneOf, checkOptional, checkSameMarket, checkText, checkTime, list } from './clob-shapes.ts'

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
