import { SluiceError, type At, type Chain, type Head, type HeadChanges, type Interest } from '../../core/contracts/index.ts'
import { type RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { numberOf, quantityOf } from './encoding.ts'
import type { Evm, FoundLog } from './types.ts'
import { accountCalls, accountChange, accountsOf, parseInterest, logFilters } from './wallets.ts'
import { readBlock } from './rpc.ts'
import type { RecentBlocks } from './recent-blocks.ts'
import { parseLog } from './receipts.ts'
import { isObject } from '../../core/base/json.ts'

/** For how long contracts are named, after nodes refused a filter without addresses. Other nodes may answer then. */
const namedMs = 60_000
/** How many contracts one call names. Providers take a few thousand. */
const maxAddresses = 1_000

/**
 * The smallest answer that shows whether a node has a block: null if it does not.
 * https://github.com/ethereum/execution-apis/blob/main/src/eth/block.yaml
 */
const proofMethod = 'eth_getBlockTransactionCountByHash'

/** Asks for blocks by their numbers. */
type AskBlocks = RecentBlocks['read']

/**
 * Reads every block after one up to another, with its logs. Logs are asked for by the hash of their block, so that a node that has another
 * block of that number cannot answer. A node that does not have the block may answer that nothing was logged in it (besu#8007, reth#7371,
 * frontier#1069), so the same batch asks whether it has the block. The blocks in between are read by number first, and their hashes show
 * whether they link the two. Accounts are read with the last block; those that a node cannot tell are left out.
 *
 * Some nodes refuse to search the logs of all contracts, or to give as many as a block has. They are asked for those of named contracts.
 */
export function createChanges(rpc: ReadRpc, network: string, askBlocks: AskBlocks): NonNullable<Chain<Evm>['changes']> {
  let namedUntil = -Infinity
  return async (after, to, interest, at) => {
    const heads = await readHeads(rpc, network, after, to, at, askBlocks)
    if (heads === 'forked') return heads
    const from = performance.now() < namedUntil ? interest.from?.() : undefined
    const read = await readLogs(rpc, heads, interest, from, at)
    const named = read.isFailed && !from ? interest.from?.() : undefined
    if (!named) return read.changes()
    const changes = (await readLogs(rpc, heads, interest, named, at)).changes()
    // An error that nobody recognises may be over with the next block.
    if (read.isRefusal) namedUntil = performance.now() + namedMs
    return changes
  }
}

/** The blocks after one up to another. */
async function readHeads(
  rpc: ReadRpc,
  network: string,
  after: Head,
  to: Head,
  at: At,
  askBlocks: AskBlocks,
): Promise<readonly Head[] | 'forked'> {
  if (after.hash === undefined || to.hash === undefined || to.parentHash === undefined)
    throw new Error('Changes can only be read between heads that have hashes.')
  if (after.hash === to.hash) return []
  if (to.number <= after.number) return 'forked'
  const between = await readBlocks(rpc, after.number + 1n, to.number - after.number - 1n, at, askBlocks)
  const heads = [...between, to]
  for (const [index, head] of heads.entries()) {
    const before = heads[index - 1]
    if (before && head.parentHash !== before.hash)
      throw new SluiceError('NETWORK', `The nodes of ${network} switched to another fork while blocks were read. Try again.`, {
        retryAfterSeconds: 1,
      })
  }
  return heads[0]?.parentHash === after.hash ? heads : 'forked'
}

/**
 * @param from the only contracts whose logs are asked for
 * @throws SluiceError NETWORK if the node does not have all of the blocks
 */
async function readLogs(rpc: ReadRpc, heads: readonly Head[], { follow }: Interest, from: readonly string[] | undefined, at: At) {
  const { topics, wallets } = parseInterest(follow)
  const unnamed = logFilters(topics, wallets)
  const filters = from ? parts([...new Set(from)]).flatMap((address) => unnamed.map((filter) => ({ ...filter, address }))) : unnamed
  // Before the logs. The other way round, a node that gets the block meanwhile would say that it has it and that nothing was logged.
  const proofs = filters.length > 0 ? heads.map(({ hash }) => ({ method: proofMethod, params: [hash] })) : []
  const questions = heads.flatMap(({ hash }) =>
    filters.map((filter) => ({ method: 'eth_getLogs', params: [{ blockHash: hash, ...filter }] })),
  )
  const last = heads.slice(-1)
  const all = await rpc.batch([...proofs, ...questions, ...last.flatMap((head) => accountCalls(wallets, head))], at)
  for (const proof of all.slice(0, proofs.length))
    if (quantityOf(resultOf(rpc, proofMethod, proof)) === undefined)
      throw invalidAnswer(rpc, 'does not have a block whose logs it was asked for')
  const answers = all.slice(proofs.length)
  const faults = answers.slice(0, questions.length).flatMap(({ error }) => (error ? [error.fault] : []))
  const accounts = last.flatMap((head) =>
    accountsOf(wallets, answers.slice(questions.length), head).flatMap((account, index) =>
      account ? [accountChange(wallets[index] ?? '', account)] : [],
    ),
  )
  return {
    /** For whatever reason but a limit of calls: those of named contracts may be given. */
    isFailed: faults.some((fault) => fault?.is !== 'trouble' || fault.kind !== 'rate-limited'),
    /** The node says so of the question, so that it says so of the next one. */
    isRefusal: faults.some((fault) => fault?.is !== 'trouble'),
    /** @throws SluiceError NETWORK if logs were refused or are invalid */
    changes: (): readonly HeadChanges<Evm>[] =>
      heads.map((head, index) => {
        const logs = logsOf(rpc, head, answers.slice(index * filters.length, (index + 1) * filters.length))
        return { head, changes: index === heads.length - 1 ? [...logs, ...accounts] : logs, ...(from && { from }) }
      }),
  }
}

function parts(addresses: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(addresses.length / maxAddresses) }, (_, index) =>
    addresses.slice(index * maxAddresses, (index + 1) * maxAddresses),
  )
}

