import { ZeroAddress } from 'ethers/constants'
import {
  SluiceError,
  type At,
  type Checked,
  type FeeWish,
  type Need,
  type Token,
  type Head,
  type Recall,
} from '../../core/contracts/index.ts'
import { isObject, type RpcAnswer } from '../nodes/dialect.ts'
import { fundsInPendingTransactions, insufficientGasFunds, insufficientBalance, shortage } from '../nodes/rails.ts'
import { invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { isBytes, quantityOf } from './encoding.ts'
import { tipMethod } from './fee-oracle.ts'
import { checkFeeOverrides, costOf, feesOf, min, computeFeePerGas, type EvmFees, type FeePerGas } from './fees.ts'
import { type GasLimitCache, gasLimitsOf, simulationCalls } from './gas-limit.ts'
import { packAggregate3, unpackAggregate3, ethBalanceCall } from './multicall.ts'
import type { NonceCounts } from './nonces.ts'
import { chargeCalls, chargesOf } from './op-stack.ts'
import type { EvmRailOptions } from './rail.ts'
import { allowanceCall, balanceOfCall, uintOf } from './tokens.ts'
import type { EvmIntent, Call, CallResult, EvmReader } from './types.ts'
import { followedAccounts, isAccount, createHoldings, isHolding } from './wallets.ts'

/** Everything there is to ask before signing, in one JSON-RPC batch; what is wrong is told in the order in which a person would cure it. */
export async function check(
  options: EvmRailOptions,
  gasTable: Pick<GasLimitCache, 'learn'>,
  steps: readonly EvmIntent[],
  needs: readonly Need[],
  from: string,
  { wish, over }: { wish: FeeWish; over?: EvmFees },
  at: At,
): Promise<Checked<EvmIntent, NonceCounts, EvmFees>> {
  const { rpc, feeCapRaw, policy, chainId } = options
  checkFeeOverrides(wish, feeCapRaw)
  const spentRaw = sum(steps.map(({ value }) => BigInt(value)))
  const wanted: readonly Need[] = [...needs, { is: 'balance', token: nativeAddress, amountRaw: spentRaw }]
  const chargeable = options.rollup ? chargeCalls(steps, chainId) : []
  const reading = packAggregate3([...needCalls(wanted, from, options.multicall), ...chargeable])
  const calls = [
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_getTransactionCount', params: [from, 'latest'] },
    { method: 'eth_getTransactionCount', params: [from, 'pending'] },
    { method: tipMethod(policy.legacy), params: [] },
    { method: 'eth_call', params: [{ to: options.multicall, data: reading }, 'latest'] },
    ...simulationCalls(steps, from),
  ]
  const [block, latest, pending, tip, read, ...simulated] = await rpc.batch(calls, at)

  const bytes = resultOf(rpc, 'eth_call', read)
  const results = isBytes(bytes) ? unpackAggregate3(bytes, wanted.length + chargeable.length) : undefined
  if (!results) throw invalidAnswer(rpc, 'answered a call to Multicall3 with something else than its result')
  const nativeRaw = await checkNeeds(options, wanted, results.slice(0, wanted.length), at)
  const charges = options.rollup ? chargesOf(results.slice(wanted.length)) : []
  if (!charges) throw invalidAnswer(rpc, 'has no GasPriceOracle, by which the fees of a rollup are told')
  const blockGas = blockField(options, block?.result, 'gasLimit')
  const mostGas = options.maxGas === undefined ? blockGas : min(options.maxGas, blockGas)
  const limits = gasLimitsOf(steps, simulated, mostGas)
  const [only, ...others] = steps
  if (only && others.length === 0) gasTable.learn(only, from, limits[0] ?? 0n, mostGas)
  const suggested = quantityOf(tip?.result)
  const tipRaw = options.tipFor && wish.maxPriorityFeePerGasRaw === undefined ? await options.tipFor(suggested, at) : suggested
  const baseFeeRaw = policy.legacy ? 0n : blockField(options, block?.result, 'baseFeePerGas')
  const price = computeFeePerGas(wish, over, { baseFeeRaw, tipRaw, policy, feeCapRaw })
  const prepared = steps.map((step, index) => ({ step, ...feesOf(limits[index] ?? 0n, price, policy, charges[index]) }))
  const tradedRaw = sum(needs.flatMap((need) => (need.is === 'balance' && need.token === options.coinToken ? need.amountRaw : [])))
  const neededRaw = tradedRaw + sum(prepared.map(({ step, fees }) => costOf(step, fees)))
  if (nativeRaw < neededRaw) throw insufficientGasFunds(options.nativeCurrency, nativeRaw, neededRaw)

  return { prepared, synced: syncedOf(options, latest, pending), beside: commitmentCheck(options, nativeRaw, neededRaw) }
}

/** Whether a wallet with so much of the native coin bears what is needed beside what its other transactions may take. */
const commitmentCheck =
  ({ nativeCurrency }: Pick<EvmRailOptions, 'nativeCurrency'>, nativeRaw: bigint, neededRaw: bigint): Checked['beside'] =>
  (committedRaw) =>
    nativeRaw < committedRaw + neededRaw ? fundsInPendingTransactions(nativeCurrency, nativeRaw, committedRaw, neededRaw) : undefined

export async function sync(options: EvmRailOptions, from: string, at: At): Promise<NonceCounts> {
  const calls = ['latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [from, tag] }))
  const [latest, pending] = await options.rpc.batch(calls, at)
  return syncedOf(options, latest, pending)
}

function syncedOf(options: EvmRailOptions, latest: RpcAnswer | undefined, pending: RpcAnswer | undefined): NonceCounts {
  const counts = { latest: countOf(options, latest), pending: countOf(options, pending) }
  return latest?.behind === undefined ? counts : { ...counts, behind: true }
}

function countOf({ rpc }: EvmRailOptions, answer: RpcAnswer | undefined): number {
  const count = quantityOf(resultOf(rpc, 'eth_getTransactionCount', answer))
  if (count === undefined) throw invalidAnswer(rpc, 'answered eth_getTransactionCount with something that is no number')
  return Number(count)
}

function blockField({ rpc, network }: EvmRailOptions, block: unknown, field: 'gasLimit' | 'baseFeePerGas'): bigint {
  const value = isObject(block) ? quantityOf(block[field]) : undefined
  if (value !== undefined) return value
  if (isObject(block) && field === 'baseFeePerGas')
    throw new SluiceError(
      'UNSUPPORTED',
      `Blocks of ${network} have no base fee (EIP-1559), and its chain plugin does not say legacyFees: transactions of type 2 would be refused.`,
    )
  throw invalidAnswer(rpc, 'answered eth_getBlockByNumber with something that is no block')
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** The native coin, as plans name it. */
const nativeAddress = ZeroAddress

/** What reads what all needs are about. */
function needCalls(needs: readonly Need[], owner: string, multicall: string): readonly Call[] {
  return needs.map((need) => {
    if (need.is !== 'balance') return allowanceCall(need.token, owner, need.spender)
    return need.token === nativeAddress ? ethBalanceCall(multicall, owner) : balanceOfCall(need.token, owner)
  })
}

/**
 * Throws what the wallet lacks, balances before allowances: who has nothing to trade need not approve.
 * @returns the wallet's native balance, the last of the needs
 */
async function checkNeeds(
  { nativeCurrency, token }: EvmRailOptions,
  needs: readonly Need[],
  results: readonly CallResult[],
  at: At,
): Promise<bigint> {
  // What has no balances holds none.
  const current = results.map((result) => uintOf(result) ?? 0n)
  const lacking = needs
    .map((need, index) => ({ need, currentRaw: current[index] ?? 0n }))
    .filter(({ need, currentRaw }) => (need.is === 'allowance-at-most' ? currentRaw > need.amountRaw : currentRaw < need.amountRaw))
  const first = lacking.find(({ need }) => need.is === 'balance') ?? lacking[0]
  if (first) {
    const { need, currentRaw } = first
    const named = need.token === nativeAddress ? nativeCurrency : ((await token(need.token, at)) ?? unnamed(need.token))
    if (need.is === 'allowance-at-most') throw allowanceTooLarge(named, need.spender)
    throw need.is === 'balance'
      ? insufficientBalance(named, currentRaw, need.amountRaw)
      : allowanceTooSmall(named, need.spender, currentRaw, need.amountRaw)
  }
  return current.at(-1) ?? 0n
}

/** Something without symbol and decimals: its smallest units are all there is to say. */
function unnamed(address: string): Token {
  return { symbol: address, address, decimals: 0 }
}

function allowanceTooSmall(token: Token, spender: string, currentRaw: bigint, neededRaw: bigint): SluiceError {
  const details = { spender, ...shortage(token, currentRaw, neededRaw) }
  return new SluiceError(
    'INSUFFICIENT_ALLOWANCE',
    `${spender} may move ${details.current} ${token.symbol} of the wallet and needs ${details.needed}: approve it with /evm/approve.`,
    { details },
  )
}

function allowanceTooLarge({ symbol, address }: Token, spender: string): SluiceError {
  return new SluiceError(
    'TRADE_FAILED',
    `${spender} may move ${symbol} of the wallet, and takes it where the coin that is sent is gone: the code of a token that is on no list could have it take both. Give ${symbol} instead of the coin, or set that allowance to 0 by /evm/approve, or put the token on the network's list if you trust it.`,
    { details: { reason: 'the coin could be taken twice', token: symbol, tokenAddress: address, spender } },
  )
}

/** One call that is like some that were simulated, by a wallet whose coins, tokens and nonces are in memory. */
export function createCacheCheck(
  options: EvmRailOptions,
  gasTable: Pick<GasLimitCache, 'limitOf'>,
  reader: Pick<EvmReader, 'read' | 'wrapped'>,
): Recall<EvmIntent, string, NonceCounts, EvmFees> {
  const accounts = followedAccounts(options.rpc)
  const holdings = createHoldings(reader)

  /** As the network would be asked now; undefined where it would refuse: that it may say itself. */
  function priceAt({ baseFeeRaw }: Head, wish: FeeWish): FeePerGas | undefined {
    const { policy, feeCapRaw, knownTipRaw } = options
    const tipRaw = knownTipRaw?.()
    if (tipRaw === undefined || (baseFeeRaw === undefined && !policy.legacy)) return undefined
    try {
      checkFeeOverrides(wish, feeCapRaw)
      return computeFeePerGas(wish, undefined, { baseFeeRaw: policy.legacy ? 0n : (baseFeeRaw ?? 0n), tipRaw, policy, feeCapRaw })
    } catch (error) {
      if (error instanceof SluiceError) return undefined
      throw error
    }
  }

  return {
    basis(steps, needs, from) {
      if (steps.length !== 1 || !steps[0]?.alike) return undefined
      if (needs.some(({ is, token }) => is === 'allowance-at-most' || token === options.coinToken || holdings.hasUnreliableLogs(token)))
        return undefined
      return [
        { followed: accounts, key: from.toLowerCase() },
        ...tokensOf(needs).map((token) => ({
          followed: holdings.followed,
          key: holdings.keyOf(from, token),
          about: spenderOf(needs, token),
        })),
      ]
    },

    check([step], needs, from, wish, [account, ...held], head) {
      const limit = step && gasTable.limitOf(step, from)
      const price = priceAt(head, wish)
      // What was not read after this very block may be older than that.
      if (!step || limit === undefined || !price || !isAccount(account) || account.number !== head.number) return undefined
      const { nativeRaw, latest, pending } = account
      const tokens = tokensOf(needs)
      const wanting = needs.flatMap((need) => {
        if (need.token === nativeAddress) return []
        const index = tokens.indexOf(need.token)
        if (bears(held[index], need)) return []
        return [{ index: index + 1, more: need.is === 'balance' ? null : need.spender }]
      })
      if (wanting.length > 0) return { wanting }
      const prepared = { step, ...feesOf(limit, price, options.policy) }
      const neededRaw = costOf(step, prepared.fees)
      const coinsRaw = needs.flatMap((need) => (need.token === nativeAddress ? need.amountRaw : []))
      if ([neededRaw, ...coinsRaw].some((raw) => nativeRaw < raw)) return undefined
      return { prepared: [prepared], synced: { latest, pending }, beside: commitmentCheck(options, nativeRaw, neededRaw) }
    },
  }
}

const tokensOf = (needs: readonly Need[]) => [...new Set(needs.map(({ token }) => token))].filter((token) => token !== nativeAddress)

const spenderOf = (needs: readonly Need[], token: string) =>
  needs.flatMap((need) => (need.is === 'allowance' && need.token === token ? [need.spender] : []))[0]

/** What is in memory is never more than there is: that an allowance is small enough is not known by it. */
function bears(holding: unknown, need: Need): boolean {
  if (!isHolding(holding) || need.is === 'allowance-at-most') return false
  const raw = need.is === 'balance' ? holding.balanceRaw : holding.allowances.get(need.spender.toLowerCase())
  return raw !== undefined && raw >= need.amountRaw
}
