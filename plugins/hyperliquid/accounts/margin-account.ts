import type { At, MarginAccount, MarginToken } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare, divided, minus, plain, plus, sum, times } from '../decimal.ts'
import type { Listing } from '../markets.ts'
import { isShared, readMode } from './account-mode.ts'
import { lending, reserves } from '../accounts.ts'
import { perpAccountOf, readPerpState } from './perp-account.ts'
import { readSpotState } from './spot-balances.ts'

/** The token that the exchange counts in, and to how many decimals. */
const unit = 'USDC'
const dollarDecimals = 6

/** The account with portfolio margin, in dollars, as the exchange tells it. One round trip. */
export async function readMarginAccount(ask: Ask, user: string, { tokens: listed }: Listing, at: At): Promise<MarginAccount> {
  const [mode, spot, perp, loans, rates] = await Promise.all([
    readMode(ask, user, at),
    readSpotState(ask, user, at),
    readPerpState(ask, user, at),
    ask({ type: 'borrowLendUserState', user }, lending, at),
    ask({ type: 'allBorrowLendReserveStates' }, reserves, at),
  ])
  const reserveOf = new Map(rates)
  const loanOf = new Map(loans.tokenToState)
  const freeOf = new Map(spot.tokenToAvailableAfterMaintenance ?? [])
  const balanceOf = new Map(spot.balances.map((balance) => [balance.token, balance]))
  const perps = perpAccountOf(perp)
  const nameOf = new Map(listed.map(({ index, name }) => [index, name]))

  const indices = [...new Set([...reserveOf.keys(), ...loanOf.keys()])]
  const holdings = indices.map((index) => {
    const { total = '0', hold = '0' } = balanceOf.get(index) ?? {}
    const { supply, borrow } = loanOf.get(index) ?? { supply: { value: '0' }, borrow: { value: '0' } }
    const symbol = nameOf.get(index) ?? String(index)
    const reserve = reserveOf.get(index)
    const token: MarginToken = {
      symbol,
      deposited: plain(supply.value),
      borrowed: plain(borrow.value),
      available: plain(freeOf.get(index) ?? lowest(minus(total, hold))),
      borrowRate: plain(reserve?.borrowYearlyRate ?? '0'),
    }
    const price = symbol === unit ? '1' : (reserve?.oraclePx ?? '0')
    return {
      token,
      worth: divided(times(total, price), '1', dollarDecimals, 'down'),
      owed: divided(times(borrow.value, price), '1', dollarDecimals, 'up'),
      isCollateral: compare(reserve?.ltv ?? '0', '0') > 0,
    }
  })
  const borrowed = sum(holdings.map(({ owed }) => owed))
  const worth = sum(holdings.map((each) => each.worth))
  return {
    mode,
    sharedWith: isShared(mode) ? ['perpetual positions'] : [],
    equity: minus(isShared(mode) ? worth : plus(worth, perps.accountValue), borrowed),
    // What may be borrowed against.
    collateral: sum(holdings.filter(({ isCollateral }) => isCollateral).map((each) => each.worth)),
    borrowed,
    freeCollateral: plain(freeOf.get(indexOf(unit, listed)) ?? perps.freeCollateral),
    initialMargin: perps.initialMargin,
    maintenanceMargin: perps.maintenanceMargin,
    ...(spot.portfolioMarginRatio !== undefined && { marginRatio: plain(spot.portfolioMarginRatio) }),
    tokens: holdings.map(({ token }) => token),
  }
}

const lowest = (amount: string) => (compare(amount, '0') < 0 ? '0' : amount)
const indexOf = (name: string, tokens: Listing['tokens']) => tokens.find((each) => each.name === name)?.index ?? 0
