// What steps would do to a wallet: they are simulated on the newest block by `eth_simulateV1`
// (https://github.com/ethereum/execution-apis), between two readings of its balances and allowances.
import { id } from 'ethers'
import { toQuantity } from 'ethers/utils'
import type { Allowance, At, Grant, SimulatedOutcome } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { addressOf, isAddressTopic, isBytes, wordAt, wordCount } from './encoding.ts'
import { callOf, simulatedCalls } from './gas-limit.ts'
import { addressIn, canonical, gainsByEvents } from './movements.ts'
import { aggregateResults, ethBalanceCall, packAggregate3, packAggregate3Value } from './multicall.ts'
import { revertReason } from './node-errors.ts'
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
    // Where no events are shown: what a step calls may be a token that nobody asked about.
    const called = [...new Set(steps.map(({ to }) => canonical(to)))].filter((to) => !tokens.includes(to))
    const reads = [
      ethBalanceCall(multicall, wallet),
      ...tokens.map((token) => balanceOfCall(token, wallet)),
      ...allowances.map(({ token, spender }) => allowanceCall(token, wallet, spender)),
      ...called.map((to) => balanceOfCall(to, wallet)),
    ]
    const simulation = { wallet, reads, steps }
    const simulated = (await bySimulateV1(rpc, multicall, simulation, at)) ?? (await byOverride(rpc, multicall, simulation, at))
    if (!simulated) return 'unavailable'
    if (simulated.is === 'failed') return simulated
    const logs = simulated.logs === 'not shown' ? [] : simulated.logs
    const [before, after] = [simulated.before, simulated.after].map((results) => results.map((result) => uintOf(result) ?? 0n))
    const changeOf = (index: number) => (after?.[index] ?? 0n) - (before?.[index] ?? 0n)

    const gains = gainsByEvents(logs, wallet)
    if (!gains) return { is: 'failed', reason: 'a contract emits an event of token transfers that cannot be read' }
    for (const [index, token] of [coin, ...tokens].entries()) gains.set(token, changeOf(index))
    if (simulated.logs === 'not shown')
      for (const [index, to] of called.entries()) {
        const change = changeOf(1 + tokens.length + allowances.length + index)
        if (change !== 0n) gains.set(to, change)
      }
    const isKnown = ({ token, spender }: Grant) => allowances.some((each) => each.token === token && each.spender === spender)
    const grants = [
      ...allowances.flatMap((allowance, index): readonly Grant[] => {
        const read = 1 + tokens.length + index
        return changeOf(read) > 0n ? [{ ...allowance, amountRaw: after?.[read] ?? 0n }] : []
      }),
      // Many tokens emit an approval of what is left when a spender takes something.
      ...(simulated.logs === 'not shown' ? grantsByCalls(steps) : grantsByEvents(logs, wallet)).filter(
        (grant) => grant.amountRaw === undefined || !isKnown(grant),
      ),
    ]
    return { is: 'done', gains, grants }
  }
}

/** A contract that exists in the simulation only and emits one event: some nodes answer without any. */
const witness = { address: '0x00000000000000000000000000000000000000c1', topic: id('Sluice looks whether events are shown') }
/** PUSH32 topic, PUSH0, PUSH0, LOG1. */
const witnessCode = `0x7f${witness.topic.slice(2)}5f5fa1`

/** Undefined if the node does not know the method, or shows no events by it. */
async function bySimulateV1(rpc: Rpc, multicall: string, { wallet, reads, steps }: Simulation, at: At): Promise<Simulated | undefined> {
  const read = { to: multicall, data: packAggregate3(reads) }
  const calls = [read, ...steps.map((step) => callOf(step, wallet)), read, { to: witness.address }]
  const stateOverrides = { [witness.address]: { code: witnessCode } }
  const params = [{ blockStateCalls: [{ stateOverrides, calls }] }, 'latest']
  const [answer] = await rpc.batch([{ method: 'eth_simulateV1', params }], at)
  if (isUnknownMethod(answer)) return undefined
  const all = resultsOf(rpc, answer, calls.length)
  if (all.at(-1)?.logs[0]?.topics[0] !== witness.topic) return undefined
  const results = all.slice(0, -1)
  const ofSteps = results.slice(1, -1)
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  const [before = [], after = []] = [results[0], results.at(-1)].map((each) => aggregateResults(rpc, each?.data, reads.length))
  return { is: 'done', before, after, logs: ofSteps.flatMap(({ logs }) => logs) }
}

/** Has the coin that the steps send. */
const payer = '0x00000000000000000000000000000000000000c0'

/**
 * By a call that runs Multicall3's code in the wallet's place, so that the steps have the wallet as their caller. It shows no events, so rights
 * are read in the calls themselves; and it differs where a contract takes no calls from accounts with code. Undefined if the node takes no
 * state overrides.
 */
async function byOverride(rpc: Rpc, multicall: string, { wallet, reads, steps }: Simulation, at: At): Promise<Simulated | undefined> {
  const [found] = await rpc.batch([{ method: 'eth_getCode', params: [multicall, 'latest'] }], at)
  const code = resultOf(rpc, 'eth_getCode', found)
  const calls = [...reads, ...steps, ...reads]
  const value = toQuantity(steps.reduce((sum, step) => sum + BigInt(step.value), 0n))
  const [answer] = await rpc.batch(
    [
      {
        method: 'eth_call',
        params: [
          { from: payer, to: wallet, value, data: packAggregate3Value(calls) },
          'latest',
          { [wallet]: { code }, [payer]: { balance: toQuantity(2n ** 255n) } },
        ],
      },
    ],
    at,
  )
  // A wallet without code returns nothing.
  if (answer?.error || answer?.result === '0x') return undefined
  const results = aggregateResults(rpc, answer?.result, calls.length)
  const failed = results.slice(reads.length, -reads.length).find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  return { is: 'done', before: results.slice(0, reads.length), after: results.slice(-reads.length), logs: 'not shown' }
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

/** Approvals of the wallet that are not taken back. */
function grantsByEvents(logs: readonly EvmLog[], wallet: string): readonly Grant[] {
  return logs.flatMap(({ address, topics: [event, owner, second, third], data }): readonly Grant[] => {
    if (event === undefined || !isAddressTopic(owner, wallet)) return []
    const spender = addressIn(second)
    if (event === approval && third !== undefined) return BigInt(second ?? '0x0') === 0n ? [] : [{ token: address, spender }]
    if (event === approval && wordCount(data) >= 1) {
      const amountRaw = wordAt(data, 0)
      return amountRaw === 0n ? [] : [{ token: address, spender, amountRaw }]
    }
    if (event === approvalForAll && wordCount(data) >= 1) return wordAt(data, 0) === 0n ? [] : [{ token: address, spender }]
    if (permit2Grants.has(event) && wordCount(data) >= 1)
      return wordAt(data, 0) === 0n ? [] : [{ token: addressIn(second), spender: addressIn(third) }]
    return []
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
