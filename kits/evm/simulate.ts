// What steps would do to a wallet: they are simulated by `eth_simulateV1` (https://github.com/ethereum/execution-apis) as the next block would run
// them, at the prices and gas limits that are signed, between two readings of its balances and allowances. A contract that looks for a simulation
// sees none of the usual signs: no gas price or base fee of 0, no block of the past, no coinbase of 0, no other origin.
import { randomBytes } from 'node:crypto'
import { id } from 'ethers'
import { toQuantity } from 'ethers/utils'
import type { Allowance, At, Grant, Json, SimulatedOutcome, StepOutcome } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { addressOf, approvalTopic, isAddressTopic, isBytes, quantityOf, wordAt, wordCount } from './encoding.ts'
import type { FeePolicy } from './fees.ts'
import { callOf, simulatedCalls } from './gas-limit.ts'
import { addressIn, canonical, movementsByEvents } from './movements.ts'
import { aggregateResults, ethBalanceCall, packAggregate3, packAggregate3Value, unpackAggregate3 } from './multicall.ts'
import {
  blockOverrides,
  effectivePriceRaw,
  gasFields,
  priceFields,
  readNextBlock,
  stepFeesOf,
  usualFees,
  type NextBlock,
  type StepFees,
} from './next-block.ts'
import { beginningOf, quoteNode } from '../nodes/faults.ts'
import { callVerdict } from './node-errors.ts'
import { revertReason } from './reverts.ts'
import { allowanceCall, balanceOfCall, noResult, uintOf } from './tokens.ts'
import type { Call, CallResult, EvmIntent, EvmLog } from './types.ts'

/** Of the node: it does not know the method. */
const methodNotFound = -32601

interface Question {
  tokens: readonly string[]
  allowances: readonly Allowance[]
  /** Of the steps, as the check priced them. */
  fees?: readonly Json[]
}

/** The calls of a simulation: one reading, then each step with the same reading again. */
interface Simulation {
  wallet: string
  reads: readonly Call[]
  steps: readonly EvmIntent[]
  /** The block that would have them. */
  next: NextBlock
  /** Of each step. */
  fees: readonly StepFees[]
}

/** What a node says of them: the first step that fails, or the readings before, between and after the steps. */
type SimulationResult =
  | { is: 'failed'; reason: string }
  | {
      is: 'done'
      /** The first is before all steps, and each other one behind a step. */
      readings: readonly (readonly CallResult[])[]
      /** By the wallet, within the readings, for each step. */
      gasPaidRaw: readonly bigint[]
      /** Of each step. */
      logs: readonly (readonly EvmLog[])[] | 'not shown'
    }

type OverrideSimulation = Simulation & {
  /** Of the wallet. */
  nativeRaw: bigint
  /** Of Multicall3. */
  code: unknown
}

interface SimulationOptions {
  /** Address of Multicall3, which reads all balances in one call. */
  readonly multicall: string
  /** What answers call the native coin. */
  readonly coin: string
  /** The usual time between two blocks. */
  readonly blockSeconds: number
  readonly policy: FeePolicy
}

