import {
  SluiceError,
  type At,
  type Checked,
  type FeeOverrides,
  type Need,
  type Token,
  type Head,
  type Permit,
  type CachedChecks,
  type TakesPermit,
} from '../../core/contracts/index.ts'
import { type RpcAnswer } from '../nodes/dialect.ts'
import { fundsInPendingTransactions, insufficientGasFunds, insufficientBalance, shortage } from '../nodes/rails.ts'
import { invalidAnswer, isUnsupported, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isAddress, isBytes, nativeAddress, numberOf, quantityOf } from './encoding.ts'
import {
  tipMethod,
  checkFeeOverrides,
  computeFeePerGas,
  costOf,
  feesOf,
  min,
  type EvmFees,
  type FeePerGas,
  type FeePolicy,
} from './fees.ts'
import { type GasLimitCache, gasLimitsOf, simulationCalls } from './gas-limit.ts'
import { aggregateResults, packAggregate3, ethBalanceCall } from './multicall.ts'
import type { NonceCounts } from './nonces.ts'
import { chargeCalls, chargesOf } from './op-stack.ts'
import {
  hasDomainOf,
  nobodysSignature,
  permit2AllowanceCall,
  permit2AllowanceOf,
  permit2DomainCall,
  permitFor,
  permitGas,
  stateWith,
} from './permit2.ts'
import type { ReserveBalance } from './network.ts'
import type { RecentBlocks } from './recent-blocks.ts'
import { readReserve, spendingOf } from './reserve-balance.ts'
import { blockCall } from './rpc.ts'
import { allowanceCall, balanceOfCall, uintOf } from './tokens.ts'
import type { EvmIntent, Call, CallResult, EvmReader } from './types.ts'
import { followedAccounts, isAccount, createHoldings, isHolding } from './wallets.ts'
import { isObject } from '../../core/base/json.ts'

/** What the rail of one network goes by. */
export interface EvmRailOptions {
  rpc: Rpc
  chainId: number
  /** How errors name the network: "ethereum/sepolia". */
  network: string
  nativeCurrency: Token
  /** Address of Multicall3. */
  multicall: string
  /** How many blocks, the transaction's own included, make it final. */
  confirmations: number
  /** The maximum that a transaction may offer, wei per gas. */
  feeCapRaw: bigint
  policy: FeePolicy
  /** The maximum gas of one transaction. Absent: the block's gas limit. */
  maxGas?: bigint | undefined
  /** The network charges something on top of gas, which its GasPriceOracle tells. */
  rollup?: 'op-stack' | undefined
  /** Address of the token that the native coin itself is: what is traded of it cannot pay for gas. */
  coinToken?: string | undefined
  /** The tip by the network's fees, wei per gas, given what the node suggested in the check's batch. Absent: what the node suggested. */
  tipFor?: (suggested: bigint | undefined, at: At) => Promise<bigint | undefined>
  /** Gas pays for layer 1, too, so the same call uses another amount of it with every block there. */
  gasPaysLayer1?: boolean | undefined
  gasLimitIsPaid?: boolean | undefined
  reserveBalance?: ReserveBalance | undefined
  /** The newest blocks and the usual time between two. Absent: every poll asks for each transaction. */
  blocks?: RecentBlocks | undefined
  blockMs?: number | undefined
  /** Reads what is kept in memory of wallets. Absent: every check asks the network. */
  reader?: EvmReader | undefined
  /** The tip by the network's fees as far as it is known, wei per gas. */
  knownTipRaw?: () => bigint | undefined
  /** Symbol and decimals, for errors that name a token. */
  token: (address: string, at: At) => Promise<Token | undefined>
}

/** `withPermit` is there where the wallet may sign a permit. */
interface CheckedPrice extends TakesPermit<EvmIntent> {
  readonly feeOverrides: FeeOverrides
  readonly over?: EvmFees
}

/**
 * Asks everything that must be known before signing, in one JSON-RPC batch. Of several problems it reports the one that a person would
 * solve first.
 * @param permit what the wallet is to sign. The step is simulated as if that had been used, with a signature of nobody: so nothing is signed before
 * it is in the journal, and no node sees a signature before it is sent the transaction
 */
