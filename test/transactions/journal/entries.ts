import type { Store } from '../../../core/store/store.ts'
import type { DeliveryRow } from '../../../core/store/tables.ts'
import type { Attempt, Entry } from '../../../core/transactions/entry.ts'
import type { Lease, KeyClaim } from '../../../core/transactions/journal/journal.ts'

export const wallet = '0xAbCdEf0000000000000000000000000000000001'
export const queueOf = (address = wallet) => `ethereum/local/${address}`

let count = 0

/** A transaction that was just requested. Keys count up. */
export function newEntry(over: Partial<Entry> = {}): Entry {
  count += 1
  return {
    key: String(count).padStart(8, '0'),
    version: 1,
    chain: 'ethereum',
    network: 'local',
    address: wallet,
    kind: 'trade',
    connector: 'exchange',
    client: 'bot',
    requestId: `request-${count}`,
    createdAt: 1_700_000_000_000 + count,
    updatedAt: 1_700_000_000_000 + count,
    part: { index: 0, of: 1 },
    step: { to: wallet, data: '0x' },
    memo: null,
    about: { side: 'BUY' },
    sequence: count,
    nonce: count,
    sequenceGiven: false,
    feesGiven: false,
    rank: 0,
    state: 'QUEUED',
    attempts: [],
    deadLooks: 0,
    ...over,
  }
}

export function attempt(id: string, over: Partial<Attempt> = {}): Attempt {
  return { id, raw: Uint8Array.of(1, 2, 254, 255), fees: { maxFeePerGas: '100' }, signedAt: 1_700_000_000_000, sends: 0, ...over }
}

/** The next version. */
export const next = (entry: Entry, over: Partial<Entry>): Entry => ({
  ...entry,
  version: entry.version + 1,
  updatedAt: entry.updatedAt + 1,
  ...over,
})

export const signed = (entry: Entry, id = `0xhash${entry.key}`): Entry => next(entry, { state: 'SIGNED', attempts: [attempt(id)] })

/** Makes a server own a queue. */
export async function giveLease(store: Store, lease: Lease = { queue: queueOf(), fencingToken: 1 }): Promise<Lease> {
  const { queue, fencingToken: fence } = lease
  await store.write((tx) =>
    tx
      .insertInto('lanes')
      .values({ lane: queue, server: 'server', fence, wanted_by: null })
      .onConflict((conflict) => conflict.column('lane').doUpdateSet({ fence }))
      .execute(),
  )
  return lease
}

/** Makes a call own an Idempotency-Key. */
export async function giveKey(store: Store, key: string, claim = 1): Promise<KeyClaim> {
  await store.write((tx) =>
    tx
      .insertInto('requests')
      .values({
        client: 'bot',
        path: '/trade',
        key,
        fingerprint: '',
        claim,
        server: 'server',
        request_id: '',
        created_at: 0,
        tag: '',
        status: null,
        body: null,
      })
      .onConflict((conflict) => conflict.columns(['client', 'path', 'key']).doUpdateSet({ claim }))
      .execute(),
  )
  return { client: 'bot', path: '/trade', key, claim }
}

/** Of a request without an Idempotency-Key that is under way. */
export const newDeliveryRow = (id: string): DeliveryRow => ({
  id,
  interface: 'bots',
  client: 'bot',
  fingerprint: 'the same',
  server: 'here',
  state: 'open',
  asked_at: 0,
  lost_at: 0,
  stale_ms: 290_000,
  collect_ms: 120_000,
  joins: 0,
  losses: 0,
  prepared: '{}',
  answer_id: '',
})
