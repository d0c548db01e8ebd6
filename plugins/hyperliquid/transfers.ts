import { word, type Evm } from 'sluice/evm'
import { badFields, SluiceError, type At, type BridgePlan, type Plan, type Token, type VenuePlan, type MarginMove } from 'sluice/plugin'
import { isShared, readMode, readPerpState, readSpotState, lending } from './accounts.ts'
import { withdrawalFee, type UserSignedAction, type Step, type Trace, type L1Action } from './actions.ts'
import type { QueryInfo } from './api.ts'
import { compare, countDecimals, subtract, formatRaw, normalize } from 'sluice/decimal'
import type { ExchangeToken, Listing, MarketEntry } from './markets.ts'
import { requireBalance } from './order-plans.ts'

/** deposit(uint256 amount, uint32 destinationDex): https://developers.circle.com/cctp/references/coredepositwallet-contract-interface */
const depositSelector = '0x2b2dfd2c'
/** The account that a deposit is credited to, by the same page: the largest uint32 is the spot account. */
const destinationDexes = { perp: 0n, spot: 2n ** 32n - 1n } as const

/**
 * The exchange keeps so much of a new account's first deposit: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/activation-gas-fee
 * and `newCoreAccountFee` of https://github.com/circlefin/hyperevm-circle-contracts/blob/master/src/CoreDepositWallet.sol. Nothing would be
 * left of a smaller deposit.
 */
const newAccountFee = '1'
/** "If you send an amount less than this, it will not be credited and be lost forever": https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/bridge2 */
const minBridged = '5'

interface DepositContext {
  readonly queryInfo: QueryInfo
  readonly user: string
  readonly kind: MarketEntry['kind']
}

/**
 * From HyperEVM, by the contract that holds the deposits. It credits the spot account where spot and perpetual account share their balances.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositFromEvm(
  { queryInfo, user, kind }: DepositContext,
  token: Token,
  amountRaw: bigint,
  { tokens, coreDepositWallet }: { readonly tokens: readonly Token[]; readonly coreDepositWallet: string },
  at: At,
): Promise<Plan<Evm>> {
  requireDollar(token, tokens)
  if (compare(formatRaw(amountRaw, token.decimals), newAccountFee) <= 0)
    throw badFields([
      { field: 'amount', problem: `must be more than ${newAccountFee}: the exchange keeps that much of a new account's first deposit` },
    ])
  const dex = kind === 'perp' && !isShared(await readMode(queryInfo, user, at)) ? destinationDexes.perp : destinationDexes.spot
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
 * Over the bridge, which credits the perpetual account, or the shared balances of both accounts.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositOverBridge(
  { queryInfo, user, kind }: DepositContext,
  token: Token,
  amountRaw: bigint,
  at: At,
): Promise<BridgePlan> {
  if (compare(formatRaw(amountRaw, token.decimals), minBridged) < 0)
    throw badFields([
      { field: 'amount', problem: `must be at least ${minBridged}: the bridge keeps smaller deposits and does not credit them` },
    ])
  if (kind === 'spot' && !isShared(await readMode(queryInfo, user, at)))
    throw new SluiceError(
      'UNSUPPORTED',
      "The bridge credits the perpetual account: deposit at /clob/perp/deposit, or leave fromChain out to deposit from the exchange's own chain.",
    )
  return { via: 'bridge' }
}

const dollarDecimals = 6
interface WithdrawalContext {
  readonly user: string
  /** Seconds since the Unix epoch. The exchange would accept such an action for two days. It is replaced by one without effect after this. */
  readonly deadline: number
}

/**
 * Withdraws to the wallet's own address on the bridge's chain, less a fee of one dollar. Only the perpetual account can withdraw: what is in
 * the spot account is transferred there first, unless both accounts share their balances.
 * @throws SluiceError INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN, UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function withdrawal(
  queryInfo: QueryInfo,
  from: MarketEntry['kind'],
  token: Token,
  amountRaw: bigint,
  { user, deadline, tokens }: WithdrawalContext & { readonly tokens: readonly Token[] },
  at: At,
): Promise<VenuePlan> {
  const amount = withdrawnAmount(token, amountRaw, tokens)
  const withdraw: UserSignedContent = { action: { type: 'withdraw3', destination: user, amount }, trace: { of: 'withdraw', amount } }
  const shared = isShared(await readMode(queryInfo, user, at))
  if (from === 'perp' && !shared) {
    const { withdrawable } = await readPerpState(queryInfo, user, at)
    requireFree(dollar, withdrawable, amount)
    return withdrawalPlan([withdraw], { user, deadline })
  }
  const { balances } = await readSpotState(queryInfo, user, at)
  const { total = '0', hold = '0', supplied = '0' } = balances.find(({ coin }) => coin === dollar) ?? {}
  requireBalance(dollar, subtract(subtract(total, hold), supplied), amount)
  const toPerp: UserSignedContent = {
    action: { type: 'usdClassTransfer', amount, toPerp: true },
    trace: { of: 'usdClassTransfer', amount, toPerp: true },
  }
  return withdrawalPlan(shared ? [withdraw] : [toPerp, withdraw], { user, deadline })
}

function withdrawnAmount(token: Token, amountRaw: bigint, listed: readonly Token[]): string {
  requireDollar(token, listed)
  const amount = formatRaw(amountRaw, token.decimals)
  if (countDecimals(amount) > dollarDecimals) throw badFields([{ field: 'amount', problem: `has more than ${dollarDecimals} decimals` }])
  // The exchange would refuse the withdrawal after the transfer out of the spot account.
  if (compare(amount, withdrawalFee) <= 0)
    throw badFields([{ field: 'amount', problem: `must be more than ${withdrawalFee}: the exchange keeps that much of a withdrawal` }])
  return amount
}

type UserSignedContent = { action: UserSignedAction; trace: Trace }

/** Signed by the wallet itself: an agent must not withdraw. */
function withdrawalPlan(
  [first, ...others]: readonly [UserSignedContent, ...UserSignedContent[]],
  { user, deadline }: WithdrawalContext,
): VenuePlan {
  const step = ({ action, trace }: UserSignedContent): Step => ({ user, action, trace })
  return { via: 'venue', steps: [step(first), ...others.map(step)], deadline, fee: withdrawalFee, memo: null }
}

