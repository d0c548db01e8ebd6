import type { JournaledTransaction } from '../../api/transactions.ts'
import type { JournalClient } from './journal-client.ts'
import { age } from './list.ts'
import { whatIsNext } from './states.ts'

/** More than a plan has steps. */
const mostOfOneRequest = 100

/** By the hash of any attempt, by the id of the request, or by its idempotency key. @throws Error where there is none */
export async function findTransactions(journal: JournalClient, given: string): Promise<JournaledTransaction[]> {
  const fields = isHash(given) ? ['txHash'] : ['requestId', 'idempotencyKey']
  for (const field of fields) {
    const { transactions } = await journal.list({ [field]: given }, mostOfOneRequest)
    if (transactions.length > 0) return transactions
  }
  const half = /^0x[0-9a-f]*$/i.test(given) && !isHash(given) ? ' A hash has 0x and 64 hexadecimal digits.' : ''
  throw new Error(
    `The journal has no transaction "${given}" that this certificate may see.${half} It takes a transaction's hash, a request's id or an Idempotency-Key; "sluice tx list" shows what there is.`,
  )
}

export const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/** Everything that is known of it, and what happens next. */
export function describe(transaction: JournaledTransaction, nowMs: number): string {
  const { txHash, txState, kind, connector, chain, network, address, nonce, txBlock, replacedBy, reason, attempts } = transaction
  const { requestId, idempotencyKey, createdAt, updatedAt, deadline } = transaction
  const lines: [string, string | undefined][] = [
    ['state', txState],
    ['next', whatIsNext(transaction)],
    ['what', `${kind}${connector === undefined ? '' : ` on ${connector}`}`],
    ['where', `${chain}/${network}`],
    ['wallet', address],
    ['nonce', String(nonce)],
    ['block', txBlock < 0 ? undefined : String(txBlock)],
    ['replaced by', replacedBy],
    ['reason', reason],
    ['request', requestId],
    ['key', idempotencyKey],
    ['made', at(createdAt, nowMs)],
    ['changed', at(updatedAt, nowMs)],
    ['deadline', deadline === undefined ? undefined : at(deadline * 1000, nowMs)],
    ...attempts.map((each, index): [string, string] => [
      index === 0 ? 'signed' : '',
      `${each.txHash}, ${at(each.signedAt, nowMs)}, ${sent(each.sends)}`,
    ]),
  ]
  const shown = lines.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(11)}  ${value}`]))
  return [txHash ?? 'not signed', ...shown].join('\n')
}

const sent = (times: number) => (times === 0 ? 'not sent yet' : times === 1 ? 'sent once' : `sent ${times} times`)

function at(ms: number, nowMs: number): string {
  const date = new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
  return `${date} UTC (${ms <= nowMs ? `${age(nowMs - ms)} ago` : `in ${age(ms - nowMs)}`})`
}