export function createSimulation(rpc: Rpc, { multicall, coin, blockSeconds, policy }: SimulationOptions) {
  return async function simulate(
    steps: readonly EvmIntent[],
    wallet: string,
    question: Question,
    at: At,
  ): Promise<SimulatedOutcome | 'unavailable'> {
    const tokens = question.tokens.map(canonical)
    const allowances = question.allowances.map(({ token, spender }) => ({ token: canonical(token), spender: canonical(spender) }))
    const reads = [
      ethBalanceCall(multicall, wallet),
      ...tokens.map((token) => balanceOfCall(token, wallet)),
      ...allowances.map(({ token, spender }) => allowanceCall(token, wallet, spender)),
    ]
    // What a step calls may be a token that nobody asked about. Some of its moves have no event of a transfer: a wrapped coin that is unwrapped.
    const called = [...new Set(steps.map(({ to }) => canonical(to)))].filter((to) => !tokens.includes(to))
    const { next, nativeRaw, code } = await readNextBlock(rpc, { multicall, wallet, blockSeconds }, at)
    const fees = question.fees?.map(stepFeesOf) ?? usualFees(steps, nativeRaw, next, policy)
    const simulation = { wallet, reads: [...reads, ...called.map((to) => balanceOfCall(to, wallet))], steps, next, fees, nativeRaw, code }
    const simulated = (await bySimulateV1(rpc, multicall, simulation, at)) ?? (await byOverride(rpc, multicall, simulation, at))
    if (!simulated) return 'unavailable'
    if (simulated.is === 'failed') return simulated
    const readings = simulated.readings.map((each) => each.map(uintOf))
    const subjects = [coin, ...tokens, ...allowances.map(({ token }) => token), ...called]
    // Of the contracts that are called some are no tokens.
    const unread = subjects.findIndex((_, index) => {
      const known = readings.filter((each) => each[index] !== undefined).length
      return known < readings.length && (index < reads.length || known > 0)
    })
    if (unread >= 0) return { is: 'failed', reason: `the balance or the allowance of ${subjects[unread]} cannot be read` }

    const shown = simulated.logs === 'not shown' ? undefined : simulated.logs
    const outcomes: StepOutcome[] = []
    for (const index of steps.keys()) {
      const movements = movementsByEvents(shown?.[index] ?? [], wallet)
      if (!movements) return { is: 'failed', reason: 'a contract emits an event of token transfers that cannot be read' }
      const [before = [], after = []] = readings.slice(index)
      const change = { before, after, gasPaidRaw: simulated.gasPaidRaw[index] ?? 0n }
      const gains = gainsOfStep(movements.gains, change, { balances: [coin, ...tokens], called, calledFrom: reads.length })
      outcomes.push({ gains, ...(shown && { sent: movements.sent }) })
    }
    const grown = allowances.flatMap((allowance, nth) => {
      const at = 1 + tokens.length + nth
      const raws = readings.map((each) => each[at] ?? 0n)
      return raws.flatMap((raw, index): readonly Grant[] =>
        index > 0 && raw > (raws[index - 1] ?? 0n) ? [{ ...allowance, amountRaw: raw }] : [],
      )
    })
    const known = new Map(allowances.map((allowance, nth) => [keyOf(allowance), readings[0]?.[1 + tokens.length + nth] ?? 0n]))
    const grants = [
      ...grown,
      ...newGrants(grantsByEvents(shown?.flat() ?? [], wallet), known),
      ...grantsByCalls(steps).filter((grant) => !isCounted(grant, known)),
    ]
    const gains = sumOf([new Map([coin, ...tokens].map((token) => [token, 0n])), ...outcomes.map((each) => each.gains)])
    return {
      is: 'done',
      gains,
      grants: distinct(grants),
      ...(shown && { sent: sumOf(outcomes.flatMap(({ sent }) => sent ?? [])) }),
      ...(steps.length > 1 && { steps: outcomes }),
    }
  }
}

interface BalanceChange {
  readonly before: readonly (bigint | undefined)[]
  readonly after: readonly (bigint | undefined)[]
  /** What of the coin went for gas. */
  readonly gasPaidRaw: bigint
}

/**
 * What a step brings, or takes: by balances where they are read, else by its events.
 * @param told by its events
 * @param of the coin and the tokens in the order of the reading, and the contracts that are called, from `calledFrom` on
 */
function gainsOfStep(
  told: ReadonlyMap<string, bigint>,
  { before, after, gasPaidRaw }: BalanceChange,
  { balances, called, calledFrom }: { balances: readonly string[]; called: readonly string[]; calledFrom: number },
): Map<string, bigint> {
  const gains = new Map(told)
  const changeOf = (index: number) => (after[index] ?? 0n) - (before[index] ?? 0n) + (index === 0 ? gasPaidRaw : 0n)
  for (const [index, token] of balances.entries()) gains.set(token, changeOf(index))
  for (const [nth, to] of called.entries()) {
    const index = calledFrom + nth
    if (after[index] === undefined) continue
    // Tokens of EIP-721 are told one by one.
    const ofIds = [...gains].reduce((sum, [key, gainRaw]) => (key.startsWith(`${to}/`) ? sum + gainRaw : sum), 0n)
    const untold = changeOf(index) - ofIds
    if (untold !== 0n) gains.set(to, untold)
  }
  return gains
}

