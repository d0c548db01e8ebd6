import { ceilDiv } from '../amounts/decimals.ts'
import { rateOne } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import { loansOf } from '../ledger/account.ts'
import { borrowRateOf } from './rates.ts'

const hoursPerYear = 8760n

/**
 * An hour's interest: whoever owes owes more, rounded up, and nine tenths of it go to who lent, rounded down; the rest is the buffer.
 * Hourly, as perpetuals' funding.
 */
export function accrueHour(engine: Engine, time: number) {
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
