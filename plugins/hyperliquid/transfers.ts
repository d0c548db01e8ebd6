import { word, type Evm } from 'sluice/evm'
import { badFields, SluiceError, type At, type BridgePlan, type Plan, type Token, type VenuePlan, type MarginMove } from 'sluice/plugin'
import { isShared, readMode, readPerpState, readSpotState, lending } from './accounts.ts'
import type { UserSignedAction, Step, Trace, L1Action } from './actions.ts'
import type { QueryInfo } from './api.ts'
import { compare, formatRaw, countDecimals, subtract, normalize } from 'sluice/decimal'
import type { MarketEntry, ExchangeToken, Listing } from './markets.ts'

/** deposit(uint256 amount, uint32 destinationDex): https://developers.circle.com/cctp/references/coredepositwallet-contract-interface */
const depositSelector = '0x2b2dfd2c'
/** Where it is credited, by the same page: the largest uint32 is the spot account. */
const dexes = { perp: 0n, spot: 2n ** 32n - 1n } as const

/**
 * Of a new account's first deposit the exchange keeps so much: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/activation-gas-fee
 * and `newCoreAccountFee` of https://github.com/circlefin/hyperevm-circle-contracts/blob/master/src/CoreDepositWallet.sol. Of no more than that
 * nothing would be left.
 */
const newAccountFee = '1'
/** "If you send an amount less than this, it will not be credited and be lost forever": https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/bridge2 */
const leastBridged = '5'

interface DepositContext {
  readonly ask: QueryInfo
  readonly user: string
  readonly kind: MarketEntry['kind']
}

/**
 * From HyperEVM, by the contract that keeps what is at the exchange. Where the spot account and the perpetual one share what they have, that is
 * in spot.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositFromEvm(
  { ask, user, kind }: DepositContext,
  token: Token,
  amountRaw: bigint,
  { tokens, coreDepositWallet }: { readonly tokens: readonly Token[]; readonly coreDepositWallet: string },
  at: At,
): Promise<Plan<Evm>> {
  requireDollar(token, tokens)
  if (compare(formatRaw(amountRaw, token.decimals), newAccountFee) <= 0)
    throw badFields([
      { field: 'amount', problem: `must be more than ${newAccountFee}: that is what the exchange keeps of a new account's first deposit` },
    ])
  const dex = kind === 'perp' && !isShared(await readMode(ask, user, at)) ? dexes.perp : dexes.spot
  const { address } = token
  return {
    steps: [{ to: coreDepositWallet, data: `${depositSelector}${word(amountRaw)}${word(dex)}`, value: '0' }],
    needs: [
      { is: 'balance', token: address, amountRaw },
      { is: 'allowance', token: address, spender: coreDepositWallet, amountRaw },
    ],
    memo: null,
  }
}

/**
 * Over the bridge, which credits the perpetual account, or the one that both share.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositOverBridge({ ask, user, kind }: DepositContext, token: Token, amountRaw: bigint, at: At): Promise<BridgePlan> {
  if (compare(formatRaw(amountRaw, token.decimals), leastBridged) < 0)
    throw badFields([{ field: 'amount', problem: `must be at least ${leastBridged}: the bridge does not credit less, and keeps it` }])
  if (kind === 'spot' && !isShared(await readMode(ask, user, at)))
    throw new SluiceError(
      'UNSUPPORTED',
      "What comes over the bridge is credited to the perpetual account: deposit at /clob/perp/deposit, or leave fromChain out to deposit from the exchange's own chain.",
    )
  return { via: 'bridge' }
}

const dollarDecimals = 6
/** Of every withdrawal the exchange keeps so much: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint#initiate-a-withdrawal-request */
const withdrawalFee = '1'

interface WithdrawalContext {
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
  ask: QueryInfo,
  from: MarketEntry['kind'],
  token: Token,
  amountRaw: bigint,
  { user, deadline, tokens }: WithdrawalContext & { readonly tokens: readonly Token[] },
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
  requireBalance(dollar, subtract(subtract(total, hold), supplied), amount)
  const between: Plain = {
    action: { type: 'usdClassTransfer', amount, toPerp: true },
    trace: { of: 'usdClassTransfer', amount, toPerp: true },
  }
  return plainPlan(isOne ? [leaving] : [between, leaving], { user, deadline })
}

