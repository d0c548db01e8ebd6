import { createHash, randomBytes } from 'node:crypto'
import { sql, type ExpressionBuilder } from 'kysely'
import { badFields, SluiceError } from '../api/index.ts'
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import { pack, unpack } from '../store/compact.ts'
import { countEveryMs, createStoreTime, storeTime } from '../store/store-time.ts'
import { StoreUnavailable, type Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { KeyClaim } from './journal/journal.ts'
import { reasonOf } from '../base/errors.ts'

/** By the store's time, and only of keys under which nothing was journaled. A day is promised. */
const retentionMs = 25 * 3_600_000
const pauseMs = 1_000

/** Answers requests with an Idempotency-Key once, however often they are repeated and on whichever server. */
export interface Idempotency {
  /**
   * The recorded answer, or the answer of `act` now. A failure before anything was signed is not recorded. Signed bytes are journaled
   * together with their answer, and then that answer is given.
   * @throws SluiceError IDEMPOTENCY_CONFLICT, IN_FLIGHT; StoreUnavailable, and nothing has happened
   */
  once(call: IdempotentCall): Promise<Answer>
  /** Whether an equal request was made, or is being made, with this key. @throws SluiceError OVERLOADED */
  has(key: RequestKey, request: object): Promise<boolean>
  /** Counts the store's time, and deletes keys that are old by it and under which nothing was journaled. Runs by itself every minute. */
  age(): Promise<void>
  /** Ends retries and ageing. */
  stop(): void
}

interface IdempotentCall {
  key: RequestKey
  /** Another name of the client. What is stored under it counts: the caller is the same. */
  formerClient?: string | undefined
  request: object
  requestId: string
  /**
   * @param tag name of the request, the same whenever it is repeated with its key
   * @returns `isRecorded`: the answer is in the journal already, with the signed bytes
   */
  act(claim: KeyClaim, tag: string): Promise<{ answer: Answer; isRecorded: boolean }>
}

type RequestKey = Omit<KeyClaim, 'claim'>

export interface Answer {
  status: number
  body: string
}

interface IdempotencyOptions {
  store: Store
  serverId: string
  log: Log
  /** Called for every answer that is given again. */
  onReplay?: () => void
  /** This machine's clock, which decides nothing. */
  nowMs?: () => number
  /** A clock that is never set. */
  steadyMs?: () => number
}

export function createIdempotency({
  store,
  serverId,
  log,
  onReplay = () => {},
  nowMs = Date.now,
  steadyMs,
}: IdempotencyOptions): Idempotency {
  const time = createStoreTime(store, steadyMs)
  const table = requestTable(store, serverId, nowMs)
  /** Keys whose calls run in this process, even if their callers got a TIMEOUT. */
  const running = new Set<string>()
  /** Claims whose release is not stored yet. Until it is, other servers see the key as in flight while this server lives. */
  const unreleased = new Map<string, RequestKey & Partial<KeyClaim>>()
  const closing = new AbortController()
  let releasing: Promise<void> | undefined
  let isAgeingFailing = false
  let ageing: Promise<void> | undefined
  const timer = setInterval(() => void ageByItself(), countEveryMs).unref()

  async function run({ key, request, act }: IdempotentCall, { claim: number, tag }: RequestClaim): Promise<Answer> {
    const claim = { ...key, claim: number }
    try {
      const { answer, isRecorded } = await act(claim, tag)
      if (isRecorded) return answer
      const stored = await table.record(claim, answer).catch((error: unknown) => notRecorded(claim, error))
      // If another call has taken the key over, its answer is the request's.
      if (!stored?.answer) throw inFlight()
      return stored.answer
    } catch (error) {
      const stored = await table.release(claim).catch(() => releaseLater(claim))
      if (stored?.fingerprint !== fingerprintOf(request)) throw error
      // It was signed after all, perhaps by a server that took the key over. That is the request's outcome.
      if (stored.answer) return stored.answer
      throw inFlight()
    } finally {
      running.delete(idOf(key))
    }
  }

  /** Part of the request may have been sent, so a repetition must not get another answer than this caller. */
  function notRecorded({ key, path }: KeyClaim, error: unknown): never {
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ key, path, reason: error.reason }, 'answer not recorded under its Idempotency-Key, and not given')
    throw new SluiceError(
      'TIMEOUT',
      `The server's store did not record the answer under this Idempotency-Key: ${error.reason}. Repeat the request with the same key to see its outcome; GET /transactions shows what was sent for it.`,
      { cause: error },
    )
  }

  function releaseLater(claim: RequestKey & Partial<KeyClaim>): undefined {
    unreleased.set(idOf(claim), claim)
    releasing ??= releaseAll().finally(() => (releasing = undefined))
  }

  async function releaseAll(): Promise<void> {
    while (unreleased.size > 0 && !closing.signal.aborted) {
      await pause(pauseMs, closing.signal, { ref: false })
      for (const [id, claim] of unreleased) {
        if (running.has(id)) continue
        await table.release(claim).then(
          () => unreleased.delete(id),
          () => {},
        )
      }
    }
  }

  async function ageNow(): Promise<void> {
    await time.count()
    while (!closing.signal.aborted && (await table.deleteOld())) await pause(pauseMs / 10, closing.signal, { ref: false })
  }

  const age = () => (ageing ??= ageNow().finally(() => (ageing = undefined)))

  async function ageByItself(): Promise<void> {
    try {
      await age()
      isAgeingFailing = false
    } catch (error) {
      const reason = reasonOf(error)
      // Logged once as long as it lasts.
      if (!isAgeingFailing && !closing.signal.aborted) log.warn({ reason }, 'old Idempotency-Keys not deleted')
      isAgeingFailing = true
    }
  }

  function replay(request: object, stored: RequestRecord | undefined): Answer {
    if (stored && stored.fingerprint !== fingerprintOf(request)) {
      throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request; use a new key for a new request.')
    }
    if (!stored?.answer) throw inFlight()
    onReplay()
    return stored.answer
  }

  /** The name under which the client's key is stored. */
  async function underStoredName(call: IdempotentCall, formerClient: string): Promise<IdempotentCall> {
    const former = { ...call.key, client: formerClient }
    return running.has(idOf(former)) || (await table.find(former).catch(unknownOutcome)) ? { ...call, key: former } : call
  }

  return {
    async once(asked) {
      const call = asked.formerClient === undefined ? asked : await underStoredName(asked, asked.formerClient)
      const { key, request, requestId } = call
      const id = idOf(key)
      if (running.has(id)) return replay(request, await table.find(key).catch(unknownOutcome))
      running.add(id)
      let claimed: RequestClaim | RequestRecord | undefined
      try {
        claimed = await table.claim(key, { fingerprint: fingerprintOf(request), requestId })
      } catch (error) {
        running.delete(id)
        if (error instanceof StoreUnavailable && error.uncertain) releaseLater(key)
        return unknownOutcome(error)
      }
      if (claimed && 'claim' in claimed) {
        // This call releases the key when it ends. An earlier claim has another number.
        unreleased.delete(id)
        return run(call, claimed)
      }
      running.delete(id)
      return replay(request, claimed)
    },
    async has(key, request) {
      return (await table.find(key).catch(unknownOutcome))?.fingerprint === fingerprintOf(request)
    },
    age,
    stop() {
      clearInterval(timer)
      closing.abort()
    },
  }
}

