import {
  AgentSetAbstractionRequest,
  AgentSetAbstractionResponse,
  BorrowLendRequest,
  BorrowLendResponse,
  UserPortfolioMarginRequest,
  UserPortfolioMarginResponse,
  UserPortfolioMarginTypes,
  UserSetAbstractionRequest,
  UserSetAbstractionResponse,
  UserSetAbstractionTypes,
} from '@nktkas/hyperliquid/api/exchange'
import { fromUnits, least, most, toUnits } from '../amounts.ts'
import { noteUpdate, type Engine } from '../engine.ts'
import { balanceOf, loansOf, type Account, type Mode } from '../account.ts'
import { borrowable } from '../margin/portfolio.ts'
import { borrow, repay, supply, takeBack, setMode } from '../margin/loans.ts'
import type { Reserve } from '../margin/reserves.ts'
import { defineAction, done, failed, type Answer } from './action.ts'

type Operation = 'supply' | 'withdraw' | 'repay' | 'borrow'

/** The words of refusals here are the simulator's own: the exchange does not publish its. */
export const borrowLend = defineAction({
  request: BorrowLendRequest,
  response: BorrowLendResponse,
  run: (engine, account, { operation, token, amount }) => {
    const reserve = engine.reserves.get(token)
    if (!reserve) return failed('Token is not borrowable or suppliable.')
    if (operation === 'borrow' && account.mode !== 'portfolioMargin') return failed('Portfolio margin is not enabled.')
    const bound = boundOf(engine, account, reserve, operation)
    const asked = amount === null ? bound : weiOf(amount, reserve.token.weiDecimals)
    if (asked === undefined || asked <= 0n) return failed(amount === null ? refusals[operation] : 'Invalid decimal number')
    if (asked > bound) return failed(refusals[operation])
    const { borrowed, borrowedBasis, supplied, suppliedBasis } = loansOf(account, token)
    const interest = operation === 'repay' ? borrowed - borrowedBasis : operation === 'withdraw' ? supplied - suppliedBasis : 0n
    run[operation](account, reserve, asked)
    const show = (wei: bigint) => fromUnits(wei, reserve.token.weiDecimals)
    const interestAmount = show(most(0n, least(interest, asked)))
    noteUpdate(engine, account, { type: 'borrowLend', token: reserve.token.name, operation, amount: show(asked), interestAmount })
    return done
  },
})

const run = { supply, withdraw: takeBack, repay, borrow } as const

const refusals: Record<Operation, string> = {
  supply: 'Insufficient balance to supply, or more than the cap.',
  withdraw: 'Insufficient supplied balance to withdraw.',
  repay: 'Cannot repay more than is borrowed or there is.',
  borrow: 'Borrow exceeds what the collateral, the cap or the reserve allows.',
}

function weiOf(amount: string, decimals: number): bigint | undefined {
  try {
    return toUnits(amount, decimals)
  } catch {
    return undefined
  }
}

/** The most of each. */
function boundOf(engine: Engine, account: Account, reserve: Reserve, operation: Operation): bigint {
  const { total, hold } = balanceOf(account, reserve.token.index)
  const loans = loansOf(account, reserve.token.index)
  if (operation === 'supply') return least(total - hold, reserve.supplyCap - loans.supplied)
  if (operation === 'repay') return least(loans.borrowed, total - hold)
  if (operation === 'withdraw') return least(loans.supplied, reserve.balance)
  return borrowable(engine, account, reserve)
}

function changeMode(engine: Engine, account: Account, mode: Mode): Answer {
  const refused = setMode(engine, account, mode)
  return refused === undefined ? done : failed(refused)
}

/** Whose mode it is: one's own only. */
const ownOnly = (account: Account, user: string) => (user === account.address ? undefined : failed('Invalid user.'))

export const userPortfolioMargin = defineAction({
  request: UserPortfolioMarginRequest,
  response: UserPortfolioMarginResponse,
  types: UserPortfolioMarginTypes,
  run: (engine, account, { user, enabled }) =>
    ownOnly(account, user) ?? changeMode(engine, account, enabled ? 'portfolioMargin' : 'disabled'),
})

const unknownMode = failed('Account abstraction is not available.')

export const userSetAbstraction = defineAction({
  request: UserSetAbstractionRequest,
  response: UserSetAbstractionResponse,
  types: UserSetAbstractionTypes,
  run: (engine, account, { user, abstraction }) =>
    ownOnly(account, user) ??
    (abstraction === 'portfolioMargin' || abstraction === 'disabled' ? changeMode(engine, account, abstraction) : unknownMode),
})

export const agentSetAbstraction = defineAction({
  request: AgentSetAbstractionRequest,
  response: AgentSetAbstractionResponse,
  run: (engine, account, { abstraction }) =>
    abstraction === 'p'
      ? changeMode(engine, account, 'portfolioMargin')
      : abstraction === 'i'
        ? changeMode(engine, account, 'disabled')
        : unknownMode,
})
