import { setTimeout } from 'node:timers/promises'
import { toQuantity } from 'ethers/utils'
import type { At, Chain, Head, Token } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type ReadRpc, type Rpc } from '../nodes/rpc.ts'
import { isBytes, quantityOf } from './encoding.ts'
import type { FeeOracle } from './fees.ts'
import {
  batchParts,
  isProbe,
  packBatch,
  multicallViews,
  noMulticall,
  packAggregate3,
  aggregateResults,
  unpackAggregate3,
} from './multicall.ts'
import type { EvmNetwork } from './network.ts'
import { findLogs } from './log-ranges.ts'
import { callResultOf, callVerdict } from './node-errors.ts'
import { revertData } from './reverts.ts'
import type { RollupFees } from './op-stack.ts'
import type { Call, CallResult, Evm, EvmReader, Probe } from './types.ts'

/** The second try is at one block, if the node has it. */
const maxTries = 3
/** Before each further try at one block that the node answered for another one: while it takes up a new block, it answers for that one. */
const pausesAtBlockMs = [0, 25, 100, 400, 1000]

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

/** Calls that are made by one `eth_call`, and where their results belong. */
interface Part {
  readonly items: readonly (Call | Probe)[]
  readonly indexes: readonly number[]
}

type Parts = readonly Part[]

const notAnswered: CallResult = { ok: false, data: '0x' }

/**
 * Probes revert, and leave nothing to what is behind them. A call does not: what it has touched costs those behind it less gas (EIP-2929). So probes
 * come first, as what they measure must not depend on what else is asked.
 */
function partsOf(calls: readonly (Call | Probe)[], headCalls: readonly Call[]): Parts {
  if (!calls.some(isProbe)) return [{ items: calls, indexes: [...calls.keys()] }]
  const ordered = [...calls.entries()].toSorted(([, one], [, other]) => Number(isProbe(other)) - Number(isProbe(one)))
  const lists = batchParts(
    ordered.map(([, call]) => call),
    headCalls,
  )
  let from = 0
  return lists.map((items) => ({ items, indexes: ordered.slice(from, (from += items.length)).map(([index]) => index) }))
}

const pieceOf = ({ items, indexes }: Part, start: number, end?: number): Part => ({
  items: items.slice(start, end),
  indexes: indexes.slice(start, end),
})

const ranOutOfGas = (answer: RpcAnswer | undefined) => answer?.error !== undefined && callVerdict(answer.error) === 'out-of-gas'

/** The parts, with those in two that are too large for the node, or use more gas than it gives to one call. Undefined where there are none that can be smaller. */
function halved(parts: Parts, answers: readonly RpcAnswer[]): Parts | undefined {
  const isTooLarge = ({ items }: Part, index: number) =>
    items.length > 1 && (answers[index]?.error?.fault?.is === 'too-large' || ranOutOfGas(answers[index]))
  if (!parts.some(isTooLarge)) return undefined
  return parts.flatMap((part, index) => {
    const half = Math.ceil(part.items.length / 2)
    return isTooLarge(part, index) ? [pieceOf(part, 0, half), pieceOf(part, half)] : [part]
  })
}

/** So many calls of one reading are made again, each alone. */
const maxAlone = 16

/**
 * A contract that uses up its gas leaves a 64th of it to the calls behind it, which then fail without a reason as well. So what failed like that beside
 * others is asked for by itself. Undefined where nothing did.
 */
function apart(parts: Parts, results: readonly CallResult[]): Parts | undefined {
  const isSilent = (index: number) => results[index]?.ok === false && results[index]?.data === '0x'
  const silent = new Set(parts.flatMap(({ indexes }) => (indexes.length > 1 ? indexes.filter(isSilent) : [])).slice(0, maxAlone))
  if (silent.size === 0) return undefined
  return parts.flatMap((part) => {
    const alone = part.items.flatMap((item, at) => {
      const index = part.indexes[at]
      return index !== undefined && silent.has(index) ? [{ items: [item], indexes: [index] }] : []
    })
    const others = part.items.filter((_, at) => !silent.has(part.indexes[at] ?? -1))
    if (alone.length === 0 || others.length === 0) return alone.length === 0 ? [part] : alone
    return [{ items: others, indexes: part.indexes.filter((index) => !silent.has(index)) }, ...alone]
  })
}