const inFlight = () =>
  new SluiceError('IN_FLIGHT', 'The first request with this Idempotency-Key is still under way.', { retryAfterSeconds: 1 })

/** This call did nothing, but what an earlier call with its key did is unknown. */
function unknownOutcome(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error
  throw new SluiceError(
    'OVERLOADED',
    `The server's store cannot be used: ${error.reason}. This call did nothing. Whether an earlier call with this Idempotency-Key did something is unknown while the store is down. Try again with the same key.`,
    { retryAfterSeconds: 2, cause: error },
  )
}

const idOf = ({ client, path, key }: RequestKey) => JSON.stringify([client, path, key])

/** The order of the fields does not matter. */
export function fingerprintOf(request: object): string {
  const fields = Object.entries(request).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64')
}

/** @throws SluiceError INCOMPLETE_PARAMS unless it is 1 to 255 visible characters: an empty key would protect nothing */
export function readIdempotencyKey(key: unknown): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw badFields([{ field: 'Idempotency-Key', problem: 'must be 1 to 255 visible ASCII characters, or left out' }])
}

/** What is stored under a key. */
interface RequestRecord {
  fingerprint: string
  /** Absent while its call is under way. */
  answer?: Answer
}

/**
 * A claim of a key, and the name of its request: the same when it is repeated, a new one for another request or once the key is deleted.
 */
interface RequestClaim {
  claim: number
  tag: string
}

/** The `server` of a key whose call ended without an answer. */
const noServer = ''
/** Rows that one statement deletes: an embedded database does nothing else while it runs. */
const maxDeleted = 500

