// A journal of as many trades as one likes: each is a real trade of two hops (test/fixtures/two-hop-trade.json), as a server journaled it on the
// devnet, with hashes, wallets, nonces, amounts and times of its own.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hashBytes, pack } from '../../../core/store/compact.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { entryRow, hashRows } from '../../../core/transactions/journal/entry-rows.ts'
import { eventRow } from '../../../core/transactions/journal/entry-events.ts'
import { createIdempotency } from '../../../core/transactions/idempotency.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { gainsIn } from '../../../kits/evm/movements.ts'
import { paidFees } from '../../../kits/evm/receipts.ts'
import { costOf } from '../../../core/transactions/costs.ts'
import { giveLease } from './entries.ts'

const fixture = readFileSync(new URL('../../fixtures/two-hop-trade.json', import.meta.url), 'utf8')
const sample = JSON.parse(fixture)
const path = '/amm/trade'
const zeroAddress = `0x${'00'.repeat(20)}`
const networks = ['mainnet', 'arbitrum', 'base', 'polygon'] as const

/** The trade's text; every second part names what is different in each trade: hashes, the wallet, or so many digits (x) or decimals (d). */
const parts = fixture
  .replaceAll(sample.entry.attempts[0].id.slice(2), '<hash>')
  .replaceAll(sample.entry.landed.blockHash.slice(2), '<block>')
  .replaceAll(new RegExp(sample.entry.address.slice(2), 'gi'), '<wallet>')
  // The last words of the signed bytes are the signature.
  .replace(/[0-9a-f]{128}"/, '<x128>"')
  // Amounts, prices and ticks: of each word of data what is neither leading zeros nor leading ones.
  .replaceAll(/(?<=[0-9a-f]{24})(0{8,}|f{8,})([0-9a-f]{4,16})(?=[0"f])/g, (_all, lead: string, { length }: string) => `${lead}<x${length}>`)
  .replaceAll(/"([0-9])([0-9]{5,})"/g, (_all, first: string, { length }: string) => `"${first}<d${length}>"`)
  .split(/[<>]/)

/** One trade from its request to its end. */
export interface GrownTrade {
  /** QUEUED, SIGNED, BROADCAST, MINED and CONFIRMED. */
  versions: readonly Entry[]
  queue: string
  answer: string
}

/** The same for the same number, but for ids that callers choose. */
export function grownTrade(index: number, wallets = 100): GrownTrade {
  const random = randomDigits(index)
  const wallet = `0x${randomDigits(-1 - (index % wallets))(40)}`
  const network = networks[(index % wallets) % networks.length] ?? 'mainnet'
  const [hash, blockHash] = [random(64), random(64)]
  const text = parts
    .map((part, each) => {
      if (each % 2 === 0) return part
      if (part === 'hash') return hash
      if (part === 'block') return blockHash
      if (part === 'wallet') return wallet.slice(2)
      return part.startsWith('d') ? decimal(random(Number(part.slice(1)))) : random(Number(part.slice(1)))
    })
    .join('')
  const { entry, answer } = JSON.parse(text)
  const createdAt = createdAtOf(index)
  const shift = createdAt - sample.entry.createdAt
  const { attempts, seen: _seen, landed, ...rest } = entry
  const nonce = Math.floor(index / wallets)
  const queued: Entry = {
    ...rest,
    key: keyOf(index, random(8)),
    version: 1,
    network,
    requestId: randomUUID(),
    idempotencyKey: randomUUID(),
    createdAt,
    updatedAt: createdAt,
    deadline: sample.entry.deadline + Math.floor(shift / 1000),
    nonce,
    sequence: nonce,
    state: 'QUEUED',
    attempts: [],
  }
  const [{ sentAt, ...attempt }] = attempts.map((each: { raw: string; signedAt: number; sentAt: number }) => ({
    ...each,
    raw: new Uint8Array(Buffer.from(each.raw, 'hex')),
    signedAt: each.signedAt + shift,
    sentAt: each.sentAt + shift,
  }))
  const blockNumber = 20_000_000 + Math.floor(index / 5)
  const after = (entryBefore: Entry, over: Partial<Entry>, ms: number): Entry => ({
    ...entryBefore,
    version: entryBefore.version + 1,
    updatedAt: entryBefore.updatedAt + ms,
    ...over,
  })
  const signed = after(queued, { state: 'SIGNED', attempts: [{ ...attempt, sends: 0 }] }, 7)
  const sent = after(signed, { state: 'BROADCAST', attempts: [{ ...attempt, sends: 1, sentAt }] }, 8)
  const receipt = { ...landed.receipt, blockNumber, blockTimestamp: Math.floor(createdAt / 1000) }
  const cost = costOf(receipt, { paidFees: (each) => paidFees(each, false) })
  const mined = after(sent, { state: 'MINED', seen: 'pays', landed: { ...landed, blockNumber, receipt, ...(cost && { cost }) } }, 12_000)
  const moved = gainsIn(receipt, wallet, { coin: zeroAddress, wrapped: zeroAddress })
  const movements = Object.fromEntries([...moved].map(([token, raw]) => [token, raw.toString()]))
  const final = after(mined, { state: 'CONFIRMED', movements }, 24_000)
  return {
    versions: [queued, signed, sent, mined, final],
    queue: `ethereum/${network}/${wallet}`,
    answer: JSON.stringify({ ...answer, network, nonce, timestamp: signed.updatedAt, deadline: queued.deadline }),
  }
}

/** Journals trades as the server does: with their Idempotency-Keys, one write after the other. */
export async function journalTrades(store: Store, count: number, { from = 0, wallets = 100 } = {}): Promise<void> {
  const journal = sqlJournal(store)
  const idempotency = createIdempotency({ store, serverId: randomUUID(), log: { info: () => {}, warn: () => {} } })
  for (let index = from; index < from + count; index += 1) {
    const { versions, queue, answer } = grownTrade(index, wallets)
    const [queued, signed, ...later] = versions
    if (!queued || !signed) throw new Error('A trade begins with two versions.')
    const lease = await giveLease(store, { queue, fencingToken: 1 })
    await idempotency.once({
      key: { client: queued.client, path, key: queued.idempotencyKey ?? '' },
      request: { index },
      requestId: queued.requestId,
      async act(claim) {
        await journal.open([queued], lease, claim)
        await journal.write([signed], lease, { claim, status: 200, body: answer })
        return { answer: { status: 200, body: answer }, isRecorded: true }
      },
    })
    for (const each of later) await journal.write([each], lease)
  }
  idempotency.stop()
}

const pageSize = 100
const pagesOfCommit = 20

interface GrowOptions {
  from?: number
  wallets?: number
  /**
   * So many trades are made; the others have their outcome again, under keys, ids and hashes of their own. It makes a million in minutes. A
   * multiple of `wallets`, so that each stays with its wallet.
   */
  distinct?: number
  onProgress?: (done: number) => void
}

/** The same rows as `journalTrades` leaves, written many at a time. */
export async function growJournal(
  store: Store,
  count: number,
  { from = 0, wallets = 100, distinct = Number.MAX_SAFE_INTEGER, onProgress = () => {} }: GrowOptions = {},
): Promise<void> {
  const made = new Map<number, GrownRows>()
  const rowsOf = (index: number): GrownRows => {
    if (index < distinct) {
      const rows = grownRows(grownTrade(index, wallets))
      if (distinct <= count) made.set(index, rows)
      return rows
    }
    const rows = made.get(index % distinct) ?? grownRows(grownTrade(index % distinct, wallets))
    return renamed(rows, index)
  }
  for (let start = from; start < from + count; start += pageSize * pagesOfCommit) {
    const end = Math.min(start + pageSize * pagesOfCommit, from + count)
    await store.write(async (tx) => {
      for (let first = start; first < end; first += pageSize) {
        const page = Array.from({ length: Math.min(pageSize, end - first) }, (_, each) => rowsOf(first + each))
        await tx
          .insertInto('entries')
          .values(page.map(({ entry }) => entry))
          .execute()
        await tx
          .insertInto('hashes')
          .values(page.map(({ hash }) => hash))
          .execute()
        await tx
          .insertInto('requests')
          .values(page.map(({ request }) => request))
          .execute()
        await tx
          .insertInto('events')
          .values(page.flatMap(({ events }) => events))
          .execute()
      }
    })
    onProgress(end - from)
  }
}

type GrownRows = ReturnType<typeof grownRows>

function grownRows({ versions, queue, answer }: GrownTrade) {
  const final = versions.at(-1)
  const [hash] = final ? hashRows([final]) : []
  if (!final || !hash) throw new Error('A trade ends with a version that has a hash.')
  const { client, idempotencyKey = '', requestId, createdAt } = final
  return {
    entry: { ...entryRow(final, queue), ended_at: 0 },
    hash,
    request: {
      client,
      path,
      key: idempotencyKey,
      fingerprint: createHash('sha256').update(requestId).digest('base64'),
      claim: 1,
      server: '',
      request_id: requestId,
      created_at: createdAt,
      tag: '',
      status: 200,
      body: pack(answer),
    },
    events: versions.map(eventRow),
  }
}

function renamed({ entry, hash, request, events }: GrownRows, index: number): GrownRows {
  const [key, request_id, idempotency_key] = [keyOf(index, randomBytes(4).toString('hex')), randomUUID(), randomUUID()]
  return {
    entry: { ...entry, key, request_id, idempotency_key, nonce: entry.nonce + index },
    hash: { ...hash, hash: hashBytes(`0x${randomBytes(32).toString('hex')}`), entry_key: key },
    request: { ...request, key: idempotency_key, request_id },
    events: events.map((each) => ({ ...each, entry_key: key })),
  }
}

const createdAtOf = (index: number): number => 1_700_000_000_000 + index * 2_600
const keyOf = (index: number, random: string): string => `${createdAtOf(index).toString(36).padStart(9, '0')}00${random.slice(0, 6)}`

/** Hexadecimal digits that look random, the same for the same number. */
function randomDigits(seed: number): (count: number) => string {
  let digits = ''
  let blocks = 0
  return (count) => {
    while (digits.length < count)
      digits += createHash('sha256')
        .update(`${seed}/${(blocks += 1)}`)
        .digest('hex')
    const taken = digits.slice(0, count)
    digits = digits.slice(count)
    return taken
  }
}

const decimal = (digits: string): string => digits.replaceAll(/[a-f]/g, (digit) => String(digit.charCodeAt(0) - 97))
