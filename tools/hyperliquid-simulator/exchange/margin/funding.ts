import { abs, ceilDiv, floorDiv } from '../amounts/decimals.ts'
import { rateOne, usdValue } from '../amounts/units.ts'
import { stateOf, type Engine } from '../engine.ts'
import type { FundingPayment } from '../ledger/history.ts'

/**
 * An hour's funding: who is long pays who is short where the rate is above 0, by the oracle's price. Who pays, pays rounded up; who
 * receives, receives rounded down. https://hyperliquid.gitbook.io/hyperliquid-docs/trading/funding
 */
export function payFunding(engine: Engine, time: number) {
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