/** What a node answers that has trouble, or has not this block, is nothing; nor is anything kept with the node. */
const eachBy =
  (of: { readonly rpc: Rpc; readonly multicall: string; readonly headCalls: readonly Call[] }): NonNullable<EvmReader['readEach']> =>
  async (calls, block, at) => {
    const asked = { to: of.multicall, data: packAggregate3([...of.headCalls, ...calls]) }
    const { told } = await of.rpc.onEveryNode(async (ask) => {
      const [answer] = await ask([{ method: 'eth_call', params: [asked, block === undefined ? 'latest' : toQuantity(block)] }])
      return isBytes(answer?.result) ? unpackAggregate3(answer.result, of.headCalls.length + calls.length) : undefined
    }, at)
    return told.flatMap((results = []) => {
      const [number, timestamp] = results.slice(0, 2).map(({ data }) => quantityOf(data))
      if (number === undefined || timestamp === undefined || (block !== undefined && number !== block)) return []
      return [{ head: { number, timestamp: Number(timestamp) }, results: results.slice(of.headCalls.length) }]
    })
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
    const isAsked = ({ head }: Reading) => head.number === after.number && head.timestamp === after.timestamp
    let reading = await readAt(blockOf(after), calls, at)
    for (const pauseMs of pausesAtBlockMs) {
      if (isAsked(reading)) break
      await setTimeout(pauseMs)
      reading = await readAt(blockOf(after), calls, at)
    }
    if (isAsked(reading)) return { head: after, results: reading.results }
    const shown = ({ number, timestamp }: Head) => `block ${number} of ${timestamp}`
    throw invalidAnswer(rpc, `answered for ${shown(reading.head)} when it was asked for ${shown(after)}`)
  }

  async function readAt(block: BlockParameter, calls: readonly (Call | Probe)[], at: At): Promise<Reading> {
    return readParts(partsOf(calls, headCalls), block, at)
  }

  const request = ({ items }: Part): { to?: string; data: string } => {
    const plain = items.filter((call): call is Call => !isProbe(call))
    return plain.length < items.length
      ? { data: packBatch([...headCalls, ...items]) }
      : { to: multicall, data: packAggregate3([...headCalls, ...plain]) }
  }

  /**
   * Calls that do not fit into one piece of creation code go as several, in one HTTP request, and so do those that are too large for the node. If these
   * saw different blocks, they are sent again for the oldest of them. A call that fails without a reason beside others is made again by itself.
   */
  async function readParts(first: Parts, firstBlock: BlockParameter, at: At): Promise<Reading> {
    let [parts, block, isApart] = [first, firstBlock, false]
    for (let tries = 0; tries < maxTries;) {
      const asked = parts.map(request)
      const answers = await rpc.batch(
        asked.map((each, index) => ({
          method: 'eth_call',
          params: [{ ...each, ...gas }, block],
          size: each.data.length,
          smallest: (parts[index]?.items.length ?? 0) <= 1,
        })),
        at,
      )
      const smaller = halved(parts, answers)
      if (smaller) {
        parts = smaller
        continue
      }
      // A call that alone uses more gas than the node gives has failed, and has not said for which block.
      const ofAlone = (part: Part, index: number) => part.items.length === 1 && ranOutOfGas(answers[index])
      if (parts.every(ofAlone)) {
        parts = [...parts, { items: [], indexes: [] }]
        continue
      }
      tries += 1
      const readings = parts.map((part, index) =>
        ofAlone(part, index)
          ? { head: undefined, results: [notAnswered] }
          : readingOf(returned(answers[index], asked[index]?.to !== undefined), part.items.length, block),
      )
      const [oldest, ...others] = readings.flatMap(({ head }) => head ?? []).toSorted((a, b) => Number(a.number - b.number))
      if (!oldest) break
      if (others.some(({ number, timestamp }) => number !== oldest.number || timestamp !== oldest.timestamp)) {
        block = toQuantity(oldest.number)
        continue
      }
      const results: CallResult[] = []
      for (const [index, { indexes }] of parts.entries())
        for (const [at, place] of indexes.entries()) results[place] = readings[index]?.results[at] ?? notAnswered
      const alone = isApart ? undefined : apart(parts, results)
      if (!alone) return { head: oldest, results }
      ;[parts, isApart, tries] = [alone, true, 0]
    }
    throw invalidAnswer(rpc, 'answered the parts of one request for different blocks')
  }

  /** What creation code returned. If that is longer than a contract's code may be, the code reverts with it. */
  function returned(answer: RpcAnswer | undefined, isMulticall: boolean): unknown {
    if (isMulticall) {
      const bytes = resultOf(rpc, 'eth_call', answer)
      if (bytes === '0x') throw noMulticall(network, multicall)
      return bytes
    }
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

  async function call(asked: { to?: string; from?: string; data: string }, at: At): Promise<CallResult> {
    const [answer] = await rpc.batch([{ method: 'eth_call', params: [{ ...asked, ...gas }, 'latest'] }], at)
    return callResultOf(rpc, answer)
  }

  return {
    chainId,
    nativeCurrency,
    wrapped,
    intermediates,
    read,
    ...(!isolated && { readEach: eachBy({ rpc: options.rpc, multicall, headCalls }) }),
    call,
    logs: async (filter, at) => findLogs(rpc, filter, (await read([], at)).head.number, at),
    gasPriceRaw: (head) => fees.priceRaw(head),
    isolated({ gasUnits, take }) {
      const own = options.rpc.isolated(take)
      return { reader: createReader(options, { rpc: own, gasUnits }), changes: options.changesBy(own), close: () => own.close() }
    },
  }
}
