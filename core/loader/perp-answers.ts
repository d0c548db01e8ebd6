import { checkHead, checkPlan, isAmount, object, wrong, type Check } from '../boot/answers/check.ts'
import {
  checkAccount,
  checkMarket,
  checkName,
  checkPosition,
  checkPrice,
  checkPrices,
  checkRatio,
  checkSame,
  checkToken,
} from '../boot/answers/perp-shapes.ts'

/** By verb of PERP_AMM. What it says of another market or order than was asked for would go into bounds, and be shown as this one's. */
export const perpAMMChecks: Readonly<Record<string, Check>> = {
  listed: (answer) => {
    const { markets, settlement } = object('listed', answer)
    const tickers = each('listed', 'markets', markets).map(checkName)
    if (new Set(tickers).size < tickers.length) throw wrong('listed', 'markets', 'of different names')
    checkToken('listed.settlement', settlement)
  },
  prices: (answer, [asked]) => {
    const { head, market, prices } = object('prices', answer)
    checkHead('prices', head)
    checkMarket(market)
    checkSame('prices', market, asked)
    checkPrices('prices', prices)
  },
  position: (answer, [, asked]) => {
    const { head, position, account } = object('position', answer)
    checkHead('position', head)
    checkPosition(position, asked)
    checkAccount(account)
  },
  account: (answer) => {
    const { head, account } = object('account', answer)
    checkHead('account', head)
    checkAccount(account)
  },
  funding: (answer) => {
    const { head, funding } = object('funding', answer)
    checkHead('funding', head)
    for (const one of each('funding', 'funding', funding)) {
      const { market, rate, periodSeconds, index, mark, pendingRaw, nextAt } = object('funding', one)
      checkMarket(market)
      checkRatio('funding.rate', rate)
      for (const [key, price] of Object.entries({ index, mark })) checkPrice(`funding.${key}`, price)
      if (typeof pendingRaw !== 'bigint') throw wrong('funding', 'pendingRaw', 'a bigint')
      for (const [key, seconds] of Object.entries({ periodSeconds, nextAt: nextAt ?? 0 }))
        if (!Number.isSafeInteger(seconds)) throw wrong('funding', key, 'whole seconds')
    }
  },
  quote: (answer, [asked, owner]) => {
    checkQuote('quote', answer)
    const quote = object('quote', answer)
    const [quoted, order] = [object('quote.order', quote.order), object('order', asked)]
    if (quoted.side !== order.side || quoted.sizeRaw !== order.sizeRaw) throw wrong('quote', 'order', 'the order that was asked for')
    checkSame('quote', quote.market, order.market)
    if (owner === undefined) return
    checkPosition(quote.position, order.market)
    checkAccount(quote.account)
    if (quote.after === undefined) return
    const after = object('quote.after', quote.after)
    for (const key of ['sizeRaw', 'openNotionalRaw']) if (typeof after[key] !== 'bigint') throw wrong('quote.after', key, 'a bigint')
  },
  closing: (answer, [, asked]) => {
    if (answer === undefined) return
    checkQuote('closing', answer)
    const { market, position, account, order } = object('closing', answer)
    checkSame('closing', market, asked)
    checkPosition(position, asked)
    checkAccount(account)
    const { sizeRaw: held } = object('closing.position', position)
    const { side, sizeRaw } = object('closing.order', order)
    if (typeof held !== 'bigint' || typeof sizeRaw !== 'bigint') throw wrong('closing', 'sizeRaw', 'a bigint')
    if (side !== (held > 0n ? 'SHORT' : 'LONG')) throw wrong('closing.order', 'side', "the other than the position's")
    if (sizeRaw > (held < 0n ? -held : held)) throw wrong('closing.order', 'sizeRaw', 'no more than the position has')
  },
  open: checkPlan,
  close: checkPlan,
  collateral: (answer, [, asked]) => {
    const { head, token, depositedRaw, withdrawableRaw } = object('collateral', answer)
    checkHead('collateral', head)
    checkToken('collateral.token', token)
    if (object('token', token).address !== object('token', asked).address) throw wrong('collateral', 'token', 'that which was asked for')
    for (const [key, raw] of Object.entries({ depositedRaw, withdrawableRaw }))
      if (!isAmount(raw)) throw wrong('collateral', key, 'a bigint of 0 or more')
  },
  move: checkPlan,
  perpFill: (answer) => {
    if (answer === undefined) return
    const { market, closedRatio, realizedProfitRaw, ...amounts } = object('perpFill', answer)
    checkName(market)
    for (const key of ['sizeRaw', 'quoteRaw', 'feeRaw']) if (!isAmount(amounts[key])) throw wrong('perpFill', key, 'a bigint of 0 or more')
    if (amounts.sizeRaw === 0n) throw wrong('perpFill', 'sizeRaw', 'more than 0')
    if (typeof realizedProfitRaw !== 'bigint') throw wrong('perpFill', 'realizedProfitRaw', 'a bigint')
    if (closedRatio === undefined) return
    const { numerator, denominator } = checkPrice('perpFill.closedRatio', closedRatio)
    if (numerator > denominator) throw wrong('perpFill', 'closedRatio', 'at most 1')
  },
  liquidations: (answer) => {
    for (const one of each('liquidations', 'answer', answer)) {
      const { txHash, blockNumber, sizeRaw } = object('liquidation', one)
      if (typeof txHash !== 'string') throw wrong('liquidation', 'txHash', 'text')
      if (!Number.isSafeInteger(blockNumber)) throw wrong('liquidation', 'blockNumber', 'a whole number')
      if (!isAmount(sizeRaw)) throw wrong('liquidation', 'sizeRaw', 'a bigint of 0 or more')
    }
  },
}

function each(of: string, key: string, values: unknown): readonly unknown[] {
  if (Array.isArray(values)) return values
  throw wrong(of, key, 'an array')
}

function checkQuote(of: string, answer: unknown): void {
  const quote = object(of, answer)
  checkHead(of, quote.head)
  checkMarket(quote.market)
  checkPrices(of, quote.prices)
  // Of nothing a bound would be no bound.
  for (const key of ['quoteRaw', 'gasUnits']) if (!isAmount(quote[key]) || quote[key] === 0n) throw wrong(of, key, 'a bigint above 0')
  for (const [key, raw] of Object.entries({ feeRaw: quote.feeRaw, missingRaw: quote.missingRaw ?? 0n }))
    if (!isAmount(raw)) throw wrong(of, key, 'a bigint of 0 or more')
  const { market, side, sizeRaw } = object(`${of}.order`, quote.order)
  checkName(market)
  checkSame(`${of}.order`, market, quote.market)
  if (side !== 'LONG' && side !== 'SHORT') throw wrong(`${of}.order`, 'side', 'LONG or SHORT')
  if (!isAmount(sizeRaw) || sizeRaw === 0n) throw wrong(`${of}.order`, 'sizeRaw', 'a bigint above 0')
}
