import { toQuantity } from 'ethers'
import { toQuantity as toQuantityInLogs } from 'ethers/utils'
import { SluiceError, type At, type Head, type Token } from '../../core/contracts/index.ts'
import type { Rpc, RpcAnswer } from '../nodes/dialect.ts'
import { ask, invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { isBytes, quantityOf, numberOf } from './encoding.ts'
import type { FeeOracle } from './fee-oracle.ts'
import { batchParts, isProbe, packBatch, multicallViews, packAggregate3, unpackAggregate3 } from './multicall.ts'
import type { EvmNetwork } from './network.ts'
import { callResultOf, revertData } from './node-errors.ts'
import type { RollupFees } from './op-stack.ts'
import { isLog } from './receipts.ts'
import type { Call, CallResult, EvmReader, Probe, FoundLog, LogFilter } from './types.ts'

/** The second is of one block already, where the node has that. */
const mostTries = 3

/** A tag, a number, or by its hash: https://eips.ethereum.org/EIPS/eip-1898 */
type BlockParameter = string | { readonly blockHash: string }

const blockOf = ({ hash, number }: Head): BlockParameter => (hash === undefined ? toQuantity(number) : { blockHash: hash })

interface Reading {
  head: Head
  results: readonly CallResult[]
}

interface ReaderOptions {
  rpc: Rpc
  fees: FeeOracle
  /** Where the network is a rollup that charges more than gas. */
  rollup?: RollupFees | undefined
  definition: EvmNetwork
  nativeCurrency: Token
  /** How errors name the network. */
  network: string
}

export function createReader({ rpc, fees, rollup, definition, nativeCurrency, network }: ReaderOptions): EvmReader {
  const { chainId, wrapped, intermediates, multicall } = definition
  const view = (data: string): Call => ({ to: multicall, data })
  const blockCalls: readonly Call[] = [
    definition.blockNumberCall ?? view(multicallViews.getBlockNumber),
    view(multicallViews.getCurrentBlockTimestamp),
    // Where no block has a base fee the opcode may not be there either, and one that is not burns the gas of all.
    ...(definition.legacyFees ? [] : [view(multicallViews.getBasefee)]),
  ]
  const headCalls = [...blockCalls, ...(rollup?.calls ?? [])]

  async function read(calls: readonly (Call | Probe)[], at: At, after?: Head): Promise<Reading> {
    const { head, results } = await readAt(after ? blockOf(after) : 'latest', calls, at)
    if (!after) return { head, results }
    if (head.number !== after.number || head.timestamp !== after.timestamp)
      throw invalidAnswer(rpc, 'answered of another block than the one that it was asked about')
    return { head: after, results }
  }

  async function readAt(block: BlockParameter, calls: readonly (Call | Probe)[], at: At): Promise<Reading> {
    const plain = calls.filter((call): call is Call => !isProbe(call))
    if (plain.length < calls.length) return readParts(batchParts(calls, headCalls), block, at)
    const bytes = await ask(rpc, 'eth_call', [{ to: multicall, data: packAggregate3([...headCalls, ...plain]) }, block], at)
    if (bytes === '0x')
      throw new SluiceError('NETWORK', `${network} has no Multicall3 at ${multicall}, which Sluice reads by: check rpcUrls.`)
    return readingOf(bytes, plain.length)
  }

  /** What is too long for one piece of creation code goes as several in one HTTP request: again at the oldest block that they saw, where they saw several. */
  async function readParts(parts: readonly (readonly (Call | Probe)[])[], first: BlockParameter, at: At): Promise<Reading> {
    const datas = parts.map((part) => packBatch([...headCalls, ...part]))
    let block = first
    for (let tries = 0; tries < mostTries; tries += 1) {
      const answers = await rpc.batch(
        datas.map((data) => ({ method: 'eth_call', params: [{ data }, block] })),
        at,
      )
      const readings = parts.map(({ length }, index) => readingOf(returned(answers[index]), length))
      const [oldest, ...others] = readings.map(({ head }) => head).toSorted((a, b) => Number(a.number - b.number))
      if (!oldest) break
      if (others.every(({ number, timestamp }) => number === oldest.number && timestamp === oldest.timestamp))
        return { head: oldest, results: readings.flatMap(({ results }) => results) }
      block = toQuantity(oldest.number)
    }
    throw invalidAnswer(rpc, 'answered the parts of one question from several blocks')
  }

  /** What creation code returned, or reverted with where that is more than a contract's code may be. */
  function returned(answer: RpcAnswer | undefined): unknown {
    const reverted = answer?.error && revertData(answer.error)
    return reverted === undefined || reverted === '0x' ? resultOf(rpc, 'eth_call', answer) : reverted
  }

  function readingOf(bytes: unknown, expected: number): Reading {
    const results = isBytes(bytes) ? unpackAggregate3(bytes, headCalls.length + expected) : undefined
    const [number, timestamp, baseFee] = (results ?? []).slice(0, blockCalls.length).map(({ data }) => quantityOf(data))
    if (!results || number === undefined || timestamp === undefined)
      throw invalidAnswer(rpc, 'answered a call to Multicall3 with something else than its result')
    if (rollup?.observe(results.slice(blockCalls.length, headCalls.length)) === false)
      throw invalidAnswer(rpc, 'has no GasPriceOracle, by which the fees of a rollup are told')
    return { head: headOf(number, Number(timestamp), baseFee), results: results.slice(headCalls.length) }
  }

  /** In a call without a gas price geth sets BASEFEE to 0 (`core/vm/evm.go`, NoBaseFee): then it is the block's own, where that is known. */
  function headOf(number: bigint, timestamp: number, called: bigint | undefined): Head {
    const baseFeeRaw = called || fees.baseFeeRaw(number)
    return baseFeeRaw === undefined ? { number, timestamp } : { number, timestamp, baseFeeRaw }
  }

  async function call(request: { to?: string; from?: string; data: string }, at: At): Promise<CallResult> {
    const [answer] = await rpc.batch([{ method: 'eth_call', params: [request, 'latest'] }], at)
    return callResultOf(rpc, answer)
  }

  return {
    chainId,
    nativeCurrency,
    wrapped,
    intermediates,
    read,
    call,
    logs: async (filter, at) => findLogs(rpc, filter, (await read([], at)).head.number, at),
    gasPriceRaw: (head) => fees.priceRaw(head),
  }
}

const mostCalls = 10
/** What public nodes look through in one call, where they have a limit at all. */
const blocksPerCall = 10_000

/** The newest 100,000 blocks since the one asked for, in one batch: who wants what is older asks somebody who keeps an index. */
export async function findLogs(
  rpc: Rpc,
  { address, topics, fromBlock }: LogFilter,
  newest: bigint,
  at: At,
  mostBlocks = blocksPerCall,
): Promise<readonly FoundLog[]> {
  const first = Math.max(fromBlock, 0, Number(newest) - mostBlocks * mostCalls + 1)
  const starts: number[] = []
  for (let start = first; start <= Number(newest); start += mostBlocks) starts.push(start)
  if (starts.length === 0) return []
  const answers = await rpc.batch(
    starts.map((start, index) => ({
      method: 'eth_getLogs',
      params: [
        {
          address,
          topics,
          fromBlock: toQuantityInLogs(start),
          // What came meanwhile counts, too.
          toBlock: index === starts.length - 1 ? 'latest' : toQuantityInLogs(start + mostBlocks - 1),
        },
      ],
    })),
    at,
  )
  return answers.flatMap((answer) => {
    const raw = resultOf(rpc, 'eth_getLogs', answer)
    const logs = Array.isArray(raw) ? raw.map(parseLog) : [undefined]
    return logs.map((log) => {
      if (!log) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
      return log
    })
  })
}

/** Undefined where it is none. */
export function parseLog(raw: unknown): FoundLog | undefined {
  if (!isLog(raw)) return undefined
  const { address, topics, data, transactionHash } = raw
  const blockNumber = numberOf(raw['blockNumber'])
  if (blockNumber === undefined || typeof transactionHash !== 'string') return undefined
  return { address, topics, data, transactionHash, blockNumber }
}
