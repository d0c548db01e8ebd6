// A transaction of the journal in a few words, and how it stands.
import type { ResponseAt } from './api.ts'

export type Transaction = ResponseAt<'GET', '/transactions'>['transactions'][number]

const fieldsOf = ({ request }: Transaction): Readonly<Record<string, unknown>> => Object(request?.fields)

/** The fields of requests that say what is asked for, in the order in which one says it. */
const telling = [
  'side',
  'amount',
  'base',
  'quote',
  'market',
  'price',
  'token',
  'spender',
  'to',
  'tokenId',
  'pool',
  'token0',
  'token1',
] as const

/** What was asked for: `SELL 0.01 WETH USDC`. */
export function wordsOf(transaction: Transaction): string {
  const fields = fieldsOf(transaction)
  const words = telling.flatMap((name) => {
    const value = fields[name]
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : []
  })
  return words.length > 0 ? words.join(' ') : transaction.kind
}

export const quoteTokenOf = (transaction: Transaction): string | undefined => {
  const { quote } = fieldsOf(transaction)
  return typeof quote === 'string' ? quote : undefined
}

/** Waits longer than a transaction usually does. */
export const stuckMs = 5 * 60_000

export const isStuck = ({ final, txState, createdAt }: Transaction, now: number): boolean =>
  !final && txState !== 'MINED' && now - createdAt > stuckMs

export function toneOf(transaction: Transaction, now: number): 'good' | 'bad' | 'warn' | 'calm' {
  const { txState } = transaction
  if (txState === 'CONFIRMED') return 'good'
  if (txState === 'REVERTED' || txState === 'DROPPED') return 'bad'
  return isStuck(transaction, now) ? 'warn' : 'calm'
}

/** What a link to it has, by which it is found again. */
export const linkOf = ({ id, requestId, createdAt }: Transaction) => ({ open: id, request: requestId, at: String(createdAt) })
