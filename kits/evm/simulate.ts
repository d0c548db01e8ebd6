// What steps would do to a wallet: they are simulated on the newest block by `eth_simulateV1`
// (https://github.com/ethereum/execution-apis), between two readings of its balances and allowances.
import { randomBytes } from 'node:crypto'
import { id } from 'ethers'
import { toQuantity } from 'ethers/utils'
import type { Allowance, At, Grant, SimulatedOutcome } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { addressOf, isAddressTopic, isBytes, wordAt, wordCount } from './encoding.ts'
import { callOf, simulatedCalls } from './gas-limit.ts'
import { addressIn, canonical, movementsByEvents } from './movements.ts'
import { aggregateResults, ethBalanceCall, packAggregate3, packAggregate3Value, unpackAggregate3 } from './multicall.ts'
import { revertReason } from './reverts.ts'
import { allowanceCall, balanceOfCall, uintOf } from './tokens.ts'
import type { Call, CallResult, EvmIntent, EvmLog } from './types.ts'

/** Of the node: it does not know the method. */
const methodNotFound = -32601

interface Question {
  tokens: readonly string[]
  allowances: readonly Allowance[]
}

/** The calls of a simulation: one reading, the steps, the same reading again. */
interface Simulation {
  wallet: string
  reads: readonly Call[]
  steps: readonly EvmIntent[]
}

/** What a node says of them: the first step that fails, or both readings and the events of the steps. */
type Simulated =
  | { is: 'failed'; reason: string }
  | { is: 'done'; before: readonly CallResult[]; after: readonly CallResult[]; logs: readonly EvmLog[] | 'not shown' }

/**
 * @param multicall address of Multicall3, which reads all balances in one call
 * @param coin what answers call the native coin
 */
export function createSimulation(rpc: Rpc, multicall: string, coin: string) {
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
    const simulation = { wallet, reads: [...reads, ...called.map((to) => balanceOfCall(to, wallet))], steps }
    const simulated = (await bySimulateV1(rpc, multicall, simulation, at)) ?? (await byOverride(rpc, multicall, simulation, at))
    if (!simulated) return 'unavailable'
    if (simulated.is === 'failed') return simulated
    const logs = simulated.logs === 'not shown' ? [] : simulated.logs
    const [before, after] = [simulated.before.map(uintOf), simulated.after.map(uintOf)]
    const subjects = [coin, ...tokens, ...allowances.map(({ token }) => token), ...called]
    // Of the contracts that are called some are no tokens.
    const unread = subjects.findIndex((_, index) =>
      index < reads.length
        ? before[index] === undefined || after[index] === undefined
        : (before[index] === undefined) !== (after[index] === undefined),
    )
    if (unread >= 0) return { is: 'failed', reason: `the balance or the allowance of ${subjects[unread]} cannot be read` }
    const changeOf = (index: number) => (after[index] ?? 0n) - (before[index] ?? 0n)

    const movements = movementsByEvents(logs, wallet)
    if (!movements) return { is: 'failed', reason: 'a contract emits an event of token transfers that cannot be read' }
    const { gains, sent } = movements
    for (const [index, token] of [coin, ...tokens].entries()) gains.set(token, changeOf(index))
    for (const [index, to] of called.entries()) {
      if (after[reads.length + index] === undefined) continue
      // Tokens of EIP-721 are told one by one.
      const told = [...gains].reduce((sum, [key, gainRaw]) => (key.startsWith(`${to}/`) ? sum + gainRaw : sum), 0n)
      const untold = changeOf(reads.length + index) - told
      if (untold !== 0n) gains.set(to, untold)
    }
    const read = allowances.map((allowance, index) => ({ allowance, index: 1 + tokens.length + index }))
    const grown = read.flatMap(({ allowance, index }): readonly Grant[] =>
      changeOf(index) > 0n ? [{ ...allowance, amountRaw: after[index] ?? 0n }] : [],
    )
    const known = new Map(read.map(({ allowance, index }) => [keyOf(allowance), before[index] ?? 0n]))
    const grants = [
      ...grown,
      ...newGrants(grantsByEvents(logs, wallet), known),
      ...grantsByCalls(steps).filter((grant) => !isCounted(grant, known)),
    ]
    return { is: 'done', gains, grants: distinct(grants), ...(simulated.logs !== 'not shown' && { sent }) }
  }
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

/** Emits one event: some nodes answer without any. PUSH32 topic, PUSH1 0, PUSH1 0, LOG1. */
const witnessTopic = id('Sluice looks whether events are shown')
const witnessCode = `0x7f${witnessTopic.slice(2)}60006000a1`