function sumOf(all: readonly ReadonlyMap<string, bigint>[]): Map<string, bigint> {
  const sum = new Map<string, bigint>()
  for (const each of all) for (const [token, raw] of each) sum.set(token, (sum.get(token) ?? 0n) + raw)
  return sum
}

const keyOf = ({ token, spender }: Allowance) => `${token} ${spender}`

/** The change of its allowance is read. */
const isCounted = (grant: Grant, known: ReadonlyMap<string, bigint>) => grant.amountRaw !== undefined && known.has(keyOf(grant))

/**
 * Those that give more than there was. Many tokens emit an approval of what is left when a spender takes something: an allowance that is read
 * may become smaller, step by step, and never larger again.
 */
function newGrants(grants: readonly Grant[], known: ReadonlyMap<string, bigint>): readonly Grant[] {
  const left = new Map(known)
  return grants.filter((grant) => {
    const { amountRaw } = grant
    const lastRaw = left.get(keyOf(grant))
    if (amountRaw === undefined || lastRaw === undefined) return amountRaw !== 0n
    left.set(keyOf(grant), amountRaw)
    return amountRaw > lastRaw
  })
}

const distinct = (grants: readonly Grant[]): readonly Grant[] => [...new Map(grants.map((grant) => [keyOf(grant), grant])).values()]

/** Of contracts and accounts that exist in the simulation only. Nobody can look for one that is new each time. */
const newAddress = () => canonical(`0x${randomBytes(20).toString('hex')}`)

/**
 * Code that calls Multicall3 with its own input by STATICCALL and returns what that returns: tokens that are read run the code of whoever wrote
 * them, and nothing may move while it runs. RETURNDATASIZE stands for 0 until the call.
 */
const readerCode = (multicall: string) => `0x363d3d373d3d363d73${multicall.slice(2)}5afa3d600060003e3d6000f3`

/** Who pays for readings. */
const payerRaw = 2n ** 200n
/** Where there are no steps. */
const noPrice: StepFees = { gasLimit: 0n, maxFeeRaw: 2n ** 60n, tipRaw: 1n }

/**
 * Emits one event, because some nodes answer without any, and returns what a contract sees: gas price, timestamp, coinbase and, where blocks have one,
 * base fee. PUSH32 topic, PUSH1 0, PUSH1 0, LOG1, then each into memory.
 */
const witnessTopic = id('Sluice looks whether events are shown')
function witnessCode({ baseFeeRaw }: NextBlock): string {
  const seen = ['3a', '42', '41', ...(baseFeeRaw === undefined ? [] : ['48'])]
  const stores = seen.map((opcode, index) => `${opcode}60${(index * 32).toString(16).padStart(2, '0')}52`).join('')
  return `0x7f${witnessTopic.slice(2)}60006000a1${stores}60${(seen.length * 32).toString(16)}6000f3`
}

/** Whether a node ran the calls in the block that it was told of: some take no notice of what they do not know. */
function isRunIn({ timestamp, coinbase, baseFeeRaw }: NextBlock, { ok, data }: CallResult): boolean {
  if (!ok || wordCount(data) < (baseFeeRaw === undefined ? 3 : 4)) return false
  // Some rollups take no tip, so that the price is the base fee alone.
  const isPriced = wordAt(data, 0) > 0n && wordAt(data, 0) >= (baseFeeRaw ?? 0n)
  const isInBlock = wordAt(data, 1) === BigInt(timestamp) && addressOf(wordAt(data, 2)).toLowerCase() === coinbase.toLowerCase()
  return isPriced && isInBlock && (baseFeeRaw === undefined || wordAt(data, 3) === baseFeeRaw)
}

