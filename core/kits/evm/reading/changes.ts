import { toQuantity } from 'ethers/utils'
import { SluiceError } from '../../../contracts/index.ts'
import type { At, Head, HeadChanges } from '../../../contracts/index.ts'
import { isObject, nodeLied, resultOf, type Rpc, type RpcAnswer } from '../../nodes/index.ts'
import { quantityOf } from '../quantity.ts'
import type { Evm, FoundLog } from '../types.ts'
import { accountCalls, accountNews, accountsOf } from '../wallets/accounts.ts'
import { askedOf, logFilters } from '../wallets/wallet-logs.ts'
import { readBlock } from './block.ts'
import { foundLog } from './logs.ts'

/** Which blocks, and what is asked of them: first topics of logs, and wallets (`walletFollow`). */
export interface Span {
  after: Head
  to: Head
  follow: readonly string[]
}

/**
 * Every block after one up to another, with its logs, each asked for by the hash of its block: a node that has another block of that
 * number, or not yet this one's logs, cannot answer with what is not meant. What comes between the two is read by number first, and
 * its hashes say whether it leads from the one to the other. What wallets have is read with them, after the last of the blocks: where a node
 * cannot tell, nothing is said of it.
 */
export async function readChanges(
  rpc: Rpc,
  network: string,
  { after, to, follow }: Span,
  at: At,
): Promise<readonly HeadChanges<Evm>[] | 'forked'> {
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
  if (heads[0]?.parentHash !== after.hash) return 'forked'
  const { topics, wallets } = askedOf(follow)
  const filters = logFilters(topics, wallets)
  const questions = heads.flatMap(({ hash }) =>
    filters.map((filter) => ({ method: 'eth_getLogs', params: [{ blockHash: hash, ...filter }] })),
  )
  if (questions.length === 0) return heads.map((head) => ({ head, changes: [] }))
  const answers = await rpc.batch([...questions, ...accountCalls(wallets, to)], at)
  const news = accountsOf(wallets, answers.slice(questions.length), to).flatMap((account, index) =>
    account ? [accountNews(wallets[index] ?? '', account)] : [],
  )
  return heads.map((head, index) => {
    const logs = logsOf(rpc, head, answers.slice(index * filters.length, (index + 1) * filters.length))
    return { head, changes: head === to ? [...logs, ...news] : logs }
  })
}

async function readBlocks(rpc: Rpc, first: bigint, count: bigint, at: At): Promise<readonly Head[]> {
  const numbers = Array.from({ length: Number(count) }, (_, index) => first + BigInt(index))
  const answers = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] })),
    at,
  )
  return numbers.map((number, index) => {
    const block = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', answers[index]))
    if (block.number !== number) throw nodeLied(rpc, 'answered with another block than the one that it was asked for')
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
  if (!Array.isArray(raw)) throw nodeLied(rpc, 'answered eth_getLogs with something else than logs')
  const logs: readonly unknown[] = raw
  const found = new Map<number, FoundLog>()
  const blockNumber = Number(number)
  let last = -1
  for (const each of logs) {
    const log = foundLog(each)
    const index = isObject(each) ? quantityOf(each['logIndex']) : undefined
    const ofBlock = isObject(each) && each['blockHash'] === hash && each['removed'] !== true
    if (!log || !ofBlock || log.blockNumber !== blockNumber || index === undefined || Number(index) <= last)
      throw nodeLied(rpc, 'answered eth_getLogs with something else than the logs of the block')
    last = Number(index)
    found.set(last, log)
  }
  return found
}
