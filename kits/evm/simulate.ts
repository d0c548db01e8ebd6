// What steps would do to a wallet: they are simulated on the newest block by `eth_simulateV1`
// (https://github.com/ethereum/execution-apis), between two readings of its balances and allowances.
import { id } from 'ethers'
import { toQuantity } from 'ethers/utils'
import type { Allowance, At, Grant, SimulatedOutcome } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isAddressTopic, isBytes, wordAt, wordCount } from './encoding.ts'
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
  | { is: 'done'; before: readonly CallResult[]; after: readonly CallResult[]; logs: readonly EvmLog[] }

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
    const simulation = { wallet, reads, steps }
    const simulated = (await bySimulateV1(rpc, multicall, simulation, at)) ?? (await byOverride(rpc, multicall, simulation, at))
    if (!simulated) return 'unavailable'
    if (simulated.is === 'failed') return simulated
    const { logs } = simulated
    const [before, after] = [simulated.before, simulated.after].map((results) => results.map((result) => uintOf(result) ?? 0n))
    const changeOf = (index: number) => (after?.[index] ?? 0n) - (before?.[index] ?? 0n)

    const gains = gainsByEvents(logs, wallet)
    if (!gains) return { is: 'failed', reason: 'a contract emits an event of token transfers that cannot be read' }
    for (const [index, token] of [coin, ...tokens].entries()) gains.set(token, changeOf(index))
    const isKnown = ({ token, spender }: Grant) => allowances.some((each) => each.token === token && each.spender === spender)
    const grants = [
      ...allowances.flatMap((allowance, index): readonly Grant[] => {
        const read = 1 + tokens.length + index
        return changeOf(read) > 0n ? [{ ...allowance, amountRaw: after?.[read] ?? 0n }] : []
      }),
      // Many tokens emit an approval of what is left when a spender takes something.
      ...grantsByEvents(logs, wallet).filter((grant) => grant.amountRaw === undefined || !isKnown(grant)),
    ]
    return { is: 'done', gains, grants }
  }
}

/** Undefined if the node does not know the method. */
async function bySimulateV1(rpc: Rpc, multicall: string, { wallet, reads, steps }: Simulation, at: At): Promise<Simulated | undefined> {
  const read = { to: multicall, data: packAggregate3(reads) }
  const calls = [read, ...steps.map((step) => callOf(step, wallet)), read]
  const [answer] = await rpc.batch([{ method: 'eth_simulateV1', params: [{ blockStateCalls: [{ calls }] }, 'latest'] }], at)
  if (isUnknownMethod(answer)) return undefined
  const results = resultsOf(rpc, answer, calls.length)
  const ofSteps = results.slice(1, -1)
  const failed = ofSteps.find(({ ok }) => !ok)
  if (failed) return { is: 'failed', reason: revertReason(failed.data) }
  const [before = [], after = []] = [results[0], results.at(-1)].map((each) => aggregateResults(rpc, each?.data, reads.length))
  return { is: 'done', before, after, logs: ofSteps.flatMap(({ logs }) => logs) }
}

/** Has the coin that the steps send. */
const payer = '0x00000000000000000000000000000000000000c0'

/**
 * By a call that runs Multicall3's code in the wallet's place, so that the steps have the wallet as their caller. It shows no events, and
 * differs where a contract takes no calls from accounts with code. Undefined if the node takes no state overrides.
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
  return { is: 'done', before: results.slice(0, reads.length), after: results.slice(-reads.length), logs: [] }
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
const permit2Grants: ReadonlySet<string> = new Set([
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