/** Undefined if the node does not know the method, shows no events by it, or does not run the calls as the next block would. */
async function bySimulateV1(rpc: Rpc, multicall: string, simulation: Simulation, at: At): Promise<SimulationResult | undefined> {
  const { wallet, reads, steps, next, fees } = simulation
  const [reader, witness, payer, other] = [newAddress(), newAddress(), newAddress(), newAddress()]
  const ownReads = [...reads, ethBalanceCall(multicall, other)]
  const [price = noPrice] = fees
  const read = { ...priceFields(price), from: payer, to: reader, data: packAggregate3(ownReads) }
  const calls = [
    // The witness comes first: the steps may leave no gas for it.
    { ...priceFields(price), from: other, to: witness },
    read,
    ...steps.flatMap((step, index) => [{ ...callOf(step, wallet), ...gasFields(fees[index] ?? price) }, read]),
  ]
  const stateOverrides = {
    [witness]: { code: witnessCode(next) },
    [reader]: { code: readerCode(multicall) },
    [payer]: { balance: toQuantity(payerRaw) },
    [other]: { balance: toQuantity(payerRaw) },
  }
  const blockStateCalls = [{ blockOverrides: blockOverrides(next), stateOverrides, calls }]
  const params = [{ blockStateCalls, validation: true }, toQuantity(next.number - 1n)]
  const [answer] = await rpc.batch([{ method: 'eth_simulateV1', params }], at)
  if (isUnknownMethod(answer)) return undefined
  const unpaid = answer?.error && callVerdict(answer.error)
  if (unpaid === 'insufficient-funds' || unpaid === 'out-of-gas') return { is: 'failed', reason: quoteNode(answer?.error?.message ?? '') }
  const [witnessed, first, ...rest] = resultsOf(rpc, answer, calls.length)
  if (witnessed?.logs[0]?.topics[0] !== witnessTopic || !isRunIn(next, witnessed)) return undefined
  const [ofSteps, behind] = apart(rest)
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  if (behind.some(({ ok }) => !ok)) return unreadAfter
  const readings = [first, ...behind].map((each) => readingOf(rpc, each, ownReads))
  // Nodes differ in whether a simulated transaction pays for its gas: the witness's account tells.
  const paidRaw = payerRaw - (uintOf(readings.at(-1)?.at(-1) ?? noResult) ?? payerRaw)
  const gasRaw = (index: number, gasUsed: bigint) => gasUsed * effectivePriceRaw(fees[index] ?? price, next)
  if (paidRaw !== 0n && paidRaw !== gasRaw(0, witnessed.gasUsed)) return undefined
  return {
    is: 'done',
    readings: readings.map((each) => each.slice(0, -1)),
    gasPaidRaw: ofSteps.map(({ gasUsed }, index) => (paidRaw === 0n ? 0n : gasRaw(index, gasUsed))),
    logs: ofSteps.map(({ logs }) => logs),
  }
}

/** Steps, and the readings behind them: each has one. */
function apart<T>(results: readonly T[]): readonly [steps: readonly T[], behind: readonly T[]] {
  return [results.filter((_, index) => index % 2 === 0), results.filter((_, index) => index % 2 === 1)]
}

/** A step leaves too little gas, or too little else, for reading what it did. */
const unreadAfter: SimulationResult = { is: 'failed', reason: 'what it does to the wallet cannot be read after it' }

const readingOf = (rpc: Rpc, result: CallResult | undefined, reads: readonly Call[]) => aggregateResults(rpc, result?.data, reads.length)

/** For a reading of the wallet's balances and allowances in the call below. */
const readingGas = 5_000_000n

/**
 * By a call that runs Multicall3's code in the wallet's place, so that the steps have the wallet as their caller and as their origin. It shows no
 * events, so rights are read in the calls themselves; and it differs where a contract takes no calls from accounts with code. Undefined if the node
 * takes no state overrides, or does not run it as the next block would.
 */
