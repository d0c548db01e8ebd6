import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNotifier } from '../../core/base/async.ts'
import { createTransactionChanges, type TransactionChanges, type TransactionFilter } from '../../core/events/transactions.ts'
import { frame, eventStream, createStreams } from '../../core/events/stream.ts'
import { createLatestUpdates } from '../../core/events/topic.ts'
import { openStore } from '../../core/store/open-store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import type { Caller } from '../../core/handlers/context.ts'
import { onBothStores } from '../store/stores.ts'
import { giveLease, queueOf, newEntry, signed, wallet } from '../transactions/journal/entries.ts'

const other = '0xabcdef0000000000000000000000000000000002'
const log = { warn: () => {} }
const caller: Caller = { id: 'bot', fingerprint: 'f', permissions: new Set(['read']), wallets: 'all' }

function changesOf(journal: Journal): TransactionChanges & { written(): void } {
  const listeners = new Set<() => void>()
  const events = {
    after: journal.eventsAfter.bind(journal),
    lastId: () => journal.lastEventId(),
    onWrite(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const changes = createTransactionChanges(
    events,
    ({ id, entry }) => frame('transactions', String(id), { state: entry.state, why: entry.reason }),
    log,
  )
  return Object.assign(changes, { written: () => listeners.forEach((each) => each()) })
}

/** Two events each. */
async function write(journal: Journal, address: string, over: Partial<Entry> = {}): Promise<void> {
  const guard = { queue: queueOf(address), fencingToken: 1 }
  const entry = newEntry({ address, ...over })
  await journal.open([entry], guard)
  await journal.write([signed(entry)], guard)
}

const idsIn = (text: string): number[] => [...text.matchAll(/^event: transactions\nid: (\d+)$/gm)].map(([, id]) => Number(id))

async function idsUntil(response: IncomingMessage, last: number): Promise<number[]> {
  const ids: number[] = []
  for await (const line of createInterface({ input: response })) {
    if (line.startsWith('id: ') && line !== 'id: 0') ids.push(Number(line.slice(4)))
    if (ids.at(-1) === last) break
  }
  response.on('error', () => {}).destroy()
  return ids
}

describe('streams of transaction changes', () => {
  onBothStores((place) => {
    let journal: Journal
    /** Another server's, where there can be one. */
    let others: Journal

    beforeEach(async () => {
      const store = await place().open()
      journal = sqlJournal(store)
      others = place().kind === 'postgres' ? sqlJournal(await place().open()) : journal
      for (const address of [wallet, other]) await giveLease(store, { queue: queueOf(address), fencingToken: 1 })
    })

    /** Follows from an id until the end, coming back after every few events as a client that is cut off, at a speed of its own. */
    async function followed(
      changes: TransactionChanges,
      from: number,
      wanted: TransactionFilter,
      end: () => number | undefined,
    ): Promise<number[]> {
      const ids: number[] = []
      const isOver = () => (ids.at(-1) ?? -1) >= (end() ?? Infinity)
      while (!isOver()) {
        const notifier = createNotifier()
        const over = new AbortController()
        const leave = await changes.follow(notifier.notify)
        const wake = setInterval(() => {
          if (isOver()) over.abort()
          notifier.notify()
        }, 20)
        const most = 1 + Math.floor(Math.random() * 40)
        let told = 0
        const stream = eventStream({
          from: { change: ids.at(-1) ?? from, others: 0 },
          about: {},
          transactions: { changes, filter: wanted },
          latest: createLatestUpdates(notifier.notify),
          notifier,
          signal: over.signal,
          onError: (error) => {
            throw error
          },
        })
        for await (const text of stream) {
          ids.push(...idsIn(text))
          told += 1
          if (told > most || isOver()) break
          await sleep(Math.random() * 5)
        }
        clearInterval(wake)
        leave()
      }
      return ids
    }

    it('get every change that passes their filter, once and in order, while several servers write', async () => {
      const changes = changesOf(journal)
      // More than is read at once.
      const before = Array.from({ length: 600 }, () => newEntry({ address: wallet }))
      await journal.open(before, { queue: queueOf(wallet), fencingToken: 1 })
      await write(journal, wallet)
      const start = await journal.lastEventId()
      let last: number | undefined
      const wishes: TransactionFilter[] = [{}, { addresses: new Set([wallet.toLowerCase()]) }, { chain: 'ethereum', network: 'local' }, {}]
      const following = wishes.map((wanted) => followed(changes, start, wanted, () => last))
      const fromTheFirst = followed(changes, 0, {}, () => last)

      const writeMany = async (through: Journal, address: string) => {
        for (let i = 0; i < 60; i++) {
          await write(through, address)
          changes.written()
          if (i % 10 === 0) await sleep(Math.random() * 30)
        }
      }
      await Promise.all([writeMany(journal, wallet), writeMany(others, other), writeMany(journal, other), writeMany(others, wallet)])
      await write(journal, wallet)
      last = await journal.lastEventId()
      changes.written()

      const expected = async (id: number, wanted: TransactionFilter) => {
        const { addresses } = wanted
        return (await journal.eventsAfter(id, { addresses, limit: 10_000 })).map((event) => event.id)
      }
      for (const [index, ids] of (await Promise.all(following)).entries())
        expect(ids, `follower ${index}`).to.deep.equal(await expected(start, wishes[index] ?? {}))
      expect(await fromTheFirst).to.deep.equal(await expected(0, {}))
      expect(await expected(0, {})).to.have.length(before.length + 2 * 242)
    })

    it('get the changes of another server without a notification from it', async () => {
      const changes = changesOf(journal)
      const start = await journal.lastEventId()
      let last: number | undefined
      const following = followed(changes, start, {}, () => last)
      await write(others, wallet)
      last = await journal.lastEventId()
      expect(await following).to.have.length(2)
    })
  })

  it('use no memory for a client that reads nothing, and delay no other', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-backlog-'))
    const store = await openStore({ dataDir, serverName: 'test', log: { ...log, info: () => {} } })
    const journal = sqlJournal(store)
    await giveLease(store)
    // More than a connection holds by itself.
    const events = 300
    for (let i = 0; i < events / 2; i++) await write(journal, wallet, { reason: 'x'.repeat(100_000) })
    const changes = changesOf(journal)
    const streams = createStreams(log, { streams: 2, clientStreams: 2 })
    const responses: ServerResponse[] = []
    const server = createServer((_request, response) => {
      responses.push(response)
      const stream = streams.open(caller)
      const { notifier, signal } = stream
      void changes.follow(notifier.notify).then((leave) => {
        stream.onEnd(leave)
        const from = { change: 0, others: 0 }
        const transactions = { changes, filter: {} }
        stream.send(
          eventStream({ from, about: {}, transactions, latest: createLatestUpdates(notifier.notify), notifier, signal, onError: () => {} }),
          response,
        )
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const ask = () => new Promise<IncomingMessage>((resolve) => get({ port, host: '127.0.0.1', agent: false }, resolve))
    try {
      const silent = await ask()
      silent.pause()
      const read = await idsUntil(await ask(), events)
      expect(read).to.have.length(events)
      expect(responses[0]?.writableLength).to.be.below(1_000_000)
      // What it has not taken is there as soon as it reads on.
      expect(await idsUntil(silent, events)).to.deep.equal(read)
    } finally {
      streams.end()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await store.close()
      await rm(dataDir, { recursive: true })
    }
  })
})
