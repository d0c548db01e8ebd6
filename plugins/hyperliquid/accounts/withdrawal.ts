import { badFields } from 'sluice/plugin'
import type { At, Token, VenuePlan } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare, decimalsOf, minus, ofRaw } from '../decimal.ts'
import type { Listed } from '../markets.ts'
import type { PlainAction, Step } from '../rail/step.ts'
import type { Trace } from '../rail/trace.ts'
import { isShared, readMode } from './account-mode.ts'
import { dollar, requireDollar } from './dollars.ts'
import { readPerpState } from './perp-account.ts'
import { requireBalance, requireFree } from './require-free.ts'
import { readSpotState } from './spot-balances.ts'

const dollarDecimals = 6
/** Of every withdrawal the exchange keeps so much: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint#initiate-a-withdrawal-request */
const withdrawalFee = '1'

interface Leaving {
  readonly user: string
  /** Seconds since the Unix epoch. The exchange would take such an action for two days: by then it is made to do nothing. */
  readonly deadline: number
}

/**
 * To the wallet's own address on the bridge's chain; the exchange keeps a dollar of it. Out of the spot account it goes through the perpetual
 * one, since only from there does anything leave; where the two share what they have, there is no way between.
 * @throws SluiceError INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN, UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function withdrawal(
  ask: Ask,
  from: Listed['kind'],
  token: Token,
  amountRaw: bigint,
  { user, deadline, tokens }: Leaving & { readonly tokens: readonly Token[] },
  at: At,
): Promise<VenuePlan> {
  const amount = dollars(token, amountRaw, tokens)
  const leaving: Plain = { action: { type: 'withdraw3', destination: user, amount }, trace: { of: 'withdraw' } }
  const isOne = isShared(await readMode(ask, user, at))
  if (from === 'perp' && !isOne) {
    const { withdrawable } = await readPerpState(ask, user, at)
    requireFree(dollar, withdrawable, amount)
    return plainPlan([leaving], { user, deadline })
  }
  const { balances } = await readSpotState(ask, user, at)
  const { total = '0', hold = '0', supplied = '0' } = balances.find(({ coin }) => coin === dollar) ?? {}
  requireBalance(dollar, minus(minus(total, hold), supplied), amount)
  const between: Plain = {
    action: { type: 'usdClassTransfer', amount, toPerp: true },
    trace: { of: 'usdClassTransfer', amount, toPerp: true },
  }
  return plainPlan(isOne ? [leaving] : [between, leaving], { user, deadline })
}

function dollars(token: Token, amountRaw: bigint, listed: readonly Token[]): string {
  requireDollar(token, listed)
  const amount = ofRaw(amountRaw, token.decimals)
  if (decimalsOf(amount) > dollarDecimals) throw badFields([{ field: 'amount', problem: `has more than ${dollarDecimals} decimals` }])
  // Out of the spot account it would be refused half-way.
  if (compare(amount, withdrawalFee) <= 0)
    throw badFields([{ field: 'amount', problem: `must be more than ${withdrawalFee}: that is what the exchange keeps of a withdrawal` }])
  return amount
}

type Plain = { action: PlainAction; trace: Trace }

/** Signed by the wallet itself: an agent may not. */
function plainPlan([first, ...others]: readonly [Plain, ...Plain[]], { user, deadline }: Leaving): VenuePlan {
  const step = ({ action, trace }: Plain): Step => ({ user, action, trace })
  return { via: 'venue', steps: [step(first), ...others.map(step)], deadline, memo: null }
}
