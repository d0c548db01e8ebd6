import { toQuantity } from 'ethers/utils'
import type { At, Chain, Head, Token } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { ask, invalidAnswer, resultOf, type ReadRpc, type Rpc } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import type { FeeOracle } from './fees.ts'
import { batchParts, isProbe, packBatch, multicallViews, noMulticall, packAggregate3, aggregateResults } from './multicall.ts'
import type { EvmNetwork } from './network.ts'
import { callResultOf, callVerdict } from './node-errors.ts'
import { revertData } from './reverts.ts'
import type { RollupFees } from './op-stack.ts'
import { parseLog } from './receipts.ts'
import type { Call, CallResult, Evm, EvmReader, Probe, FoundLog, LogFilter } from './types.ts'

/** The second try is at one block, if the node has it. */
const maxTries = 3
/** Of a reading at one block that the node answers for another one. */
const maxTriesAtBlock = 2

/** A tag, a number, or a hash: https://eips.ethereum.org/EIPS/eip-1898 */
type BlockParameter = string | { readonly blockHash: string }

const blockOf = ({ hash, number }: Head): BlockParameter => (hash === undefined ? toQuantity(number) : { blockHash: hash })

interface Reading {
  head: Head
  results: readonly CallResult[]
}

interface ReaderOptions {
  rpc: Rpc
  /** Reads the events of blocks by these nodes. */
  changesBy(rpc: ReadRpc): NonNullable<Chain<Evm>['changes']>
  fees: FeeOracle
  /** For a rollup that charges more than gas. */
  rollup?: RollupFees | undefined
  definition: EvmNetwork
  nativeCurrency: Token
  /** How errors name the network. */
  network: string
}