/** The table `requests`. @throws StoreUnavailable */
function requestTable(store: Store, serverId: string, nowMs: () => number) {
  async function find(key: RequestKey): Promise<RequestRecord | undefined> {
    const row = await store.read((db) =>
      db.selectFrom('requests').select(['fingerprint', 'server', 'status', 'body']).where(hasKey(key)).executeTakeFirst(),
    )
    if (!row) return undefined
    const { fingerprint, server, status, body } = row
    if (status !== null && body !== null) return { fingerprint, answer: { status, body: unpack(body) } }
    return server === noServer ? undefined : { fingerprint }
  }

  return {
    find,
    /**
     * A claim, if the key is new, was released, or its call died before anything was signed; otherwise what is stored under it.
     * No call with this key may be running in this process.
     */
    async claim(
      key: RequestKey,
      { fingerprint, requestId }: { fingerprint: string; requestId: string },
    ): Promise<RequestClaim | RequestRecord | undefined> {
      const tag = randomBytes(16).toString('hex')
      const { client, path, key: name } = key
      const { rows } = await store.writeOnce((db) =>
        sql<{ claim: number; tag: string }>`
          insert into requests (client, path, key, fingerprint, claim, server, request_id, created_at, tag)
          values (${client}, ${path}, ${name}, ${fingerprint}, 1, ${serverId}, ${requestId}, ${nowMs()}, ${tag})
          on conflict (client, path, key) do update set
            fingerprint = excluded.fingerprint,
            -- Rises even if the key was released: an earlier claim must never match again.
            claim = requests.claim + 1,
            server = excluded.server,
            request_id = excluded.request_id,
            created_at = excluded.created_at,
            tag = case when requests.fingerprint = excluded.fingerprint then requests.tag else excluded.tag end,
            -- Of a call that died nobody knows what it has made.
            ages_from = case when requests.server = ${noServer} then requests.ages_from else null end
          where requests.status is null and (requests.server = ${noServer} or (requests.fingerprint = excluded.fingerprint
            and (requests.server = excluded.server or not ${store.isServerAlive(sql`requests.server`)})))
          returning claim, tag`.execute(db),
      )
      return rows[0] ?? find(key)
    },
    /**
     * Records an answer that was not journaled with signed bytes. Returns what is stored then: another call's, if it has the key by now.
     */
    async record(claim: KeyClaim, answer: Answer): Promise<RequestRecord | undefined> {
      const { status, body } = answer
      const [recorded] = await store.writeOnce((db) =>
        db
          .updateTable('requests')
          .set({ status, body: pack(body), server: noServer, tag: '', ages_from: agesFrom })
          .where(hasKey(claim))
          .where('claim', '=', claim.claim)
          .where('status', 'is', null)
          .returning('fingerprint')
          .execute(),
      )
      return recorded ? { ...recorded, answer: { status, body } } : find(claim)
    },
    /**
     * For a call that failed: frees the key, unless it has an answer all the same. Returns what is stored then.
     * @param claim without its number: every claim of this server
     */
    async release(claim: RequestKey & Partial<KeyClaim>): Promise<RequestRecord | undefined> {
      await store.writeOnce((db) => {
        const ours = db
          .updateTable('requests')
          .set({ server: noServer, ages_from: agesFrom })
          .where(hasKey(claim))
          .where('server', '=', serverId)
        const open = ours.where('status', 'is', null)
        return (claim.claim === undefined ? open : open.where('claim', '=', claim.claim)).execute()
      })
      return find(claim)
    },
    /** Deletes old keys; returns whether there may be more. */
    deleteOld: () =>
      store.writeOnce(async (db) => {
        // Twice, because in PostgreSQL a call may claim a key between the two.
        // One that has waited for a second person keeps its outcome for as long as that is known.
        const isOld = sql`ages_from < ${storeTime} - ${retentionMs} and (status is not null or server = ${noServer})
          and not exists (select 1 from approvals
            where approvals.client = requests.client and approvals.path = requests.path and approvals."key" = requests."key")`
        const { numAffectedRows = 0n } = await sql`
          delete from requests where ${isOld} and (client, path, "key") in
            (select client, path, "key" from requests where ${isOld} limit ${maxDeleted})`.execute(db)
        return numAffectedRows === BigInt(maxDeleted)
      }),
  }
}

/**
 * SQL: the value of `ages_from` after a call that has no answer in the journal. It ages if the call made no entry, and no call before it can
 * have: every call between two that are known to have made nothing leaves it set.
 */
const agesFrom = sql<number | null>`case when (claim = 1 or ages_from is not null)
  and not exists (select 1 from entries where entries.request_id = requests.request_id) then ${storeTime} end`

const hasKey =
  ({ client, path, key }: RequestKey) =>
  (where: ExpressionBuilder<Tables, 'requests'>) =>
    where.and({ client, path, key })
