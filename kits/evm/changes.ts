import { toQuantity } from 'ethers/utils'
import { SluiceError, type At, type Chain, type Head, type HeadChanges, type Interest } from '../../core/contracts/index.ts'
import { isObject, type Rpc, type RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { numberOf, quantityOf } from './encoding.ts'
import type { Evm, FoundLog } from './types.ts'
import { accountCalls, accountChange, accountsOf, parseInterest, logFilters } from './wallets.ts'
import { readBlock } from './rpc.ts'
import { parseLog } from './reader.ts'

/** So long nodes that tell of nobody who is not named are not asked what anybody says: others may answer by then. */
const namingMs = 60_000
/** So many contracts are named in one call. Providers take a few thousand. */
const mostNamed = 1_000

/**
 * The smallest answer from which one sees that a node has a block: null where it has not.
 * https://github.com/ethereum/execution-apis/blob/main/src/eth/block.yaml
 */
const proofMethod = 'eth_getBlockTransactionCountByHash'

/**
 * Every block after one up to another, with its logs, each asked for by the hash of its block: a node that has another block of that
 * number cannot answer with what is not meant. One that has no such block may say that nothing was logged in it (besu#8007, reth#7371,
 * frontier#1069), so it is asked in the same batch whether it has it. What comes between the two is read by number first, and its hashes
 * say whether it leads from the one to the other. What wallets have is read with them, after the last of the blocks: where a node cannot
 * tell, nothing is said of it.
 *
 * Some nodes refuse to look for the logs of whichever contract, or to give as many as a block has of them: they are asked for those of
 * contracts by name.
 */
export function createChanges(rpc: Rpc, network: string): NonNullable<Chain<Evm>['changes']> {
  let namingUntil = -Infinity
  return async (after, to, interest, at) => {
    const heads = await readHeads(rpc, network, after, to, at)
    if (heads === 'forked') return heads
    const from = performance.now() < namingUntil ? interest.from?.() : undefined
    const told = await readLogs(rpc, heads, interest, from, at)
    const named = told.isRefused && !from ? interest.from?.() : undefined
    if (!named) return told.changes()
    const changes = (await readLogs(rpc, heads, interest, named, at)).changes()
    namingUntil = performance.now() + namingMs
    return changes
  }
}

/** The blocks after one up to another. */
async function readHeads(rpc: Rpc, network: string, after: Head, to: Head, at: At): Promise<readonly Head[] | 'forked'> {
  if (after.hash === undefined || to.hash === undefined || to.parentHash === undefined)
    throw new Error('What changed is asked for between heads that have hashes.')
  if (after.hash === to.hash) return []
  if (to.number <= after.number) return 'forked'
  const between = await readBlocks(rpc, after.number + 1n, to.number - after.number - 1n, at)
  const heads = [...between, to]
  for (const [index, head] of heads.entries()) {
    const before = heads[index - 1]
    if (before && head.parentHash !== before.hash)
      throw new SluiceError('NETWORK', `The nodes of ${network} went over to another fork while it was read. Try again.`, {
        retryAfterSeconds: 1,
      })
  }
  return heads[0]?.parentHash === after.hash ? heads : 'forked'
}

/**
 * @param from the only contracts whose logs are asked for
 * @throws SluiceError NETWORK where the node has not all of the blocks
 */
async function readLogs(rpc: Rpc, heads: readonly Head[], { follow }: Interest, from: readonly string[] | undefined, at: At) {
  const { topics, wallets } = parseInterest(follow)
  const asked = logFilters(topics, wallets)
  const filters = from ? parts([...new Set(from)]).flatMap((address) => asked.map((filter) => ({ ...filter, address }))) : asked
  // Before the logs: of a block that comes meanwhile a node would say first that nothing was logged in it, and then that it has it.
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
  const news = last.flatMap((head) =>
    accountsOf(wallets, answers.slice(questions.length), head).flatMap((account, index) =>
      account ? [accountChange(wallets[index] ?? '', account)] : [],
    ),
  )
  return {
    isRefused: answers.slice(0, questions.length).some(({ error }) => error),
    /** @throws SluiceError NETWORK where logs were refused, or are not what they should be */
    changes: (): readonly HeadChanges<Evm>[] =>
      heads.map((head, index) => {
        const logs = logsOf(rpc, head, answers.slice(index * filters.length, (index + 1) * filters.length))
        return { head, changes: index === heads.length - 1 ? [...logs, ...news] : logs, ...(from && { from }) }
      }),
  }
}

function parts(named: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(named.length / mostNamed) }, (_, index) => named.slice(index * mostNamed, (index + 1) * mostNamed))
}

async function readBlocks(rpc: Rpc, first: bigint, count: bigint, at: At): Promise<readonly Head[]> {
  const numbers = Array.from({ length: Number(count) }, (_, index) => first + BigInt(index))
  const answers = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] })),
    at,
  )
  return numbers.map((number, index) => {
    const block = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', answers[index]))
    if (block.number !== number) throw invalidAnswer(rpc, 'answered with another block than the one that it was asked for')
    return block
  })
}

/** Of all answers together, in their order, each once. */
function logsOf(rpc: Rpc, head: Head, answers: readonly RpcAnswer[]): readonly FoundLog[] {
  const [one, ...others] = answers.map((answer) => placedLogs(rpc, head, answer)).filter(({ size }) => size > 0)
  if (!one || others.length === 0) return [...(one?.values() ?? [])]
  const all = new Map([one, ...others].flatMap((found) => [...found]))
  return [...all].toSorted(([a], [b]) => a - b).map(([, log]) => log)
}

/** By their places in the block. A node that gives those of another block, or out of order, is not believed the others either. */
function placedLogs(rpc: Rpc, { hash, number }: Head, answer: RpcAnswer): ReadonlyMap<number, FoundLog> {
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
