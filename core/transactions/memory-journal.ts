import { isFinal } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Filter, Journal, Page } from './journal.ts'

const defaultLimit = 100
const maxLimit = 500

/**
 * A journal that lasts as long as the process. Of the finished entries it keeps the newest.
 * @param keepFinished how many
 */
export function memoryJournal(keepFinished = 10_000): Journal {
  const entries = new Map<string, Entry>()
  const keyByHash = new Map<string, string>()
  const unfinished = new Map<string, Entry>()
  const finished: string[] = []

  function put(entry: Entry): void {
    entries.set(entry.key, entry)
    for (const { id } of entry.attempts) keyByHash.set(hashKey(entry, id), entry.key)
    if (!isFinal(entry)) return void unfinished.set(entry.key, entry)
    if (unfinished.delete(entry.key)) finished.push(entry.key)
    while (finished.length > keepFinished) forget(finished.shift())
  }

  function forget(key: string | undefined): void {
    const entry = key === undefined ? undefined : entries.get(key)
    if (!entry) return
    entries.delete(entry.key)
    for (const { id } of entry.attempts) keyByHash.delete(hashKey(entry, id))
  }

  return {
    async open(opened) {
      if (opened.some(({ key }) => entries.has(key))) throw new Error('The journal has an entry of that key already.')
      for (const entry of opened) put(entry)
    },
    async write(written) {
      if (written.some(({ key, version }) => entries.get(key)?.version !== version - 1)) return false
      for (const entry of written) put(entry)
      return true
    },
    async read(key) {
      return entries.get(key)
    },
    async find(chain, network, txHash) {
      return entries.get(keyByHash.get(hashKey({ chain, network }, txHash)) ?? '')
    },
    async unfinished(of) {
      return [...unfinished.values()].filter((entry) => matches(entry, of)).toSorted(byAge)
    },
    async openLanes() {
      return [...unfinished.values()].map(({ chain, network, address }) => ({ chain, network, address }))
    },
    eventsAfter: async () => [],
    lastEventId: async () => 0,
    async list(filter) {
      return page(
        [...entries.values()]
          .filter((entry) => matches(entry, filter))
          .toSorted(byAge)
          .toReversed(),
        filter,
      )
    },
  }
}

const hashKey = ({ chain, network }: Pick<Entry, 'chain' | 'network'>, txHash: string) => `${chain}/${network}/${txHash.toLowerCase()}`

const byAge = (a: Entry, b: Entry) => (a.key < b.key ? -1 : 1)

function page(newestFirst: readonly Entry[], { limit = defaultLimit, cursor }: Filter): Page {
  const after = cursor === undefined ? newestFirst : newestFirst.filter(({ key }) => key < cursor)
  const entries = after.slice(0, Math.min(limit, maxLimit))
  return after.length > entries.length ? { entries, nextCursor: entries.at(-1)?.key } : { entries }
}

function matches(entry: Entry, { chain, network, address, addresses, state, txHash, idempotencyKey, nonce }: Filter): boolean {
  return (
    (chain === undefined || entry.chain === chain) &&
    (network === undefined || entry.network === network) &&
    (address === undefined || entry.address.toLowerCase() === address.toLowerCase()) &&
    (addresses === undefined || addresses.has(entry.address.toLowerCase())) &&
    (state === undefined || entry.state === state) &&
    (txHash === undefined || entry.attempts.some(({ id }) => id.toLowerCase() === txHash.toLowerCase())) &&
    (idempotencyKey === undefined || entry.idempotencyKey === idempotencyKey) &&
    (nonce === undefined || entry.nonce === nonce)
  )
}
