import type { Call, History, JournalEntry, MinedTransaction, Request } from '../history.ts'
import type { SignedTransaction } from './signed-bytes.ts'

/** The history, by what the invariants ask for. */
export interface IndexedHistory extends History {
  callsOf(request: Request): readonly Call[]
  /** By the amount that no other request has, or, of a request without one, by the journal's entries of it. */
  signedOf(request: Request): readonly SignedTransaction[]
  minedOf(request: Request): readonly MinedTransaction[]
  minedBy(txHash: string): MinedTransaction | undefined
  entryOf(txHash: string): JournalEntry | undefined
  /** Which one it is for: by the amount that it shows, else by what the journal says, its key or the id of one of its calls. */
  requestOf(entry: JournalEntry): Request | undefined
  /** It never comes into a block. */
  isDead(signed: SignedTransaction): boolean
}

export function knownOf(history: History): IndexedHistory {
  const { signed } = history
  const calls = groupBy(history.calls, ({ request }) => request)
  const signedByValue = groupBy(signed, ({ valueRaw }) => valueRaw)
  const minedByValue = groupBy(history.mined, ({ valueRaw }) => valueRaw)
  const mined = new Map(history.mined.map((each) => [each.txHash, each]))
  const entries = new Map(history.journal.flatMap((entry) => entry.attempts.map(({ txHash }) => [txHash, entry])))
  const byKey = new Map(history.requests.flatMap((request) => (request.key === undefined ? [] : [[request.key, request]])))
  const byId = new Map(history.requests.map((request) => [request.id, request]))
  const byCall = new Map(history.calls.map(({ requestId, request }) => [requestId, byId.get(request)]))
  const signedByHash = new Map(signed.map((each) => [each.txHash, each]))
  const byAmount = new Map(history.requests.flatMap((request) => (request.valueRaw === undefined ? [] : [[request.valueRaw, request]])))
  const requestOf = ({ idempotencyKey, requestId, attempts: [first] }: JournalEntry) =>
    byAmount.get(signedByHash.get(first?.txHash ?? '')?.valueRaw ?? 0n) ?? byCall.get(requestId) ?? byKey.get(idempotencyKey ?? '')
  const entriesByRequest = groupBy(history.journal, requestOf)
  const ofRequest =
    <T>(byValue: Map<bigint, T[]>, byHash: Map<string, T>) =>
    (request: Request): readonly T[] => {
      if (request.valueRaw !== undefined) return byValue.get(request.valueRaw) ?? []
      const attempts = (entriesByRequest.get(request) ?? []).flatMap((entry) => entry.attempts)
      return attempts.flatMap(({ txHash }) => byHash.get(txHash) ?? [])
    }
  return {
    ...history,
    callsOf: ({ id }) => calls.get(id) ?? [],
    requestOf,
    signedOf: ofRequest(signedByValue, signedByHash),
    minedOf: ofRequest(minedByValue, mined),
    minedBy: (txHash) => mined.get(txHash),
    entryOf: (txHash) => entries.get(txHash),
    isDead: ({ txHash }) => !mined.has(txHash) && !history.live.has(txHash),
  }
}

export function groupBy<T, K>(list: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const each of list) {
    const key = keyOf(each)
    const group = groups.get(key)
    if (group) group.push(each)
    else groups.set(key, [each])
  }
  return groups
}
