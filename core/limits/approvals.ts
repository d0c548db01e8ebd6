// Requests that wait for a second person, in the store: all servers on it know them, also after a restart.
import { sql, type Kysely, type Transaction } from 'kysely'
import type { ApprovalState, RequestEffect } from '../api/approvals.ts'
import { addressKey } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import { pack, unpack } from '../store/compact.ts'
import { storeTime, unexpired } from '../store/store-time.ts'
import type { Store, StoreLog } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { Answer } from '../transactions/idempotency.ts'
import { createApprovalFeed, type FollowedApprovals } from './followed-approvals.ts'
import { lockRow, ownerOf } from './reservations.ts'

type Fields = Readonly<Record<string, unknown>>

/** A request that waits for a second person. */
export interface NewApproval {
  readonly client: string
  /** SHA-256 of the certificate that asked. */
  readonly certificate: string
  /** Its serial number, by which it is revoked. */
  readonly serialNumber?: string | undefined
  /** The name of the endpoint, and its path. */
  readonly endpoint: string
  readonly path: string
  /** Its Idempotency-Key, or one of the server's own. */
  readonly key: string
  readonly fingerprint: string
  readonly requestId: string
  readonly address: string
  /** As it was sent. */
  readonly request: Fields
  /** What bounds it where it has no bound itself: the worst price that was shown. */
  readonly bound: Fields
  /** What it did when it began to wait. */
  readonly effect: RequestEffect
}

export interface Approval extends NewApproval {
  readonly id: number
  readonly state: ApprovalState
  readonly madeAt: number
  readonly expiresAt: number
  readonly decidedBy?: string
  readonly decidedAt?: number
  /** Of one that is done. */
  readonly answer?: Answer
  /** Of one that was approved, and is never carried out. */
  readonly refusal?: Refusal
}

/** An error as it is stored. */
export type Refusal = Readonly<Pick<SluiceError, 'name' | 'message' | 'details'>>

export interface ApprovalFilter {
  readonly id?: number | undefined
  readonly state?: ApprovalState | undefined
  /** Only of this client, */
  readonly client?: string | undefined
  /** or of these wallets, by `addressKey`. */
  readonly addresses?: ReadonlySet<string> | undefined
  /** Older than this one. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface Approvals {
  /** Writes it down, once for its key. @throws SluiceError LIMIT_EXCEEDED where too many of the client wait; StoreUnavailable */
  open(of: NewApproval): Promise<Approval>
  /** @throws StoreUnavailable */
  find(of: { id: number } | { client: string; path: string; key: string }): Promise<Approval | undefined>
  /** Newest first. @throws StoreUnavailable */
  list(filter: ApprovalFilter): Promise<readonly Approval[]>
  /** Whether it was changed: only one that is in `from`, and has not expired. @throws StoreUnavailable */
  change(id: number, from: readonly StoredState[], to: Exclude<StoredState, 'refused'>, by: string): Promise<boolean>
  /** Ends one that was approved and is not carried out, with the outcome of its key. Whether it was changed: only one that has not ended. @throws StoreUnavailable */
  refuse(approval: Approval, refusal: Refusal): Promise<boolean>
  /** Whether the certificate that asked for it is revoked by now: then it is never carried out. Of one that has ended: false. @throws SluiceError OVERLOADED */
  isRevoked(approval: Approval): Promise<boolean>
  /** How many of the last day are in each state now. @throws StoreUnavailable */
  count(): Promise<ReadonlyMap<ApprovalState, number>>
  /** Calls with what is known, and with each change by whichever server, until the returned function is called. The store is asked only while somebody follows. */
  follow(changed: (state: FollowedApprovals) => void): () => void
  stop(): void
}

/** `done` and `expired` are not written: the answer under its key, and the time, say so. */
type StoredState = 'waiting' | 'approved' | 'refused' | 'denied' | 'withdrawn'

interface ApprovalsOptions {
  readonly store: Pick<Store, 'read' | 'write' | 'writeOnce'>
  /** `limits.approvalMinutes` and `limits.waitingApprovals`. */
  readonly minutes: number
  readonly maxWaiting: number
  /** By the serial number of a certificate. @throws SluiceError OVERLOADED */
  readonly isRevoked: (serialNumber: string) => Promise<boolean>
  readonly log: StoreLog
  readonly nowMs?: () => number
}

/** By the store's time. Outcomes stay in the journal. */
const keptMs = 30 * 24 * 3_600_000
const dayMs = 24 * 3_600_000
/** Rows that one request deletes. */
const maxDeleted = 100