/** Undefined if the node does not know the method, or shows no events by it. */
async function bySimulateV1(rpc: Rpc, multicall: string, { wallet, reads, steps }: Simulation, at: At): Promise<Simulated | undefined> {
  const [reader, witness] = [newAddress(), newAddress()]
  const read = { to: reader, data: packAggregate3(reads) }
  // The witness comes first: the steps may leave no gas for it.
  const calls = [{ to: witness }, read, ...steps.map((step) => callOf(step, wallet)), read]
  const stateOverrides = { [witness]: { code: witnessCode }, [reader]: { code: readerCode(multicall) } }
  const params = [{ blockStateCalls: [{ stateOverrides, calls }] }, 'latest']
  const [answer] = await rpc.batch([{ method: 'eth_simulateV1', params }], at)
  if (isUnknownMethod(answer)) return undefined
  const [witnessed, first, ...rest] = resultsOf(rpc, answer, calls.length)
  if (witnessed?.logs[0]?.topics[0] !== witnessTopic) return undefined
  const [ofSteps, last] = [rest.slice(0, -1), rest.at(-1)]
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  if (last?.ok !== true) return unreadAfter
  const [before, after] = [readingOf(rpc, first, reads), readingOf(rpc, last, reads)]
  return { is: 'done', before, after, logs: ofSteps.flatMap(({ logs }) => logs) }
}

/** The steps leave too little gas, or too little else, for reading what they did. */
const unreadAfter: Simulated = { is: 'failed', reason: 'what it does to the wallet cannot be read after it' }

const readingOf = (rpc: Rpc, result: CallResult | undefined, reads: readonly Call[]) => aggregateResults(rpc, result?.data, reads.length)

/**
 * By a call that runs Multicall3's code in the wallet's place, so that the steps have the wallet as their caller. It shows no events, so rights
 * are read in the calls themselves; and it differs where a contract takes no calls from accounts with code. Undefined if the node takes no
 * state overrides.
 */
async function byOverride(rpc: Rpc, multicall: string, { wallet, reads, steps }: Simulation, at: At): Promise<Simulated | undefined> {
  const [found] = await rpc.batch([{ method: 'eth_getCode', params: [multicall, 'latest'] }], at)
  const code = resultOf(rpc, 'eth_getCode', found)
  const [reader, payer] = [newAddress(), newAddress()]
  const read = { to: reader, data: packAggregate3(reads) }
  const calls = [read, ...steps, read]
  const value = toQuantity(steps.reduce((sum, step) => sum + BigInt(step.value), 0n))
  const [answer] = await rpc.batch(
    [
      {
        method: 'eth_call',
        params: [
          // The payer has the coin that the steps send.
          { from: payer, to: wallet, value, data: packAggregate3Value(calls) },
          'latest',
          { [wallet]: { code }, [reader]: { code: readerCode(multicall) }, [payer]: { balance: toQuantity(2n ** 255n) } },
        ],
      },
    ],
    at,
  )
  // A wallet without code returns nothing.
  if (answer?.error || answer?.result === '0x') return undefined
  const results = aggregateResults(rpc, answer?.result, calls.length)
  const [first, ofSteps, last] = [results[0], results.slice(1, -1), results.at(-1)]
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  const after = unpackAggregate3(last?.data ?? '0x', reads.length)
  return after ? { is: 'done', before: readingOf(rpc, first, reads), after, logs: 'not shown' } : unreadAfter
}

function isUnknownMethod({ error }: RpcAnswer = {}): boolean {
  if (!error) return false
  return (
    error.code === methodNotFound ||
    /method.*(not (found|supported|available|exist|allowed)|unsupported|unknown)|(unsupported|unknown) method/i.test(error.message)
  )
}

interface CallOutcome extends CallResult {
  logs: readonly EvmLog[]
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
  return { ok: status === '0x1', data: returnData, logs: read }
}

function readLog(log: unknown): EvmLog | undefined {
  if (!isObject(log)) return undefined
  const { address, topics, data } = log
  if (typeof address !== 'string' || !isBytes(data) || !Array.isArray(topics) || !topics.every(isBytes)) return undefined
  return { address: canonical(address), topics, data }
}

const approval = id('Approval(address,address,uint256)')
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
    if (event === approval && third !== undefined) return BigInt(second ?? '0x0') === 0n ? [] : [{ token: address, spender }]
    if (wordCount(data) < 1) return []
    const amountRaw = wordAt(data, 0)
    if (event === approval) return [{ token: address, spender, amountRaw }]
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
