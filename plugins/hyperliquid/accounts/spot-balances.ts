import type { At, BookBalance } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare, minus, plain } from '../decimal.ts'
import { spotState } from '../accounts.ts'
import type { SpotState } from '../accounts.ts'

export const readSpotState = (ask: Ask, user: string, at: At): Promise<SpotState> =>
  ask({ type: 'spotClearinghouseState', user }, spotState, at)

export const spotBalancesOf = ({ balances }: SpotState): readonly BookBalance[] =>
  balances
    .filter(({ total, hold }) => compare(total, '0') !== 0 || compare(hold, '0') !== 0)
    .map(({ coin, total, hold }) => ({ symbol: coin, total: plain(total), available: minus(total, hold), locked: plain(hold) }))
