import { badFields, SluiceError } from 'sluice/plugin'
import type { At, MarginMove, Token } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare, decimalsOf, minus, ofRaw } from '../decimal.ts'
import type { ExchangeToken, Listing } from '../markets.ts'
import type { ChainAction } from '../rail/step.ts'
import type { Trace } from '../rail/trace.ts'
import { lending } from '../accounts.ts'
import { requireBalance, requireFree } from './require-free.ts'
import { readSpotState } from './spot-balances.ts'

/** What so much of a token is at the exchange. @throws SluiceError INCOMPLETE_PARAMS, TOKEN_NOT_SUPPORTED */
export function amountAt(
  token: Token,
  amountRaw: bigint,
  listing: Listing,
  listed: readonly Token[],
): { of: ExchangeToken; amount: string } {
  const of = listing.tokens.find(({ evmContract }) => evmContract === token.address.toLowerCase()) ?? byName(token, listing, listed)
  if (!of) throw new SluiceError('TOKEN_NOT_SUPPORTED', `Hyperliquid knows no token ${token.symbol}.`)
  const amount = ofRaw(amountRaw, token.decimals)
  if (decimalsOf(amount) > of.weiDecimals)
    throw badFields([
      { field: 'amount', problem: `${amount} has more than the ${of.weiDecimals} decimals that ${of.name} has at Hyperliquid` },
    ])
  return { of, amount }
}

/** Anybody may call a token as he likes: only of those that are listed a name means anything. */
const byName = (token: Token, { tokens }: Listing, listed: readonly Token[]): ExchangeToken | undefined =>
  isListed(token, listed) ? tokens.find(({ name }) => name === token.symbol) : undefined

export const isListed = ({ native, address }: Token, listed: readonly Token[]): boolean =>
  native === true || listed.some((each) => each.address.toLowerCase() === address.toLowerCase())

/**
 * Between the spot account and what is lent or owed, with portfolio margin.
 * @throws SluiceError INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN, TRADE_FAILED
 */
export async function loan(
  ask: Ask,
  user: string,
  { of, amount }: { of: ExchangeToken; amount: string },
  how: MarginMove,
  at: At,
): Promise<{ action: ChainAction; trace: Trace }> {
  const [{ balances, tokenToAvailableAfterMaintenance = [] }, { tokenToState }] = await Promise.all([
    readSpotState(ask, user, at),
    ask({ type: 'borrowLendUserState', user }, lending, at),
  ])
  const { total = '0', hold = '0', supplied = '0' } = balances.find(({ token }) => token === of.index) ?? {}
  const { supply, borrow } = new Map(tokenToState).get(of.index) ?? { supply: { value: '0' }, borrow: { value: '0' } }
  if (how === 'deposit') requireBalance(of.name, minus(minus(total, hold), supplied), amount)
  if (how === 'withdraw') requireFree(of.name, supply.value, amount)
  if (how === 'borrow') requireFree(of.name, new Map(tokenToAvailableAfterMaintenance).get(of.index) ?? '0', amount)
  if (how === 'repay' && compare(borrow.value, '0') === 0) throw nothingOwed(of.name)
  // Interest runs until it is paid: only "all" brings it to nothing.
  const all = how === 'repay' && compare(amount, borrow.value) >= 0
  const operation = operations[how]
  const said = all ? null : amount
  return {
    action: { type: 'borrowLend', operation, token: of.index, amount: said },
    trace: { of: 'borrowLend', operation, token: of.name, amount: said },
  }
}

const operations = { deposit: 'supply', withdraw: 'withdraw', borrow: 'borrow', repay: 'repay' } as const satisfies Record<
  MarginMove,
  string
>

const nothingOwed = (token: string) =>
  new SluiceError('TRADE_FAILED', `The wallet owes no ${token} at Hyperliquid: there is nothing to repay.`, {
    details: { reason: 'nothing is owed' },
  })