/** @param isolated for code of strangers: their nodes, and the gas of one `eth_call` at most; absent: what the node gives */
export function createReader(options: ReaderOptions, isolated?: { rpc: ReadRpc; gasUnits: bigint }): EvmReader {
  const rpc: ReadRpc = isolated?.rpc ?? options.rpc
  const { fees, rollup, definition, nativeCurrency, network } = options
  const gas = isolated ? { gas: toQuantity(isolated.gasUnits) } : {}
  const { chainId, wrapped, intermediates, multicall } = definition
  const view = (data: string): Call => ({ to: multicall, data })
  const blockCalls: readonly Call[] = [
    definition.blockNumberCall ?? view(multicallViews.getBlockNumber),
    view(multicallViews.getCurrentBlockTimestamp),
    // Where blocks have no base fee, the opcode may not exist, and an invalid opcode uses up the gas of all calls.
    ...(definition.legacyFees ? [] : [view(multicallViews.getBasefee)]),
  ]
  const headCalls = [...blockCalls, ...(rollup?.calls ?? [])]

  async function read(calls: readonly (Call | Probe)[], at: At, after?: Head): Promise<Reading> {
    if (!after) return readAt('latest', calls, at)
    // A node may do so while it takes up a new block.
    for (let tries = 0; tries < maxTriesAtBlock; tries += 1) {
      const { head, results } = await readAt(blockOf(after), calls, at)
      if (head.number === after.number && head.timestamp === after.timestamp) return { head: after, results }
    }
    throw invalidAnswer(rpc, 'answered for another block than the one that it was asked for')
  }

  async function readAt(block: BlockParameter, calls: readonly (Call | Probe)[], at: At): Promise<Reading> {
    const plain = calls.filter((call): call is Call => !isProbe(call))
    if (plain.length < calls.length) return readParts(batchParts(calls, headCalls), block, at)
    const bytes = await ask(rpc, 'eth_call', [{ to: multicall, data: packAggregate3([...headCalls, ...plain]), ...gas }, block], at)
    if (bytes === '0x') throw noMulticall(network, multicall)
    return readingOf(bytes, plain.length, block)
  }

  /**
   * Calls that do not fit into one piece of creation code go as several, in one HTTP request. If these saw different blocks, they are sent
   * again for the oldest of them.
   */
  async function readParts(parts: readonly (readonly (Call | Probe)[])[], first: BlockParameter, at: At): Promise<Reading> {
    const datas = parts.map((part) => packBatch([...headCalls, ...part]))
    let block = first
    for (let tries = 0; tries < maxTries; tries += 1) {
      const answers = await rpc.batch(
        datas.map((data) => ({ method: 'eth_call', params: [{ data, ...gas }, block] })),
        at,
      )
      const readings = parts.map(({ length }, index) => readingOf(returned(answers[index]), length, block))
      const [oldest, ...others] = readings.map(({ head }) => head).toSorted((a, b) => Number(a.number - b.number))
      if (!oldest) break
      if (others.every(({ number, timestamp }) => number === oldest.number && timestamp === oldest.timestamp))
        return { head: oldest, results: readings.flatMap(({ results }) => results) }
      block = toQuantity(oldest.number)
    }
    throw invalidAnswer(rpc, 'answered the parts of one request for different blocks')
  }

  /** What creation code returned. If that is longer than a contract's code may be, the code reverts with it. */
  function returned(answer: RpcAnswer | undefined): unknown {
    const reverted = answer?.error && callVerdict(answer.error) === 'reverted' ? revertData(answer.error) : '0x'
    return reverted === '0x' ? resultOf(rpc, 'eth_call', answer) : reverted
  }

  function readingOf(bytes: unknown, expected: number, block: BlockParameter): Reading {
    const results = aggregateResults(rpc, bytes, headCalls.length + expected)
    const [number, timestamp, baseFee] = results.slice(0, blockCalls.length).map(({ data }) => quantityOf(data))
    if (number === undefined || timestamp === undefined) throw invalidAnswer(rpc, 'answered without the number and time of its block')
    if (rollup?.observe(results.slice(blockCalls.length, headCalls.length), number, block === 'latest') === false)
      throw invalidAnswer(rpc, 'has no GasPriceOracle, which tells the fees of a rollup')
    return { head: headOf(number, Number(timestamp), baseFee), results: results.slice(headCalls.length) }
  }

  /** In a call without a gas price geth sets BASEFEE to 0 (`core/vm/evm.go`, NoBaseFee). Then the block's own base fee counts, if it is known. */
  function headOf(number: bigint, timestamp: number, opcodeRaw: bigint | undefined): Head {
    const baseFeeRaw = opcodeRaw || fees.baseFeeRaw(number)
    return baseFeeRaw === undefined ? { number, timestamp } : { number, timestamp, baseFeeRaw }
  }

  async function call(request: { to?: string; from?: string; data: string }, at: At): Promise<CallResult> {
    const [answer] = await rpc.batch([{ method: 'eth_call', params: [{ ...request, ...gas }, 'latest'] }], at)
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
    isolated({ gasUnits, take }) {
      const own = options.rpc.isolated(take)
      return { reader: createReader(options, { rpc: own, gasUnits }), changes: options.changesBy(own), close: () => own.close() }
    },
  }
}

const maxCalls = 10
/** The limit of public nodes for one call, if they have any. */
const defaultBlocksPerCall = 10_000

/** Reads logs in one batch, from a block on, but from the newest 100,000 blocks only: older logs need an indexer. */
export async function findLogs(
  rpc: ReadRpc,
  { address, topics, fromBlock }: LogFilter,
  newest: bigint,
  at: At,
  blocksPerCall = defaultBlocksPerCall,
): Promise<readonly FoundLog[]> {
  const first = Math.max(fromBlock, 0, Number(newest) - blocksPerCall * maxCalls + 1)
  const starts: number[] = []
  for (let start = first; start <= Number(newest); start += blocksPerCall) starts.push(start)
  if (starts.length === 0) return []
  const answers = await rpc.batch(
    starts.map((start, index) => ({
      method: 'eth_getLogs',
      params: [
        {
          address,
          topics,
          fromBlock: toQuantity(start),
          // Includes blocks that came meanwhile.
          toBlock: index === starts.length - 1 ? 'latest' : toQuantity(start + blocksPerCall - 1),
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