/** The token and the amount of it, as the exchange has them. @throws SluiceError INCOMPLETE_PARAMS, TOKEN_NOT_SUPPORTED */
export function amountAt(
  token: Token,
  amountRaw: bigint,
  listing: Listing,
  listed: readonly Token[],
): { of: ExchangeToken; amount: string } {
  const of = listing.tokens.find(({ evmContract }) => evmContract === token.address.toLowerCase()) ?? byName(token, listing, listed)
  if (!of) throw new SluiceError('TOKEN_NOT_SUPPORTED', `Hyperliquid does not list the token ${token.symbol}.`)
  const amount = formatRaw(amountRaw, token.decimals)
  if (countDecimals(amount) > of.weiDecimals)
    throw badFields([{ field: 'amount', problem: `${amount} has more than the ${of.weiDecimals} decimals of ${of.name} at Hyperliquid` }])
  return { of, amount }
}

/** Anybody can give a token this name. It identifies only tokens of the chain's token list. */
const byName = (token: Token, { tokens }: Listing, listed: readonly Token[]): ExchangeToken | undefined =>
  isListed(token, listed) ? tokens.find(({ name }) => name === token.symbol) : undefined

const isListed = ({ native, address }: Token, listed: readonly Token[]): boolean =>
  native === true || listed.some((each) => each.address.toLowerCase() === address.toLowerCase())

/**
 * Moves tokens between the spot account and what is lent or owed, with portfolio margin.
 * @throws SluiceError INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN, TRADE_FAILED
 */
export async function loan(
  queryInfo: QueryInfo,
  user: string,
  { of, amount }: { of: ExchangeToken; amount: string },
  how: MarginMove,
  at: At,
): Promise<{ action: L1Action; trace: Trace }> {
  const [{ balances, tokenToAvailableAfterMaintenance = [] }, { tokenToState }] = await Promise.all([
    readSpotState(queryInfo, user, at),
    queryInfo({ type: 'borrowLendUserState', user }, lending, at),
  ])
  const { total = '0', hold = '0', supplied = '0' } = balances.find(({ token }) => token === of.index) ?? {}
  const { supply, borrow } = new Map(tokenToState).get(of.index) ?? { supply: { value: '0' }, borrow: { value: '0' } }
  if (how === 'deposit') requireBalance(of.name, subtract(subtract(total, hold), supplied), amount)
  if (how === 'withdraw') requireFree(of.name, supply.value, amount)
  if (how === 'borrow') requireFree(of.name, new Map(tokenToAvailableAfterMaintenance).get(of.index) ?? '0', amount)
  if (how === 'repay' && compare(borrow.value, '0') === 0) throw nothingOwed(of.name)
  // Interest accrues until the repayment is carried out. Only a null amount repays all of it.
  const isAll = how === 'repay' && compare(amount, borrow.value) >= 0
  const operation = operations[how]
  const movedAmount = isAll ? null : amount
  return {
    action: { type: 'borrowLend', operation, token: of.index, amount: movedAmount },
    trace: { of: 'borrowLend', operation, token: of.name, amount: movedAmount },
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

/** The only token that can be deposited and withdrawn, by its symbol in the chain's token list. */
const dollar = 'USDC'

/** Anybody can give a token this symbol: it must be the listed one. @throws SluiceError UNSUPPORTED */
function requireDollar(token: Token, listed: readonly Token[]): void {
  if (token.symbol === dollar && isListed(token, listed)) return
  throw new SluiceError(
    'UNSUPPORTED',
    `Hyperliquid accepts deposits and withdrawals of ${dollar} only, not of ${token.symbol} (${token.address}).`,
  )
}

/** @throws SluiceError INSUFFICIENT_MARGIN */
function requireFree(token: string, free: string, needed: string): void {
  if (compare(needed, free) <= 0) return
  throw new SluiceError('INSUFFICIENT_MARGIN', `Only ${normalize(free)} ${token} are free at Hyperliquid, but ${needed} are needed.`, {
    details: { token, free: normalize(free), needed },
  })
}