export function createApprovals({
  store,
  minutes,
  maxWaiting,
  isRevoked: isRevokedCertificate,
  log,
  nowMs = Date.now,
}: ApprovalsOptions): Approvals {
  const waitMs = minutes * 60_000

  const isRevoked: Approvals['isRevoked'] = async ({ state, serialNumber }) =>
    (state === 'waiting' || state === 'approved') && serialNumber !== undefined && isRevokedCertificate(serialNumber)

  async function find(of: Parameters<Approvals['find']>[0]): Promise<Approval | undefined> {
    const row = await store.read((db) => {
      const all = select(db, nowMs())
      return (
        'id' in of
          ? all.where('approvals.id', '=', of.id)
          : all.where('approvals.client', '=', of.client).where('approvals.path', '=', of.path).where('approvals.key', '=', of.key)
      ).executeTakeFirst()
    })
    return row && readRow(row)
  }

  async function list({ id, state, client, addresses, before, limit }: ApprovalFilter): Promise<readonly Approval[]> {
    const rows = await store.read((db) => {
      let all = select(db, nowMs()).orderBy('approvals.id', 'desc').limit(limit)
      if (id !== undefined) all = all.where('approvals.id', '=', id)
      if (before !== undefined) all = all.where('approvals.id', '<', before)
      if (client !== undefined || addresses)
        all = all.where((where) =>
          where.or([
            ...(client === undefined ? [] : [where('approvals.client', '=', client)]),
            ...(addresses && addresses.size > 0 ? [where('approvals.address', 'in', [...addresses])] : []),
          ]),
        )
      if (state !== undefined) all = all.where(stateNow(nowMs()), '=', state)
      return all.execute()
    })
    return rows.map(readRow)
  }

  const feed = createApprovalFeed({ list, isRevoked }, log)

  return {
    async open(of) {
      const id = await store.write((tx) => insert(of, { at: nowMs(), waitMs, maxWaiting }, tx))
      const opened = await find({ id })
      if (!opened) throw new Error(`The store has lost the request ${id}.`)
      log.warn({ id, client: of.client, path: of.path, requestId: of.requestId }, 'request waits for an approval')
      void feed.refresh()
      return opened
    },
    find,
    list,
    isRevoked,
    follow: feed.follow,
    stop: feed.stop,
    async count() {
      const rows = await store.read((db) => {
        const recent = select(db, nowMs())
          .clearSelect()
          .select(stateNow(nowMs()).as('state'))
          .where('expires_elapsed', '>', sql<number>`${storeTime} - ${dayMs}`)
        return db
          .selectFrom(recent.as('recent'))
          .select(['state', sql<number | string>`count(*)`.as('count')])
          .groupBy('state')
          .execute()
      })
      return new Map(rows.map(({ state, count }) => [state, Number(count)]))
    },
    async change(id, from, to, by) {
      const rows = await store.writeOnce((db) =>
        db
          .updateTable('approvals')
          .set({ state: to, ...(to === 'waiting' ? { decided_by: null, decided_at: null } : { decided_by: by, decided_at: nowMs() }) })
          .where('id', '=', id)
          .where('state', 'in', from)
          .where(unexpired(nowMs()))
          .returning(['client', 'path', 'request_id'])
          .execute(),
      )
      for (const { client, path, request_id: requestId } of rows)
        log.warn(
          { id, by, client, path, requestId, now: to },
          to === 'waiting' ? 'approved request not carried out: it waits again' : `request ${to}`,
        )
      if (rows.length > 0) void feed.refresh()
      return rows.length > 0
    },
    async refuse(approval, refusal) {
      const { id, client, path, requestId } = approval
      const { numUpdatedRows } = await store.writeOnce((db) =>
        db
          .updateTable('approvals')
          .set({ state: 'refused', body: bodyOf(approval, refusal) })
          .where('id', '=', id)
          .where('state', 'in', ['waiting', 'approved'])
          .where(unexpired(nowMs()))
          .executeTakeFirstOrThrow(),
      )
      if (numUpdatedRows === 0n) return false
      const { name, message } = refusal
      log.warn({ id, client, path, requestId, now: 'refused', name, reason: message }, 'approved request refused, and ended')
      void feed.refresh()
      return true
    },
  }
}

interface WaitTerms {
  /** By the clock of this server. */
  readonly at: number
  readonly waitMs: number
  readonly maxWaiting: number
}

