import { createHash, randomBytes } from 'node:crypto'
import { sql, type ExpressionBuilder } from 'kysely'
import { badFields, SluiceError } from '../api/index.ts'
import { pause } from '../async.ts'
import type { Log } from '../contracts/index.ts'
import { StoreUnavailable, type Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { KeyClaim } from './journal/journal.ts'

/** A day is promised, plus an hour for servers whose clocks differ. */
const retentionMs = 25 * 3_600_000
const cleanupIntervalMs = 10 * 60_000
const pauseMs = 1_000

/** Answers requests with an Idempotency-Key once, however often they are repeated and on whichever server. */
export interface Idempotency {
  /**
   * The recorded answer, or the answer of `act` now. A failure before anything was signed is not recorded. Signed bytes are journaled
   * together with their answer, and then that answer is given.
   * @throws SluiceError IDEMPOTENCY_CONFLICT, IN_FLIGHT; StoreUnavailable, and nothing has happened
   */
  once(call: IdempotentCall): Promise<Answer>
  /** Ends retries and cleanup. */
  stop(): void
}

interface IdempotentCall {
  key: RequestKey
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
  nowMs?: () => number
}

export function createIdempotency({ store, serverId, log, onReplay = () => {}, nowMs = Date.now }: IdempotencyOptions): Idempotency {
  const table = requestTable(store, serverId, nowMs)
  /** Keys whose calls run in this process, even if their callers got a TIMEOUT. */
  const running = new Set<string>()
  /** Claims whose release is not stored yet. Until it is, other servers see the key as in flight while this server lives. */
  const unreleased = new Map<string, RequestKey & Partial<KeyClaim>>()
  const closing = new AbortController()
  let releasing: Promise<void> | undefined
  let cleanedAtMs = -Infinity

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

  /** Runs beside the requests. */
  function deleteOld(): void {
    if (nowMs() - cleanedAtMs < cleanupIntervalMs) return
    cleanedAtMs = nowMs()
    const before = nowMs() - retentionMs
    const deleteAll = async (): Promise<void> => {
      while (!closing.signal.aborted && (await table.deleteBefore(before))) await pause(pauseMs / 10, closing.signal, { ref: false })
    }
    deleteAll().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown'
      if (!closing.signal.aborted) log.warn({ reason }, 'old Idempotency-Keys not deleted')
    })
  }

  function replay(request: object, stored: RequestRecord | undefined): Answer {
    if (stored && stored.fingerprint !== fingerprintOf(request)) {
      throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request; use a new key for a new request.')
    }
    if (!stored?.answer) throw inFlight()
    onReplay()
    return stored.answer
  }

  return {
    async once(call) {
      const { key, request, requestId } = call
      const id = idOf(key)
      if (running.has(id)) return replay(request, await table.find(key).catch(unknownOutcome))
      running.add(id)
      deleteOld()
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
    stop: () => closing.abort(),
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
function fingerprintOf(request: object): string {
  const fields = Object.entries(request).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

/** @throws SluiceError INCOMPLETE_PARAMS unless it is 1 to 255 visible characters: an empty key would protect nothing */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
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
    if (status !== null && body !== null) return { fingerprint, answer: { status, body } }
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
      const row = { ...keyColumns(key), fingerprint, claim: 1, server: serverId, request_id: requestId, created_at: nowMs() }
      const claimed = await store.writeOnce((db) =>
        db
          .insertInto('requests')
          .values({ ...row, tag, status: null, body: null })
          .onConflict((conflict) =>
            conflict
              .columns(['client', 'path', 'key'])
              .doUpdateSet({
                ...row,
                // Rises even if the key was released: an earlier claim must never match again.
                claim: sql<number>`requests.claim + 1`,
                tag: sql<string>`case when requests.fingerprint = ${fingerprint} and requests.tag <> '' then requests.tag else ${tag} end`,
              })
              .where('requests.status', 'is', null)
              .where(
                sql<boolean>`(requests.server = ${noServer} or (requests.fingerprint = ${fingerprint}
                  and (requests.server = ${serverId} or not ${store.isServerAlive(sql`requests.server`)})))`,
              ),
          )
          .returning(['claim', 'tag'])
          .executeTakeFirst(),
      )
      return claimed ?? find(key)
    },
    /**
     * Records an answer that was not journaled with signed bytes. Returns what is stored then: another call's, if it has the key by now.
     */
    async record(claim: KeyClaim, answer: Answer): Promise<RequestRecord | undefined> {
      const { status, body } = answer
      const [recorded] = await store.writeOnce((db) =>
        db
          .updateTable('requests')
          .set({ status, body })
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
        const ours = db.updateTable('requests').set({ server: noServer }).where(hasKey(claim)).where('server', '=', serverId)
        const open = ours.where('status', 'is', null)
        return (claim.claim === undefined ? open : open.where('claim', '=', claim.claim)).execute()
      })
      return find(claim)
    },
    /** Deletes old keys; returns whether there may be more. */
    deleteBefore: (beforeMs: number) =>
      store.writeOnce(async (db) => {
        const { numAffectedRows = 0n } = await sql`
          delete from requests where (client, path, "key") in
            (select client, path, "key" from requests where created_at < ${beforeMs} limit ${maxDeleted})`.execute(db)
        return numAffectedRows === BigInt(maxDeleted)
      }),
  }
}

const keyColumns = ({ client, path, key }: RequestKey) => ({ client, path, key })
const hasKey = (key: RequestKey) => (where: ExpressionBuilder<Tables, 'requests'>) => where.and(keyColumns(key))