export async function check(
  options: EvmRailOptions,
  gasLimits: Pick<GasLimitCache, 'learn'>,
  steps: readonly EvmIntent[],
  needs: readonly Need[],
  from: string,
  price: CheckedPrice,
  at: At,
  permit?: Permit,
): Promise<Checked<EvmIntent, NonceCounts, EvmFees>> {
  const { rpc, feeCapRaw, policy, chainId, multicall, nativeCurrency } = options
  const { feeOverrides: overrides, over } = price
  checkFeeOverrides(overrides, feeCapRaw)
  requireWellFormed(steps, needs)
  const valueRaw = sum(steps.map(({ value }) => BigInt(value)))
  const allNeeds: readonly CheckedNeed[] = [...needs.flatMap(needsOf), { is: 'balance', token: nativeAddress, amountRaw: valueRaw }]
  const simulatedSteps = permit ? steps.map((step) => stepWith(permit, step, price)) : steps
  const permitCalls = permit ? [permit2DomainCall(permit.permit2)] : []
  const oracleCalls = options.rollup ? chargeCalls(simulatedSteps, chainId) : []
  const views = [...allNeeds.map((need) => needCall(need, from, multicall)), ...permitCalls, ...oracleCalls]
  const [block, latest, pending, tip, read, ...simulated] = await rpc.batch(
    [
      blockCall('latest'),
      { method: 'eth_getTransactionCount', params: [from, 'latest'] },
      { method: 'eth_getTransactionCount', params: [from, 'pending'] },
      { method: tipMethod(policy.legacy), params: [] },
      { method: 'eth_call', params: [{ to: multicall, data: packAggregate3(views) }, 'latest'] },
      ...simulationCalls(simulatedSteps, from, permit && stateWith(permit, from)),
      ...(permit ? [{ method: 'eth_getCode', params: [from, 'latest'] }] : []),
    ],
    at,
  )

  const results = aggregateResults(rpc, resultOf(rpc, 'eth_call', read), views.length)
  const unmet = unmetNeeds(allNeeds, results, permit)
  const first = unmet.find(({ need }) => need.is === 'balance') ?? unmet[0]
  if (first) {
    const mayPermit = price.withPermit && !permit && steps.length === 1 && unmet.length === 1 && first.need.is === 'allowance'
    const signable = mayPermit ? permitFor(first.need, first.result) : undefined
    if (signable) return check(options, gasLimits, steps, needs, from, price, at, signable)
    throw await unmetError(options, first, at)
  }
  if (permit) requirePermits(options, permit, { domain: results[allNeeds.length], estimated: simulated[0], code: simulated[1] })
  const nativeRaw = uintOf(results[allNeeds.length - 1] ?? { ok: false, data: '0x' }) ?? 0n
  const charges = options.rollup ? chargesOf(results.slice(allNeeds.length + permitCalls.length)) : []
  if (!charges) throw invalidAnswer(rpc, 'has no GasPriceOracle, which tells the fees of a rollup')
  const newest = resultOf(rpc, 'eth_getBlockByNumber', block)
  const blockGas = blockField(options, newest, 'gasLimit')
  const maxGas = options.maxGas === undefined ? blockGas : min(options.maxGas, blockGas)
  const limits = gasLimitsOf(rpc, simulatedSteps, simulated, maxGas)
  const [only, ...others] = steps
  if (only && others.length === 0 && !permit) gasLimits.learn(only, from, limits[0] ?? 0n, maxGas)
  const suggested = quantityOf(tip?.result)
  const tipRaw = options.tipFor && overrides.maxPriorityFeePerGasRaw === undefined ? await options.tipFor(suggested, at) : suggested
  const baseFeeRaw = policy.legacy ? 0n : blockField(options, newest, 'baseFeePerGas')
  const feePerGas = computeFeePerGas(overrides, over, { baseFeeRaw, tipRaw, policy, feeCapRaw })
  const prepared = steps.map((step, index) => ({ step, ...feesOf(limits[index] ?? 0n, feePerGas, policy, charges[index]) }))
  const tradedRaw = sum(needs.flatMap((need) => (need.is === 'balance' && need.token === options.coinToken ? need.amountRaw : [])))
  const neededRaw = tradedRaw + sum(prepared.map(({ step, fees }) => costOf(step, fees)))
  if (nativeRaw < neededRaw) throw insufficientGasFunds(nativeCurrency, nativeRaw, neededRaw)

  const synced = nonceCountsOf(rpc, latest, pending)
  const reserve = await readReserve(options, { from, spends: spendingOf(prepared), nativeRaw, sentBefore: synced.latest, newest }, at)
  const checkFunds: Checked['checkFunds'] = (committedRaw) =>
    commitmentCheck(nativeCurrency, nativeRaw, neededRaw)(committedRaw) ?? reserve?.(committedRaw)
  const refused = reserve?.(0n)
  if (refused) throw refused
  const head = { number: blockField(options, newest, 'number'), timestamp: Number(blockField(options, newest, 'timestamp')) }
  return { prepared, synced, checkFunds, head, ...(permit && { permits: [permit] }) }
}

