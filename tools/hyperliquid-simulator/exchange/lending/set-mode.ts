import { toUsd } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import type { Account, Mode } from '../ledger/account.ts'
import { fundPerpetuals } from './fund-perpetuals.ts'
import { portfolioOf } from './portfolio.ts'

/** Another mode for an account, or why it cannot have it. */
export function setMode(engine: Engine, account: Account, mode: Mode): string | undefined {
  if (mode === account.mode) return undefined
  if (mode === 'portfolioMargin') {
    if (account.volumeUsd < toUsd(engine.rules.volumeForPortfolioMargin)) return 'Insufficient volume traded to enable portfolio margin.'
  } else if (portfolioOf(engine, account).borrowedUsd > 0n) return 'Cannot disable portfolio margin with borrowed balances.'
  // They may hold back what only could be borrowed.
  else if (account.open.size > 0) return 'Cannot disable portfolio margin with open orders.'
  account.mode = mode
  // There is one balance then: what perpetuals do not use is with the rest.
  fundPerpetuals(engine, account)
  engine.outbox.users.add(account.address)
  return undefined
}
