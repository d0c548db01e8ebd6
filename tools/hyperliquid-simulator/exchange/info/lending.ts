import {
  AllBorrowLendReserveStatesRequest,
  AllBorrowLendReserveStatesResponse,
  BorrowLendReserveStateRequest,
  BorrowLendReserveStateResponse,
  BorrowLendUserStateRequest,
  BorrowLendUserStateResponse,
  UserBorrowLendInterestRequest,
  UserBorrowLendInterestResponse,
} from '@nktkas/hyperliquid/api/info'
import { object, picklist, pipe, regex, string, union } from 'valibot'
import { fromUnits, fromPrice, fromRate } from '../amounts.ts'
import type { Engine } from '../engine.ts'
import type { Account } from '../account.ts'
import { borrowOraclePx, liquidatableFrom, portfolioOf } from '../margin/portfolio.ts'
import { borrowRateOf, supplyRateOf, utilizationOf, type Reserve } from '../margin/reserves.ts'
import { defineQuery } from './query.ts'

const stateOf = (engine: Engine, reserve: Reserve) => {
  const show = (wei: bigint) => fromUnits(wei, reserve.token.weiDecimals)
  return {
    borrowYearlyRate: fromRate(borrowRateOf(reserve)),
    supplyYearlyRate: fromRate(supplyRateOf(reserve)),
    balance: show(reserve.balance),
    utilization: fromRate(utilizationOf(reserve)),
    oraclePx: fromPrice(borrowOraclePx(engine, reserve.token)),
    ltv: fromUnits(reserve.ltvPercent, 2),
    totalSupplied: show(reserve.supplied),
    totalBorrowed: show(reserve.borrowed),
  }
}

export const borrowLendReserveState = defineQuery({
  request: BorrowLendReserveStateRequest,
  response: BorrowLendReserveStateResponse,
  answer: (engine, { token }) => {
    const reserve = engine.reserves.get(token)
    return reserve ? stateOf(engine, reserve) : null
  },
})

export const allBorrowLendReserveStates = defineQuery({
  request: AllBorrowLendReserveStatesRequest,
  response: AllBorrowLendReserveStatesResponse,
  answer: (engine) => [...engine.reserves.values()].map((reserve) => [reserve.token.index, stateOf(engine, reserve)]),
})

/** Who is not healthy is said so by later versions of the client library; where each begins is this simulator's guess but for the second. */
const unhealthy = [
  { above: 10n ** 10n, health: 'backstopLiquidatable' },
  { above: liquidatableFrom, health: 'marketLiquidatable' },
  { above: 9n * 10n ** 9n, health: 'atRisk' },
] as const

function healthOf(engine: Engine, account: Account | undefined) {
  if (account?.mode !== 'portfolioMargin') return { health: 'healthy', healthFactor: null }
  const { ratio } = portfolioOf(engine, account)
  const found = unhealthy.find(({ above }) => ratio > above)
  return found
    ? { health: found.health, healthFactor: fromUnits((liquidatableFrom * 10n ** 4n) / ratio, 4) }
    : { health: 'healthy', healthFactor: null }
}

export const borrowLendUserState = defineQuery({
  request: BorrowLendUserStateRequest,
  response: union([
    BorrowLendUserStateResponse,
    object({
      tokenToState: BorrowLendUserStateResponse.entries.tokenToState,
      health: picklist(['atRisk', 'marketLiquidatable', 'backstopLiquidatable']),
      healthFactor: pipe(string(), regex(/^\d+\.\d+$/)),
    }),
  ]),
  answer: (engine, { user }) => {
    const account = engine.accounts.get(user)
    const loans = [...(account?.loans ?? [])].filter(([, { supplied, borrowed }]) => supplied > 0n || borrowed > 0n)
    return {
      tokenToState: loans.map(([token, { supplied, suppliedBasis, borrowed, borrowedBasis }]) => {
        const show = (wei: bigint) => fromUnits(wei, engine.reserves.get(token)!.token.weiDecimals)
        return [
          token,
          { borrow: { basis: show(borrowedBasis), value: show(borrowed) }, supply: { basis: show(suppliedBasis), value: show(supplied) } },
        ]
      }),
      ...healthOf(engine, account),
    }
  },
})

export const userBorrowLendInterest = defineQuery({
  request: UserBorrowLendInterestRequest,
  response: UserBorrowLendInterestResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    (accounts.get(user)?.interest ?? [])
      .filter(({ time }) => time >= startTime && time <= (endTime ?? Infinity))
      .map(({ time, token, borrow, supply }) => ({
        time,
        token: token.name,
        borrow: fromUnits(borrow, token.weiDecimals),
        supply: fromUnits(supply, token.weiDecimals),
      })),
})
