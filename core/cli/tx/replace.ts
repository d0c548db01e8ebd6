import type { JournaledTransaction } from '../../api/transactions.ts'
import { ask, hasTerminal } from '../../wallet/keystore/prompt.ts'
import type { JournalClient } from './journal-client.ts'
import { findTransactions } from './show.ts'
import { isOpen, whatIsNext } from './states.ts'

export interface ReplaceOptions {
  maxFee?: string
  tip?: string
  yes?: true
}

interface Way {
  path: string
  verb: string
  /** What it does, for who is asked. */
  means: string
  done(txHash: string): string
}

export const cancelling: Way = {
  path: '/evm/cancel',
  verb: 'Cancel',
  means: 'A transfer of nothing to oneself takes its nonce, at higher fees; until that is mined, the transaction may still be.',
  done: (txHash) => `${txHash} is to take its place; "sluice tx show ${txHash}" says what came of it.`,
}

export const speedingUp: Way = {
  path: '/evm/speedUp',
  verb: 'Speed up',
  means: 'The same is signed again on its nonce, at higher fees: one of the two is mined.',
  done: (txHash) => `Signed again as ${txHash}, at higher fees; "sluice tx show ${txHash}" says what came of it.`,
}

/** Asks the server to put something else on the nonce of a transaction. @throws Error where nothing is to be done, or the server refuses */
export async function replace(
  journal: JournalClient,
  given: string,
  { path, verb, means, done }: Way,
  { maxFee, tip, yes }: ReplaceOptions,
): Promise<{ txHash: string; nonce: number; said: string }> {
  const transaction = await theOpenOne(journal, given)
  const { chain, network, address, nonce, kind, txHash, txState } = transaction
  const name = `${kind} ${txHash ?? ''} (nonce ${nonce} of ${address} on ${chain}/${network}, ${txState})`
  if (!yes) {
    if (!hasTerminal()) throw new Error(`There is no terminal to ask at; say --yes to do it: ${verb.toLowerCase()} ${name}.`)
    const answer = await ask(`${verb} the ${name}? ${means} Type yes to go on: `)
    if (answer.trim().toLowerCase() !== 'yes') throw new Error('Nothing was done.')
  }
  const fees = { ...(maxFee !== undefined && { maxFeePerGas: maxFee }), ...(tip !== undefined && { maxPriorityFeePerGas: tip }) }
  const answer = await journal.act(path, { chain, network, address, nonce, ...fees })
  return { ...answer, said: done(answer.txHash) }
}

async function theOpenOne(journal: JournalClient, given: string): Promise<JournaledTransaction> {
  const found = await findTransactions(journal, given)
  const [open, ...others] = found.filter(isOpen)
  const [first] = found
  if (!open) throw new Error(`It is ${first?.txState}. ${first ? whatIsNext(first) : ''}`)
  if (others.length > 0)
    throw new Error(
      `Several are open of that: say which by its hash. ${[open, ...others].map(({ txHash }) => txHash ?? 'not signed yet').join(', ')}`,
    )
  if (open.txState === 'QUEUED') throw new Error('It is not signed yet, and nothing has left: ask again in a moment.')
  if (open.txState === 'MINED') throw new Error(`It is mined already. ${whatIsNext(open)}`)
  if (open.replacedBy !== undefined) throw new Error(`${open.replacedBy} is to take its place already: name that one.`)
  return open
}
