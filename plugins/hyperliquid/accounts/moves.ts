import { badFields, SluiceError } from 'sluice/plugin'
import type { Token, VenuePlan } from 'sluice/plugin'
import { decimalsOf, ofRaw } from '../decimal.ts'
import type { ExchangeToken, Listing } from '../markets/markets.ts'
import type { HyperliquidNetwork } from '../networks.ts'
import type { PlainAction, Step } from '../rail/step.ts'
import type { Trace } from '../rail/trace.ts'

const dollar = 'USDC'
const dollarDecimals = 6

/** @throws SluiceError UNSUPPORTED: the bridge is a contract of another chain */
export function refuseDeposit({ bridge }: HyperliquidNetwork): never {
  throw new SluiceError(
    'UNSUPPORTED',
    `Deposits to Hyperliquid are made on ${bridge}: send USDC from the wallet there to the exchange's bridge (https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/bridge2), at least 5. Sluice does not send on another chain.`,
  )
}

/** What so much of a token is at the exchange. @throws SluiceError INCOMPLETE_PARAMS, TOKEN_NOT_SUPPORTED */
export function amountAt(token: Token, amountRaw: bigint, listing: Listing): { of: ExchangeToken; amount: string } {
  const of =
    listing.tokens.find(({ evmContract }) => evmContract === token.address.toLowerCase()) ??
    listing.tokens.find(({ name }) => name === token.symbol)
  if (!of) throw new SluiceError('TOKEN_NOT_SUPPORTED', `Hyperliquid knows no token ${token.symbol}.`)
  const amount = ofRaw(amountRaw, token.decimals)
  if (decimalsOf(amount) > of.weiDecimals)
    throw badFields([
      { field: 'amount', problem: `${amount} has more than the ${of.weiDecimals} decimals that ${of.name} has at Hyperliquid` },
    ])
  return { of, amount }
}

/** To the wallet's own address on the bridge's chain, from what is free of perpetual positions; the exchange keeps a dollar of it. */
export function withdrawal(token: Token, amountRaw: bigint, user: string): VenuePlan {
  const action = { type: 'withdraw3', destination: user, amount: dollars(token, amountRaw) } as const
  return plainPlan([{ action, trace: { of: 'withdraw' } }], user)
}

/** The same out of the spot account: through the perpetual one, since only from there does anything leave. */
export function spotWithdrawal(token: Token, amountRaw: bigint, user: string): VenuePlan {
  const amount = dollars(token, amountRaw)
  return plainPlan(
    [
      { action: { type: 'usdClassTransfer', amount, toPerp: true }, trace: { of: 'usdClassTransfer', amount, toPerp: true } },
      { action: { type: 'withdraw3', destination: user, amount }, trace: { of: 'withdraw' } },
    ],
    user,
  )
}

function dollars({ symbol, decimals }: Token, amountRaw: bigint): string {
  if (symbol !== dollar) throw new SluiceError('UNSUPPORTED', `Hyperliquid's bridge takes ${dollar} only, and not ${symbol}.`)
  const amount = ofRaw(amountRaw, decimals)
  if (decimalsOf(amount) > dollarDecimals) throw badFields([{ field: 'amount', problem: `has more than ${dollarDecimals} decimals` }])
  return amount
}

type Plain = { action: PlainAction; trace: Trace }

/** Signed by the wallet itself: an agent may not. */
function plainPlan([first, ...others]: readonly [Plain, ...Plain[]], user: string): VenuePlan {
  const step = ({ action, trace }: Plain): Step => ({ user, action, trace })
  return { via: 'venue', steps: [step(first), ...others.map(step)], memo: null }
}