async function byOverride(rpc: Rpc, multicall: string, simulation: OverrideSimulation, at: At): Promise<SimulationResult | undefined> {
  const { wallet, reads, steps, next, fees, nativeRaw, code } = simulation
  const [reader, witness] = [newAddress(), newAddress()]
  const read = { to: reader, data: packAggregate3(reads) }
  const calls = [{ to: witness, data: '0x' }, read, ...steps.flatMap((step) => [step, read])]
  const allReadingGas = BigInt(1 + steps.length) * readingGas
  const value = toQuantity(steps.reduce((sum, step) => sum + BigInt(step.value), 0n))
  const [price = noPrice] = fees
  const gasLimit = fees.reduce((sum, each) => sum + each.gasLimit, allReadingGas)
  // What the readings cost beside the steps is no matter of the wallet.
  const balance = toQuantity(nativeRaw + allReadingGas * price.maxFeeRaw)
  const overrides = {
    [wallet]: { code, balance },
    [reader]: { code: readerCode(multicall) },
    [witness]: { code: witnessCode(next) },
  }
  const call = { from: wallet, to: wallet, value, data: packAggregate3Value(calls), ...gasFields({ ...price, gasLimit }) }
  const params = [call, toQuantity(next.number - 1n), overrides, blockOverrides(next)]
  const [answer] = await rpc.batch([{ method: 'eth_call', params }], at)
  // A wallet without code returns nothing.
  if (answer?.error || answer?.result === '0x') return undefined
  const [seen = noResult, first, ...rest] = aggregateResults(rpc, answer?.result, calls.length)
  if (!isRunIn(next, seen)) return undefined
  const [ofSteps, behind] = apart(rest)
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  const after = behind.flatMap(({ data }) => {
    const reading = unpackAggregate3(data, reads.length)
    return reading ? [reading] : []
  })
  if (after.length < behind.length) return unreadAfter
  return { is: 'done', readings: [readingOf(rpc, first, reads), ...after], gasPaidRaw: [], logs: 'not shown' }
}

function isUnknownMethod({ error }: RpcAnswer = {}): boolean {
  if (!error) return false
  return (
    error.code === methodNotFound ||
    /method.*(not (found|supported|available|exist|allowed)|unsupported|unknown)|(unsupported|unknown) method/i.test(
      beginningOf(error.message),
    )
  )
}

interface CallOutcome extends CallResult {
  logs: readonly EvmLog[]
  gasUsed: bigint
}

/** @throws SluiceError NETWORK if the node gave an error, or something else than these calls' results */
function resultsOf(rpc: Rpc, answer: RpcAnswer | undefined, expected: number): readonly CallOutcome[] {
  const calls = simulatedCalls(resultOf(rpc, 'eth_simulateV1', answer)) ?? []
  const results = calls.flatMap((call) => readCall(call) ?? [])
  if (results.length !== expected) throw invalidAnswer(rpc, 'answered eth_simulateV1 with something else than the results of its calls')
  return results
}

function readCall(call: unknown): CallOutcome | undefined {
  if (!isObject(call)) return undefined
  const { status, returnData, logs = [] } = call
  if (!isBytes(returnData) || (status !== '0x1' && status !== '0x0') || !Array.isArray(logs)) return undefined
  const read = logs.flatMap((log: unknown) => readLog(log) ?? [])
  if (read.length !== logs.length) return undefined
  return { ok: status === '0x1', data: returnData, logs: read, gasUsed: quantityOf(call['gasUsed']) ?? 0n }
}

function readLog(log: unknown): EvmLog | undefined {
  if (!isObject(log)) return undefined
  const { address, topics, data } = log
  if (typeof address !== 'string' || !isBytes(data) || !Array.isArray(topics) || !topics.every(isBytes)) return undefined
  return { address: canonical(address), topics, data }
}

const approvalForAll = id('ApprovalForAll(address,address,bool)')
/** https://github.com/Uniswap/permit2/blob/main/src/interfaces/IAllowanceTransfer.sol */
export const permit2Grants: ReadonlySet<string> = new Set([
  id('Approval(address,address,address,uint160,uint48)'),
  id('Permit(address,address,address,uint160,uint48,uint48)'),
])

