import { loansOf, type FundingPayment } from './account.ts'
import { abs, ceilDiv, floorDiv, rateOne, usdValue } from './amounts.ts'
import { stateOf, type Engine } from './engine.ts'
import { liquidate } from './margin/liquidate.ts'
import { borrowRateOf } from './margin/reserves.ts'
import { endOrder } from './matching/match.ts'

const hourMs = 3_600_000

/** Does what had its time since it was asked last, in its order. */
export function catchUp(engine: Engine) {
  const now = engine.clock.now()
  const hours: number[] = []
  for (let hour = Math.floor(engine.doneUpTo / hourMs) + 1; hour * hourMs <= now; hour++) hours.push(hour * hourMs)
  engine.doneUpTo = now
  for (const hour of hours) {
    payFunding(engine, hour)
    accrueHour(engine, hour)
    liquidate(engine)
  }
  for (const account of engine.accounts.values()) {
    if (account.cancelAllAt === undefined || account.cancelAllAt > now) continue
    account.cancelAllAt = undefined
    for (const order of account.open.values()) endOrder(engine, order, 'scheduledCancel')
  }
  for (const withdrawal of engine.withdrawals) withdrawal.left ||= withdrawal.leavesAt <= now
}

/**
 * An hour's funding: who is long pays who is short where the rate is above 0, by the oracle's price. Who pays, pays rounded up; who
 * receives, receives rounded down. https://hyperliquid.gitbook.io/hyperliquid-docs/trading/funding
 */
function payFunding(engine: Engine, time: number) {
  for (const market of engine.listing.perps) {
    const { fundingRate: rate, oraclePx, rates } = stateOf(engine, market)
    rates.push({ time, rate, premium: 0n })
    if (rate === 0n) continue
    const hash = engine.nextHash()
    for (const account of engine.accounts.values()) {
      const position = account.positions.get(market.coin)
      if (!position) continue
      const due = usdValue(oraclePx, abs(position.szi)) * rate * (position.szi > 0n ? 1n : -1n)
      const paid = due > 0n ? ceilDiv(due, rateOne) : floorDiv(-due, rateOne) * -1n
      if (position.isolatedUsd === undefined) account.crossUsd -= paid
      else position.isolatedUsd -= paid
      for (const since of ['allTime', 'sinceOpen', 'sinceChange'] as const) position.funding[since] += paid
      // What is lost in rounding is the exchange's.
      engine.feesUsd += paid
      const payment: FundingPayment = { market, time, hash, usd: -paid, szi: position.szi, rate }
      account.fundings.push(payment)
      engine.outbox.fundings.push({ user: account.address, payment })
      engine.outbox.users.add(account.address)
    }
  }
}

const hoursPerYear = 8760n

/**
 * An hour's interest: whoever owes owes more, rounded up, and nine tenths of it go to who lent, rounded down; the rest is the buffer.
 * Hourly, as perpetuals' funding.
 */
function accrueHour(engine: Engine, time: number) {
  for (const reserve of engine.reserves.values()) {
    const { token } = reserve
    const rate = borrowRateOf(reserve)
    const parties = [...engine.accounts.values()].filter((account) => account.loans.has(token.index))
    const told = new Map(parties.map((account) => [account, { borrow: 0n, supply: 0n }]))
    let owed = 0n
    for (const account of parties) {
      const loans = loansOf(account, token.index)
      const more = ceilDiv(loans.borrowed * rate, hoursPerYear * rateOne)
      loans.borrowed += more
      owed += more
      told.get(account)!.borrow = more
    }
    let given = 0n
    const forLenders = (owed * 9n) / 10n
    for (const account of parties) {
      const loans = loansOf(account, token.index)
      const share = reserve.supplied === 0n ? 0n : (forLenders * loans.supplied) / reserve.supplied
      loans.supplied += share
      given += share
      told.get(account)!.supply = share
    }
    reserve.borrowed += owed
    reserve.supplied += given
    reserve.buffer += owed - given
    for (const [account, { borrow, supply }] of told) if (borrow > 0n || supply > 0n) account.interest.push({ time, token, borrow, supply })
  }
}
