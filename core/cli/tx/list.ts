import { closest } from 'fastest-levenshtein'
import type { JournaledTransaction } from '../../api/transactions.ts'
import type { JournalClient, TransactionFilter } from './journal-client.ts'
import { openStates, stateNames } from './states.ts'
import { table } from '../output.ts'

export interface ListOptions {
  state?: string
  address?: string
  chain?: string
  network?: string
  open?: true
  limit: string
}

export interface Listed {
  transactions: JournaledTransaction[]
  isMore: boolean
}

/** Newest first. @throws Error that says which option is wrong and how */
export async function listTransactions(journal: JournalClient, options: ListOptions): Promise<Listed> {
  const atMost = readLimit(options.limit)
  const { chain, network, address } = options
  const filter: TransactionFilter = {
    ...(chain !== undefined && { chain }),
    ...(network !== undefined && { network }),
    ...(address !== undefined && { address }),
  }
  if (options.state === undefined && !options.open) return journal.list(filter, atMost)
  if (options.state !== undefined && options.open) throw new Error('Give --state or --open, not both.')
  if (options.state !== undefined) return journal.list({ ...filter, state: readState(options.state) }, atMost)

  // In the order in which transactions go through them, so that one that moves on meanwhile is not missed; it may be met twice.
  const found = new Map<string, JournaledTransaction>()
  let isMore = false
  for (const state of openStates) {
    const page = await journal.list({ ...filter, state }, atMost)
    for (const each of page.transactions) found.set(identityOf(each), each)
    isMore ||= page.isMore
  }
  const transactions = [...found.values()].toSorted((a, b) => b.createdAt - a.createdAt)
  return { transactions: transactions.slice(0, atMost), isMore: isMore || transactions.length > atMost }
}

const identityOf = ({ chain, network, address, nonce, requestId, createdAt }: JournaledTransaction) =>
  [chain, network, address, nonce, requestId, createdAt].join(' ')

function readLimit(given: string): number {
  const limit = Number(given)
  if (/^\d{1,6}$/.test(given) && limit > 0) return limit
  throw new Error(`--limit is "${given}", and takes a whole number from 1 to 999999.`)
}

function readState(given: string): string {
  const state = given.toUpperCase()
  if (stateNames.includes(state)) return state
  throw new Error(`There is no state "${given}"; did you mean ${closest(state, [...stateNames])}? There are: ${stateNames.join(', ')}.`)
}

/** A line for each, with the hash in full: it is what the other commands take. */
export function transactionTable(transactions: readonly JournaledTransaction[], nowMs: number): string {
  const rows = transactions.map(({ createdAt, txState, kind, connector, chain, network, address, nonce, txHash, reason, replacedBy }) => ({
    cells: [
      age(nowMs - createdAt),
      txState,
      connector === undefined ? kind : `${kind} (${connector})`,
      `${chain}/${network}`,
      short(address),
      String(nonce),
      txHash ?? 'not signed',
    ],
    below: [...(replacedBy === undefined ? [] : [`replaced by ${replacedBy}`]), ...(reason === undefined ? [] : [reason])],
  }))
  const all = [{ cells: ['AGE', 'STATE', 'WHAT', 'WHERE', 'WALLET', 'NONCE', 'TRANSACTION'], below: [] }, ...rows]
  return table(all)
}

const short = (address: string) => (address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`)

/** "3 min", "2 d". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}
