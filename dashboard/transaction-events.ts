// What an event of a transaction makes of a list of them: a busy bot makes many a second, and the server is not asked after each.
import type { RequestAt, ResponseAt } from './api.ts'
import type { Transaction } from './transaction-words.ts'

type Filter = RequestAt<'GET', '/transactions'>
type Listed = ResponseAt<'GET', '/transactions'>

/** A list grows by events until it is asked for again. */
const mostRows = 500

/** For lists that begin with the newest. Undefined where only the server knows whether the transaction is one that the filter has. */
export const takeIntoList =
  (filter: Filter) =>
  (listed: Listed, told: Transaction): Listed | undefined => {
    if (listed.transactions.some(({ id }) => id === told.id)) return changed(listed, filter, told)
    const [oldest, isFound] = [listed.transactions.at(-1), finds(filter, told)]
    if (isFound === false || (listed.nextCursor !== undefined && oldest && told.id < oldest.id)) return listed
    if (isFound === undefined) return undefined
    const rows = [...listed.transactions, told].toSorted((one, other) => (one.id < other.id ? 1 : -1))
    const kept = rows.slice(0, mostRows)
    return { ...listed, transactions: kept, ...(kept.length < rows.length && { nextCursor: kept.at(-1)?.id }) }
  }

function changed(listed: Listed, { state }: Filter, told: Transaction): Listed {
  const isGone = state !== undefined && told.txState !== state
  return { ...listed, transactions: listed.transactions.flatMap((each) => (each.id !== told.id ? each : isGone ? [] : told)) }
}

/** Undefined: only the server knows it. */
function finds(filter: Filter, { client, connector, kind, txState, requestId, attempts }: Transaction): boolean | undefined {
  const asked: readonly (readonly [string | undefined, string | undefined])[] = [
    [filter.client, client],
    [filter.connector, connector],
    [filter.kind, kind],
    [filter.state, txState],
    [filter.requestId, requestId],
  ]
  if (asked.some(([wanted, has]) => wanted !== undefined && wanted !== has)) return false
  const hash = filter.txHash?.toLowerCase()
  if (hash !== undefined && attempts.every(({ txHash }) => txHash.toLowerCase() !== hash)) return false
  // Tokens have several names, and moments several forms.
  return filter.pair === undefined && filter.since === undefined && filter.until === undefined ? true : undefined
}
