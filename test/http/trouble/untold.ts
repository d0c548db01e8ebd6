// Every transaction of a run, held hash by hash against what callers were told.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JournaledTransaction } from '../../../core/api/transactions.ts'
import type { Rpc } from '../../../core/devnet/anvil.ts'
import type { Client } from '../../../testkit/client.ts'
import { proxied } from './questions.ts'

/** A transaction in a block. */
export interface MinedTransaction {
  readonly hash: string
  readonly nonce: number
  readonly from: string
  readonly to: string | null
}

export interface TransactionsOfRun {
  /** What the journal has of the network, archived or not. */
  readonly journal: readonly JournaledTransaction[]
  /** What is in the blocks of the run. */
  readonly mined: readonly MinedTransaction[]
}

/** How long a transaction may take to its end. */
const finalMs = 120_000

/** When all that was journaled has ended. @param fromBlock the first of the run */
export async function readTransactions(client: Client, node: Rpc, fromBlock: number): Promise<TransactionsOfRun> {
  const until = Date.now() + finalMs
  let journal = await readJournal(client)
  while (journal.some(({ final }) => !final) && Date.now() < until) {
    await sleep(500)
    journal = await readJournal(client)
  }
  const mined: MinedTransaction[] = []
  const last = Number(await node('eth_blockNumber'))
  for (let number = fromBlock; number <= last; number += 1) {
    const block = Object(await node('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as {
      transactions: readonly (Omit<MinedTransaction, 'nonce'> & { nonce: string })[]
    }
    mined.push(...block.transactions.map(({ hash, nonce, from, to }) => ({ hash, nonce: Number(nonce), from, to })))
  }
  return { journal, mined }
}

async function readJournal(client: Client): Promise<readonly JournaledTransaction[]> {
  const found: JournaledTransaction[] = []
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const { body } = await client.get('/transactions', {
      ...proxied,
      archived: 'true',
      limit: '500',
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...body.transactions)
    cursor = body.nextCursor
  }
  return found
}

/**
 * A line for each transaction that no caller was told of. Told of is an entry one of whose attempts was shown, and what replaces it. A `fill` is none where the
 * journal says why its nonce was not signed for the request that had it.
 * @param told hashes that callers know
 */
export function untold({ journal, mined }: TransactionsOfRun, told: ReadonlySet<string>): readonly string[] {
  const known = new Set(journal.filter(({ attempts }) => attempts.some(({ txHash }) => told.has(txHash))))
  const hashesOf = ({ attempts }: JournaledTransaction) => attempts.map(({ txHash }) => txHash)
  const replacementOf = ({ replacedBy }: JournaledTransaction) =>
    journal.find((each) => replacedBy !== undefined && hashesOf(each).includes(replacedBy))
  // What is added is visited, too: a replacement may be replaced.
  for (const entry of known) {
    const replacement = replacementOf(entry)
    if (replacement) known.add(replacement)
  }
  const unsigned = journal.filter(({ txState, attempts, reason = '' }) => txState === 'EXPIRED' && attempts.length === 0 && reason !== '')
  const isExplained = ({ kind, nonce, address }: JournaledTransaction) =>
    kind === 'fill' && unsigned.some((each) => each.nonce === nonce && each.address === address)
  const ofJournal = journal.filter((entry) => entry.attempts.length > 0 && !known.has(entry) && !isExplained(entry))
  const open = journal.filter(({ final }) => !final)
  const journaled = new Set(journal.flatMap(hashesOf))
  return [
    ...ofJournal.map((entry) => `nobody was told of ${shown(entry)}`),
    ...open.map((entry) => `has not ended: ${shown(entry)}`),
    ...mined
      .filter(({ hash }) => !journaled.has(hash))
      .map(({ hash, from, nonce, to }) => `not in the journal: ${hash} of ${from} to ${to}, nonce ${nonce}`),
  ]
}

function shown({ txHash, kind, nonce, connector, requestId, txState, reason, attempts }: JournaledTransaction): string {
  const of = connector === undefined ? '' : ` of ${connector}`
  return `${txHash} (${kind}${of}, nonce ${nonce}, ${txState}, ${attempts.length} attempts, request ${requestId}${reason === undefined ? '' : `, ${reason}`})`
}