/** Once for its key. @throws SluiceError LIMIT_EXCEEDED */
async function insert(of: NewApproval, { at, waitMs, maxWaiting }: WaitTerms, tx: Transaction<Tables>): Promise<number> {
  const { client, certificate, endpoint, path, key, fingerprint, requestId, address } = of
  await lockClient(client, tx)
  const known = await tx
    .selectFrom('approvals')
    .select('id')
    .where((where) => where.and({ client, path, key }))
    .executeTakeFirst()
  if (known) return known.id
  const waiting = await tx
    .selectFrom('approvals')
    .select('id')
    .where('client', '=', client)
    .where(sql<boolean>`state = 'waiting'`)
    .where(unexpired(at))
    .limit(maxWaiting)
    .execute()
  if (waiting.length >= maxWaiting) throw tooMany(client, maxWaiting)
  const old = tx
    .selectFrom('approvals')
    .select('id')
    .where('expires_elapsed', '<', sql<number>`${storeTime} - ${keptMs}`)
    .limit(maxDeleted)
  await tx.deleteFrom('approvals').where('id', 'in', old).execute()
  const { id } = await tx
    .insertInto('approvals')
    .values({
      made_at: at,
      expires_at: at + waitMs,
      expires_elapsed: sql<number>`${storeTime} + ${waitMs}`,
      decided_at: null,
      client,
      path,
      key,
      certificate,
      endpoint,
      address: addressKey(address),
      fingerprint,
      request_id: requestId,
      state: 'waiting',
      decided_by: null,
      body: bodyOf(of),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const bodyOf = ({ address, serialNumber, request, bound, effect }: NewApproval, refusal?: Refusal) =>
  pack(JSON.stringify({ address, serialNumber, request, bound, effect, refusal }))

/** Locks the row until the end of the transaction. @throws SluiceError APPROVAL_EXPIRED: it was not approved, or not in time */
export async function requireApproved(id: number, tx: Transaction<Tables>, nowMs: number): Promise<void> {
  const [row] = await tx
    .updateTable('approvals')
    .set({ state: 'approved' })
    .where('id', '=', id)
    .where('state', '=', 'approved')
    .where(unexpired(nowMs))
    .returning('id')
    .execute()
  if (!row) throw notApproved(id)
}

const notApproved = (id: number) =>
  new SluiceError('APPROVAL_EXPIRED', `The approval of the request ${id} has expired, or was taken back: nothing was signed.`, {
    details: { id },
  })

/** The row of the client's limits: of two requests of a client at once the second one counts the first. */
const lockClient = async (client: string, tx: Transaction<Tables>) => lockRow(ownerOf(client), tx).execute()

/** SQL: `ApprovalState` of a row beside its answer. */
const stateNow = (nowMs: number) =>
  sql<ApprovalState>`case when state in ('refused', 'denied', 'withdrawn') then state when requests.status is not null then 'done'
    when not ${unexpired(nowMs)} then 'expired' else state end`

function select(db: Kysely<Tables>, nowMs: number) {
  return db
    .selectFrom('approvals')
    .leftJoin('requests', (join) =>
      join
        .onRef('requests.client', '=', 'approvals.client')
        .onRef('requests.path', '=', 'approvals.path')
        .onRef('requests.key', '=', 'approvals.key'),
    )
    .selectAll('approvals')
    .select(['requests.status as answer_status', 'requests.body as answer_body', stateNow(nowMs).as('state_now')])
}

type Row = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]

function readRow(row: Row): Approval {
  const { id, client, certificate, endpoint, path, key, fingerprint, request_id, made_at, expires_at, decided_by, decided_at } = row
  const stored = JSON.parse(unpack(row.body)) as Pick<Approval, 'address' | 'serialNumber' | 'request' | 'bound' | 'effect' | 'refusal'>
  const { answer_status: status, answer_body: body } = row
  return {
    id,
    state: row.state_now,
    client,
    certificate,
    endpoint,
    path,
    key,
    fingerprint,
    requestId: request_id,
    ...stored,
    madeAt: made_at,
    expiresAt: expires_at,
    ...(decided_by !== null && { decidedBy: decided_by }),
    ...(decided_at !== null && { decidedAt: decided_at }),
    ...(status !== null && body !== null && { answer: { status, body: unpack(body) } }),
  }
}

const tooMany = (client: string, most: number) =>
  new SluiceError(
    'LIMIT_EXCEEDED',
    `${most} requests of the client "${client}" wait for an approval, and no more may (limits.waitingApprovals): nothing was signed. Have them approved or denied, or wait until they expire.`,
    { details: { limit: 'waitingApprovals', left: '0' } },
  )
