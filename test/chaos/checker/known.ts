import type { Call, History, Journaled, Mined, Request } from '../history.ts'
import { signedBytes, type Signed } from './signed-bytes.ts'

/** The history, by what the invariants ask for. */
export interface Known extends History {
  signed: readonly Signed[]
  callsOf(request: Request): readonly Call[]
  signedOf(request: Request): readonly Signed[]
  minedOf(request: Request): readonly Mined[]
  minedBy(txHash: string): Mined | undefined
  entryOf(txHash: string): Journaled | undefined
  /** Its nonce is used by another transaction, so it is never mined. */
  isDead(signed: Signed): boolean
}

export function knownOf(history: History): Known {
  const signed = signedBytes(history)
  const calls = groupBy(history.calls, ({ request }) => request)
  const signedByValue = groupBy(signed, ({ valueRaw }) => valueRaw)
  const minedByValue = groupBy(history.mined, ({ valueRaw }) => valueRaw)
  const mined = new Map(history.mined.map((each) => [each.txHash, each]))
  const entries = new Map(history.journal.flatMap((entry) => entry.attempts.map(({ txHash }) => [txHash, entry])))
  return {
    ...history,
    signed,
    callsOf: ({ id }) => calls.get(id) ?? [],
    signedOf: ({ valueRaw }) => (valueRaw === undefined ? [] : (signedByValue.get(valueRaw) ?? [])),
    minedOf: ({ valueRaw }) => (valueRaw === undefined ? [] : (minedByValue.get(valueRaw) ?? [])),
    minedBy: (txHash) => mined.get(txHash),
    entryOf: (txHash) => entries.get(txHash),
    isDead: ({ txHash, from, nonce }) => !mined.has(txHash) && nonce < (history.nextNonces.get(from) ?? 0),
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