function dollars(token: Token, amountRaw: bigint, listed: readonly Token[]): string {
  requireDollar(token, listed)
  const amount = formatRaw(amountRaw, token.decimals)
  if (countDecimals(amount) > dollarDecimals) throw badFields([{ field: 'amount', problem: `has more than ${dollarDecimals} decimals` }])
  // Out of the spot account it would be refused half-way.
  if (compare(amount, withdrawalFee) <= 0)
    throw badFields([{ field: 'amount', problem: `must be more than ${withdrawalFee}: that is what the exchange keeps of a withdrawal` }])
  return amount
}

type Plain = { action: UserSignedAction; trace: Trace }

/** Signed by the wallet itself: an agent may not. */
function plainPlan([first, ...others]: readonly [Plain, ...Plain[]], { user, deadline }: WithdrawalContext): VenuePlan {
  const step = ({ action, trace }: Plain): Step => ({ user, action, trace })
  return { via: 'venue', steps: [step(first), ...others.map(step)], deadline, memo: null }
}

/** What so much of a token is at the exchange. @throws SluiceError INCOMPLETE_PARAMS, TOKEN_NOT_SUPPORTED */
export function amountAt(
  token: Token,
  amountRaw: bigint,
  listing: Listing,
  listed: readonly Token[],
): { of: ExchangeToken; amount: string } {
  const of = listing.tokens.find(({ evmContract }) => evmContract === token.address.toLowerCase()) ?? byName(token, listing, listed)
  if (!of) throw new SluiceError('TOKEN_NOT_SUPPORTED', `Hyperliquid knows no token ${token.symbol}.`)
  const amount = formatRaw(amountRaw, token.decimals)
  if (countDecimals(amount) > of.weiDecimals)
    throw badFields([
      { field: 'amount', problem: `${amount} has more than the ${of.weiDecimals} decimals that ${of.name} has at Hyperliquid` },
    ])
  return { of, amount }
}

/** Anybody may call a token as he likes: only of those that are listed a name means anything. */
const byName = (token: Token, { tokens }: Listing, listed: readonly Token[]): ExchangeToken | undefined =>
  isListed(token, listed) ? tokens.find(({ name }) => name === token.symbol) : undefined

const isListed = ({ native, address }: Token, listed: readonly Token[]): boolean =>
  native === true || listed.some((each) => each.address.toLowerCase() === address.toLowerCase())

/**
 * Between the spot account and what is lent or owed, with portfolio margin.
 * @throws SluiceError INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN, TRADE_FAILED
 */
export async function loan(
  ask: QueryInfo,
  user: string,
  { of, amount }: { of: ExchangeToken; amount: string },
  how: MarginMove,
  at: At,
): Promise<{ action: L1Action; trace: Trace }> {
  const [{ balances, tokenToAvailableAfterMaintenance = [] }, { tokenToState }] = await Promise.all([
    readSpotState(ask, user, at),
    ask({ type: 'borrowLendUserState', user }, lending, at),
  ])
  const { total = '0', hold = '0', supplied = '0' } = balances.find(({ token }) => token === of.index) ?? {}
  const { supply, borrow } = new Map(tokenToState).get(of.index) ?? { supply: { value: '0' }, borrow: { value: '0' } }
  if (how === 'deposit') requireBalance(of.name, subtract(subtract(total, hold), supplied), amount)
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

/** What comes into the exchange and leaves it, as its chain's list calls it. */
const dollar = 'USDC'

/** Anybody may call a token so: it is the listed one. @throws SluiceError UNSUPPORTED */
function requireDollar(token: Token, listed: readonly Token[]): void {
  if (token.symbol === dollar && isListed(token, listed)) return
  throw new SluiceError('UNSUPPORTED', `Hyperliquid takes and gives ${dollar} only, and not ${token.symbol} (${token.address}).`)
}

/** @throws SluiceError INSUFFICIENT_BALANCE */
function requireBalance(token: string, current: string, needed: string): void {
  if (compare(needed, current) <= 0) return
  throw new SluiceError('INSUFFICIENT_BALANCE', `The wallet has ${current} ${token} free at Hyperliquid, and ${needed} are needed.`, {
    details: { token, current, needed },
  })
}

/** @throws SluiceError INSUFFICIENT_MARGIN */
function requireFree(token: string, free: string, needed: string): void {
  if (compare(needed, free) <= 0) return
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `${normalize(free)} ${token} are free to be taken at Hyperliquid, and ${needed} were asked for.`,
    {
      details: { token, free: normalize(free), needed },
    },
  )
}