async function readBlocks(rpc: ReadRpc, first: bigint, count: bigint, at: At, askBlocks: AskBlocks): Promise<readonly Head[]> {
  const numbers = Array.from({ length: Number(count) }, (_, index) => first + BigInt(index))
  const answers = await askBlocks(numbers, at)
  return numbers.map((number, index) => {
    const block = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', answers[index]))
    if (block.number !== number) throw invalidAnswer(rpc, 'answered with another block than the one that it was asked for')
    return block
  })
}

/** The logs of all answers, in their order, each once. */
function logsOf(rpc: ReadRpc, head: Head, answers: readonly RpcAnswer[]): readonly FoundLog[] {
  const [one, ...others] = answers.map((answer) => logsByIndex(rpc, head, answer)).filter(({ size }) => size > 0)
  if (!one || others.length === 0) return [...(one?.values() ?? [])]
  const all = new Map([one, ...others].flatMap((found) => [...found]))
  return [...all].toSorted(([a], [b]) => a - b).map(([, log]) => log)
}

/** Logs by their index in the block. @throws SluiceError NETWORK if one is of another block or out of order: then none of them can be trusted */
function logsByIndex(rpc: ReadRpc, { hash, number }: Head, answer: RpcAnswer): ReadonlyMap<number, FoundLog> {
  const raw = resultOf(rpc, 'eth_getLogs', answer)
  if (!Array.isArray(raw)) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
  const logs: readonly unknown[] = raw
  const found = new Map<number, FoundLog>()
  const blockNumber = Number(number)
  let last = -1
  for (const each of logs) {
    const log = parseLog(each)
    const index = isObject(each) ? numberOf(each['logIndex']) : undefined
    const ofBlock = isObject(each) && each['blockHash'] === hash && each['removed'] !== true
    if (!log || !ofBlock || log.blockNumber !== blockNumber || index === undefined || index <= last)
      throw invalidAnswer(rpc, 'answered eth_getLogs with something else than the logs of the block')
    last = index
    found.set(last, log)
  }
  return found
}