/**
 * A node that is asked about what is no address or no bytes refuses it, and is put aside for that: with it everybody's trades.
 * @throws SluiceError UNKNOWN_ERROR
 */
function requireWellFormed(steps: readonly EvmIntent[], needs: readonly Need[]): void {
  const addresses = [
    ...steps.map(({ to }) => to),
    ...needs.flatMap((need) => [
      need.token,
      ...(need.is === 'balance' ? [] : [need.spender]),
      ...(need.is === 'allowance' && need.permit2 !== undefined ? [need.permit2] : []),
    ]),
  ]
  const [wrong] = [...addresses.filter((each) => !isAddress(each)), ...steps.map(({ data }) => data).filter((each) => !isBytes(each))].map(
    String,
  )
  if (wrong === undefined) return
  throw new SluiceError(
    'UNKNOWN_ERROR',
    `The plan has ${wrong.slice(0, 80)} in the place of an address or of bytes: nothing was signed. This is a defect of the plugin.`,
  )
}

/** The step as it is simulated. What its permit uses when it counts comes on top of the estimate. */
function stepWith(permit: Permit, step: EvmIntent, price: TakesPermit<EvmIntent>): EvmIntent {
  return {
    ...(price.withPermit?.(step, permit, nobodysSignature) ?? step),
    spareGas: (BigInt(step.spareGas ?? '0') + permitGas).toString(),
  }
}

/**
 * Permit2 asks a wallet that has code (EIP-7702) for its word on a signature, and that may be anything. A contract with another domain is not
 * Permit2, and a node that takes no state overrides cannot simulate the trade.
 */
function requirePermits(
  { rpc, chainId }: EvmRailOptions,
  permit: Permit,
  { domain, estimated, code }: { domain: CallResult | undefined; estimated: RpcAnswer | undefined; code: RpcAnswer | undefined },
): void {
  const { permit2, spender } = permit
  const refuse = (why: string) =>
    new SluiceError(
      'INSUFFICIENT_ALLOWANCE',
      `${spender} may not take the amount by Permit2, and no permit is signed for it, because ${why}: approve it with /evm/approve.`,
      { details: { spender } },
    )
  if (resultOf(rpc, 'eth_getCode', code) !== '0x') throw refuse('the wallet has code')
  if (!domain || !hasDomainOf(permit, chainId, domain)) throw refuse(`${permit2} does not take signatures as Permit2 does`)
  if (isUnsupported(estimated)) throw refuse('the node takes no state overrides in eth_estimateGas')
}

/** Whether so much of the native coin covers what is needed and what the wallet's other transactions may take. */
const commitmentCheck =
  (nativeCurrency: Token, nativeRaw: bigint, neededRaw: bigint): Checked['checkFunds'] =>
  (committedRaw) =>
    nativeRaw < committedRaw + neededRaw ? fundsInPendingTransactions(nativeCurrency, nativeRaw, committedRaw, neededRaw) : undefined