/** https://eips.ethereum.org/EIPS/eip-6909 */
const operatorSet = id('OperatorSet(address,address,bool)')
const approvalOfId = id('Approval(address,address,uint256,uint256)')
/** https://eips.ethereum.org/EIPS/eip-777: the operator comes first. */
const authorizedOperator = id('AuthorizedOperator(address,address)')
/** Of Aave's debt tokens: https://github.com/aave/aave-v3-core/blob/master/contracts/interfaces/ICreditDelegationToken.sol */
const borrowAllowance = id('BorrowAllowanceDelegated(address,address,address,uint256)')

/** Approvals of the wallet, in their order; those of an amount also where it is 0. */
function grantsByEvents(logs: readonly EvmLog[], wallet: string): readonly Grant[] {
  return logs.flatMap(({ address, topics: [event, owner, second, third], data }): readonly Grant[] => {
    if (event === authorizedOperator && isAddressTopic(second, wallet)) return [{ token: address, spender: addressIn(owner) }]
    if (event === undefined || !isAddressTopic(owner, wallet)) return []
    const spender = addressIn(second)
    if (event === approvalTopic && third !== undefined) return BigInt(second ?? '0x0') === 0n ? [] : [{ token: address, spender }]
    if (wordCount(data) < 1) return []
    const amountRaw = wordAt(data, 0)
    if (event === approvalTopic) return [{ token: address, spender, amountRaw }]
    if (amountRaw === 0n) return []
    if (event === approvalForAll || event === operatorSet || event === approvalOfId || event === borrowAllowance)
      return [{ token: address, spender }]
    return permit2Grants.has(event) ? [{ token: addressIn(second), spender: addressIn(third) }] : []
  })
}

/** A call that gives somebody a right over tokens of the caller: where spender and amount stand among its words, and the token, if it is not the contract that is called. */
interface GrantingCall {
  spender: number
  amount: number
  token?: number
  /** The amount only says whether there is a right. */
  uncounted?: true
}

const [plain, switched]: readonly GrantingCall[] = [
  { spender: 0, amount: 1 },
  { spender: 0, amount: 1, uncounted: true },
]
const grantingCalls: ReadonlyMap<string, GrantingCall | undefined> = new Map(
  Object.entries({
    'approve(address,uint256)': plain,
    'increaseAllowance(address,uint256)': plain,
    'increaseApproval(address,uint256)': plain,
    // https://eips.ethereum.org/EIPS/eip-1363
    'approveAndCall(address,uint256)': plain,
    'approveAndCall(address,uint256,bytes)': plain,
    'setApprovalForAll(address,bool)': switched,
    // https://eips.ethereum.org/EIPS/eip-6909
    'setOperator(address,bool)': switched,
    'approve(address,uint256,uint256)': { spender: 0, amount: 2, uncounted: true as const },
    // https://eips.ethereum.org/EIPS/eip-777
    'authorizeOperator(address)': { spender: 0, amount: 0, uncounted: true as const },
    // Permit2.
    'approve(address,address,uint160,uint48)': { token: 0, spender: 1, amount: 2, uncounted: true as const },
  }).map(([signature, where]) => [id(signature).slice(0, 10), where]),
)

/** Rights that the steps themselves give. */
function grantsByCalls(steps: readonly EvmIntent[]): readonly Grant[] {
  return steps.flatMap(({ to, data }): readonly Grant[] => {
    const where = grantingCalls.get(data.slice(0, 10).toLowerCase())
    const words = `0x${data.slice(10)}`
    if (!where || wordCount(words) <= Math.max(where.spender, where.amount)) return []
    const amountRaw = wordAt(words, where.amount)
    if (amountRaw === 0n) return []
    const addressAt = (index: number) => canonical(addressOf(BigInt.asUintN(160, wordAt(words, index))))
    const grant = { token: where.token === undefined ? canonical(to) : addressAt(where.token), spender: addressAt(where.spender) }
    return [where.uncounted ? grant : { ...grant, amountRaw }]
  })
}