const nonceCountCalls = (from: string) => ['latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [from, tag] }))

export async function readNonceCounts(rpc: Rpc, from: string, at: At): Promise<NonceCounts> {
  const [latest, pending] = await rpc.batch(nonceCountCalls(from), at)
  return nonceCountsOf(rpc, latest, pending)
}

/** Of every node that answers. @throws SluiceError NETWORK where fewer than two of several are up to date */
export async function readAllNonceCounts(rpc: Rpc, from: string, at: At): Promise<readonly NonceCounts[]> {
  // With the block, so that it is known which of them are behind.
  const { told: counts } = await rpc.onEveryNode(async (ask) => {
    const [, latest, pending] = await ask([blockCall('latest'), ...nonceCountCalls(from)])
    return nonceCountsOf(rpc, latest, pending)
  }, at)
  const wanted = Math.max(1, Math.min(2, rpc.nodes().filter(({ reads }) => reads).length))
  const upToDate = counts.filter(({ behind }) => !behind).length
  if (upToDate >= wanted) return counts
  throw new SluiceError('NETWORK', `Only ${upToDate} of the nodes are up to date, and it takes the word of ${wanted}.`)
}

function nonceCountsOf(rpc: Rpc, latest: RpcAnswer | undefined, pending: RpcAnswer | undefined): NonceCounts {
  const counts = { latest: countOf(rpc, latest), pending: countOf(rpc, pending) }
  return latest?.behind === undefined ? counts : { ...counts, behind: true }
}

function countOf(rpc: Rpc, answer: RpcAnswer | undefined): number {
  const count = numberOf(resultOf(rpc, 'eth_getTransactionCount', answer))
  if (count === undefined) throw invalidAnswer(rpc, 'answered eth_getTransactionCount with something that is no number')
  return count
}

function blockField(
  { rpc, network }: EvmRailOptions,
  block: unknown,
  field: 'gasLimit' | 'baseFeePerGas' | 'number' | 'timestamp',
): bigint {
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

/** `for`: the spender that takes tokens by Permit2, where the allowance is that contract's own. */
type CheckedNeed = Need & { readonly for?: string }

/** An allowance by Permit2 is two: the contract's at the token, and the spender's at the contract. */
const needsOf = (need: Need): readonly CheckedNeed[] =>
  need.is === 'allowance' && need.permit2 !== undefined
    ? [{ is: 'allowance', token: need.token, spender: need.permit2, amountRaw: need.amountRaw, for: need.spender }, need]
    : [need]

/** Reads the balance or the allowance that a need is about. */
function needCall(need: CheckedNeed, owner: string, multicall: string): Call {
  if (need.is === 'allowance' && need.permit2 !== undefined) return permit2AllowanceCall(need.permit2, need.token, owner, need.spender)
  if (need.is !== 'balance') return allowanceCall(need.token, owner, need.spender)
  return need.token === nativeAddress ? ethBalanceCall(multicall, owner) : balanceOfCall(need.token, owner)
}

interface UnmetNeed {
  readonly need: CheckedNeed
  readonly result: CallResult
  readonly currentRaw: bigint
}

/** What the wallet lacks. A contract without balances holds none. */
function unmetNeeds(needs: readonly CheckedNeed[], results: readonly CallResult[], permit: Permit | undefined): readonly UnmetNeed[] {
  return needs
    .map((need, index): UnmetNeed => {
      const result = results[index] ?? { ok: false, data: '0x' }
      return { need, result, currentRaw: usableNow(need, result, permit) ?? 0n }
    })
    .filter(({ need, currentRaw }) => (need.is === 'allowance-at-most' ? currentRaw > need.amountRaw : currentRaw < need.amountRaw))
}

/** Balances come before allowances: without a balance there is nothing to approve. */
async function unmetError({ nativeCurrency, token }: EvmRailOptions, { need, currentRaw }: UnmetNeed, at: At): Promise<SluiceError> {
  // A contract without symbol and decimals is named by its address, and its amounts in smallest units.
  const unnamed = { symbol: need.token, address: need.token, decimals: 0 }
  const named = need.token === nativeAddress ? nativeCurrency : ((await token(need.token, at)) ?? unnamed)
  if (need.is === 'allowance-at-most') return allowanceTooLarge(named, need.spender)
  return need.is === 'balance'
    ? insufficientBalance(named, currentRaw, need.amountRaw)
    : allowanceTooSmall(named, need.for ?? need.spender, currentRaw, need.amountRaw)
}

/** An allowance by Permit2 that expires before the deadline may be gone when the transaction is mined. */
function usableNow(need: CheckedNeed, result: CallResult, permit: Permit | undefined): bigint | undefined {
  if (need.is !== 'allowance' || need.permit2 === undefined) return uintOf(result)
  const allowance = permit2AllowanceOf(result)
  if (!allowance) return undefined
  // The only need by Permit2 that was not met: with its nonce the permit gives it.
  if (permit?.token === need.token && permit.spender === need.spender && BigInt(permit.nonce) === allowance.nonce) return permit.amountRaw
  return allowance.expires >= BigInt(need.until ?? 0) ? allowance.amountRaw : 0n
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
    `${spender} may move ${symbol} of the wallet, and takes it when the coin that is sent is used up: the code of a token that is on no list could make it take both. Give ${symbol} instead of the coin, set that allowance to 0 by /evm/approve, or put the token on the network's list if you trust it.`,
    { details: { reason: 'the coin could be taken twice', token: symbol, tokenAddress: address, spender } },
  )
}

/**
 * The same check from what is in memory, without asking anybody: for one call like others that were simulated, from a wallet whose coins,
 * tokens and nonces are followed.
 */
export function createCacheCheck(
  options: EvmRailOptions,
  gasLimits: Pick<GasLimitCache, 'limitOf'>,
  reader: Pick<EvmReader, 'read' | 'wrapped'>,
): CachedChecks<EvmIntent, string, NonceCounts, EvmFees> {
  const { rpc, coinToken, policy, feeCapRaw, knownTipRaw, nativeCurrency } = options
  const accounts = followedAccounts(rpc)
  const holdings = createHoldings(reader)

  /** The price that a check would find now. Undefined if it would refuse: then the network's check says why. */
  function priceAt({ baseFeeRaw }: Head, overrides: FeeOverrides): FeePerGas | undefined {
    const tipRaw = knownTipRaw?.()
    if (tipRaw === undefined || (baseFeeRaw === undefined && !policy.legacy)) return undefined
    try {
      checkFeeOverrides(overrides, feeCapRaw)
      return computeFeePerGas(overrides, undefined, { baseFeeRaw: policy.legacy ? 0n : (baseFeeRaw ?? 0n), tipRaw, policy, feeCapRaw })
    } catch (error) {
      if (error instanceof SluiceError) return undefined
      throw error
    }
  }

  return {
    basis(steps, needs, from) {
      if (steps.length !== 1 || !steps[0]?.alike) return undefined
      const isUncertain = (need: Need) =>
        need.is === 'allowance-at-most' ||
        // What Permit2 has of spenders is not followed.
        (need.is === 'allowance' && need.permit2 !== undefined) ||
        need.token === coinToken ||
        holdings.hasUnreliableLogs(need.token)
      if (needs.some(isUncertain)) return undefined
      return [
        { followed: accounts, key: from.toLowerCase() },
        ...tokensOf(needs).map((token) => ({
          followed: holdings.followed,
          key: holdings.keyOf(from, token),
          about: needs.flatMap((need) => (need.is === 'allowance' && need.token === token ? [need.spender] : []))[0],
        })),
      ]
    },

    check([step], needs, from, overrides, [account, ...held], head) {
      const limit = step && gasLimits.limitOf(step, from)
      const price = priceAt(head, overrides)
      // An account that was not read at this very block may be older.
      if (!step || limit === undefined || !price || !isAccount(account) || account.number !== head.number) return undefined
      const { nativeRaw, latest, pending } = account
      const tokens = tokensOf(needs)
      const missing = needs.flatMap((need) => {
        if (need.token === nativeAddress) return []
        const index = tokens.indexOf(need.token)
        return covers(held[index], need) ? [] : [{ index: index + 1, more: need.is === 'balance' ? null : need.spender }]
      })
      if (missing.length > 0) return { missing }
      const prepared = { step, ...feesOf(limit, price, policy) }
      const neededRaw = costOf(step, prepared.fees)
      const coinsRaw = needs.flatMap((need) => (need.token === nativeAddress ? need.amountRaw : []))
      if ([neededRaw, ...coinsRaw].some((raw) => nativeRaw < raw)) return undefined
      const checkFunds = commitmentCheck(nativeCurrency, nativeRaw, neededRaw)
      return { prepared: [prepared], synced: { latest, pending }, checkFunds, head: { number: head.number, timestamp: head.timestamp } }
    },
  }
}

const tokensOf = (needs: readonly Need[]) => [...new Set(needs.map(({ token }) => token))].filter((token) => token !== nativeAddress)

/** Memory never has more than the chain, so it cannot tell that an allowance is small enough. */
function covers(holding: unknown, need: Need): boolean {
  if (!isHolding(holding) || need.is === 'allowance-at-most') return false
  const raw = need.is === 'balance' ? holding.balanceRaw : holding.allowances.get(need.spender.toLowerCase())
  return raw !== undefined && raw >= need.amountRaw
}
