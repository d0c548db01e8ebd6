import { createHash, randomBytes } from 'node:crypto'
import { pause } from '../async.ts'
import { sql, type ExpressionBuilder } from 'kysely'
import { badFields, SluiceError } from '../api/index.ts'
import type { Log } from '../contracts/index.ts'
import { isServerAlive } from '../store/postgres/leases.ts'
import { type Store, StoreUnavailable } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { KeyClaim } from './journal/journal.ts'

const hourMs = 3_600_000
/** A day is promised; the hour is for servers whose clocks differ. */
const keptMs = 25 * hourMs
const forgettingEveryMs = 10 * 60_000
const pauseMs = 1_000

interface IdempotentCall {
  key: RequestKey
  request: object
  requestId: string
  /** `tag`: what the request is called. `isKept`: the answer is in the journal already, with what was signed. */
  act(claim: KeyClaim, tag: string): Promise<{ answer: Answer; isKept: boolean }>
}

/** What requests with an Idempotency-Key were answered: once, whoever repeats them and on whichever server. */
export interface Idempotency {
  /**
   * The first answer again, or what `act` gives now. What failed before anything was signed is not remembered; what was signed has its
   * answer, which was journaled with it, and then that is what is given.
   * @throws SluiceError IDEMPOTENCY_CONFLICT, IN_FLIGHT; StoreUnavailable, and nothing has happened
   */
  once(keyed: IdempotentCall): Promise<Answer>
  /** Tries nothing again any more. */
  stop(): void
}

interface IdempotencyOptions {
  store: Store
  serverId: string
  log: Log
  /** Told of every answer that was given again. */
  onReplay?: () => void
  nowMs?: () => number
}

export function createIdempotency({ store, serverId, log, onReplay = () => {}, nowMs = Date.now }: IdempotencyOptions): Idempotency {
  const kept = requestTable(store, serverId, nowMs)
  /** Keys whose calls run in this process, also when their callers were told TIMEOUT. */
  const running = new Set<string>()
  /** What the store did not take back yet: for the others it would be under way for as long as this server lives. */
  const owed = new Map<string, RequestKey & Partial<KeyClaim>>()
  const closing = new AbortController()
  let paying: Promise<void> | undefined
  let forgettingAtMs = -Infinity

  async function first({ key, request, act }: IdempotentCall, { claim: number, tag }: RequestClaim): Promise<Answer> {
    const claim = { ...key, claim: number }
    try {
      const { answer, isKept } = await act(claim, tag)
      if (isKept) return answer
      const stands = await kept.keep(claim, answer).catch((error: unknown) => notKept(claim, error))
      // Where another call has the key by now, its answer is the request's.
      if (!stands?.answer) throw inFlight()
      return stands.answer
    } catch (error) {
      const stands = await kept.release(claim).catch(() => owe(claim))
      if (stands?.fingerprint !== fingerprintOf(request)) throw error
      // Signed after all, be it by another server that took the key over: that is the one outcome of this request.
      if (stands.answer) return stands.answer
      throw inFlight()
    } finally {
      running.delete(idOf(key))
    }
  }

  /** Part of what the request asked for may be sent: whoever repeats it must not be told otherwise than its caller was. */
  function notKept({ key, path }: KeyClaim, error: unknown): never {
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ key, path, reason: error.reason }, 'an answer could not be kept under its key, and was not given')
    throw new SluiceError(
      'TIMEOUT',
      `The server's store did not take the answer to be kept under this Idempotency-Key: ${error.reason}. The same request with the same key tells what came of it; what was sent for it is in GET /transactions.`,
      { cause: error },
    )
  }

  function owe(claim: RequestKey & Partial<KeyClaim>): undefined {
    owed.set(idOf(claim), claim)
    paying ??= pay().finally(() => (paying = undefined))
  }

  async function pay(): Promise<void> {
    while (owed.size > 0 && !closing.signal.aborted) {
      await pause(pauseMs, closing.signal, { ref: false })
      for (const [id, claim] of owed) {
        if (running.has(id)) continue
        await kept.release(claim).then(
          () => owed.delete(id),
          () => {},
        )
      }
    }
  }

  /** Now and then, beside the requests. */
  function forgetOld(): void {
    if (nowMs() - forgettingAtMs < forgettingEveryMs) return
    forgettingAtMs = nowMs()
    const before = nowMs() - keptMs
    const goOn = async (): Promise<void> => {
      while (!closing.signal.aborted && (await kept.forget(before))) await pause(pauseMs / 10, closing.signal, { ref: false })
    }
    goOn().catch((error: unknown) => {
      if (!closing.signal.aborted) log.warn({ reason: reasonOf(error) }, 'old Idempotency-Keys could not be forgotten')
    })
  }

  function again(request: object, stands: RequestRecord | undefined): Answer {
    if (stands && stands.fingerprint !== fingerprintOf(request)) {
      throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request; use a new key for a new request.')
    }
    if (!stands?.answer) throw inFlight()
    onReplay()
    return stands.answer
  }

  return {
    async once(keyed) {
      const { key, request, requestId } = keyed
      const id = idOf(key)
      if (running.has(id)) return again(request, await kept.find(key).catch(unseen))
      running.add(id)
      forgetOld()
      let claimed: RequestClaim | RequestRecord | undefined
      try {
        claimed = await kept.claim(key, { fingerprint: fingerprintOf(request), requestId })
      } catch (error) {
        running.delete(id)
        if (error instanceof StoreUnavailable && error.uncertain) owe(key)
        return unseen(error)
      }
      if (claimed && 'claim' in claimed) {
        // By its end it is given back, and what was owed before has another number.
        owed.delete(id)
        return first(keyed, claimed)
      }
      running.delete(id)
      return again(request, claimed)
    },
    stop: () => closing.abort(),
  }
}

const inFlight = () =>
  new SluiceError('IN_FLIGHT', 'The first request with this Idempotency-Key is still under way.', { retryAfterSeconds: 1 })

/** This call did nothing, but nobody can say now what an earlier one with its key did. */
function unseen(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error
  throw new SluiceError(
    'OVERLOADED',
    `The server's store cannot be used: ${error.reason}. This call did nothing; whether an earlier one with this Idempotency-Key did, it cannot see now. Try again with the same key.`,
    { retryAfterSeconds: 2, cause: error },
  )
}

const idOf = ({ client, path, key }: RequestKey) => JSON.stringify([client, path, key])

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown')

/** Fields in another order are the same request. */
function fingerprintOf(request: object): string {
  const fields = Object.entries(request).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

/** @throws SluiceError INCOMPLETE_PARAMS unless it is 1 to 255 visible characters: an empty one protects nobody */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw badFields([{ field: 'Idempotency-Key', problem: 'must be 1 to 255 visible ASCII characters, or left out' }])
}

type RequestKey = Omit<KeyClaim, 'claim'>

export interface Answer {
  status: number
  body: string
}

/** What stands under a key. */
interface RequestRecord {
  fingerprint: string
  /** Absent while its call is under way. */
  answer?: Answer
}

/** A hold on a key, and what its request is called: the same when it is repeated, another for another one or once the key was forgotten. */
interface RequestClaim {
  claim: number
  tag: string
}

/** Nobody's: its call ended and left nothing behind. */
const nobody = ''
/** Deleted in one go: an embedded database does nothing else meanwhile. */
const batch = 500

/** The keys that requests came with, in the store. @throws StoreUnavailable */
function requestTable(store: Store, serverId: string, nowMs: () => number) {
  async function find(key: RequestKey): Promise<RequestRecord | undefined> {
    const row = await store.read((db) =>
      db.selectFrom('requests').select(['fingerprint', 'server', 'status', 'body']).where(isOf(key)).executeTakeFirst(),
    )
    if (!row) return undefined
    const { fingerprint, server, status, body } = row
    if (status !== null && body !== null) return { fingerprint, answer: { status, body } }
    return server === nobody ? undefined : { fingerprint }
  }

  return {
    /**
     * Our claim where the key is new, was given up, or its call died before anything was signed; else what stands there.
     * No call with this key may be running in this process.
     */
    async claim(
      key: RequestKey,
      { fingerprint, requestId }: { fingerprint: string; requestId: string },
    ): Promise<RequestClaim | RequestRecord | undefined> {
      const tag = randomBytes(16).toString('hex')
      const row = { ...pick(key), fingerprint, claim: 1, server: serverId, request_id: requestId, created_at: nowMs() }
      const claimed = await store.writeOnce((db) =>
        db
          .insertInto('requests')
          .values({ ...row, tag, status: null, body: null })
          .onConflict((conflict) =>
            conflict
              .columns(['client', 'path', 'key'])
              .doUpdateSet({
                ...row,
                // It rises even where the key was given up: whoever had it before must never match again.
                claim: sql<number>`requests.claim + 1`,
                tag: sql<string>`case when requests.fingerprint = ${fingerprint} and requests.tag <> '' then requests.tag else ${tag} end`,
              })
              .where('requests.status', 'is', null)
              .where(
                sql<boolean>`(requests.server = ${nobody} or (requests.fingerprint = ${fingerprint}
                  and (requests.server = ${serverId} or not ${isServerAlive(store, sql`requests.server`)})))`,
              ),
          )
          .returning(['claim', 'tag'])
          .executeTakeFirst(),
      )
      return claimed ?? find(key)
    },
    find,
    /**
     * The answer of a call that was not journaled with anything signed. Gives what stands under the key then: another's, where that has it
     * by now.
     */
    async keep(claim: KeyClaim, { status, body }: Answer): Promise<RequestRecord | undefined> {
      const [kept] = await store.writeOnce((db) =>
        db
          .updateTable('requests')
          .set({ status, body })
          .where(isOf(claim))
          .where('claim', '=', claim.claim)
          .where('status', 'is', null)
          .returning('fingerprint')
          .execute(),
      )
      return kept ? { ...kept, answer: { status, body } } : find(claim)
    },
    /**
     * For a call that has failed: the key is free again, unless it has an answer all the same. Gives what stands there then.
     * @param claim without its number: whatever this server has claimed of it
     */
    async release(claim: RequestKey & Partial<KeyClaim>): Promise<RequestRecord | undefined> {
      await store.writeOnce((db) => {
        const ours = db.updateTable('requests').set({ server: nobody }).where(isOf(claim)).where('server', '=', serverId)
        const open = ours.where('status', 'is', null)
        return (claim.claim === undefined ? open : open.where('claim', '=', claim.claim)).execute()
      })
      return find(claim)
    },
    /** Forgets keys of long ago; whether there may be more of them. */
    forget: (beforeMs: number) =>
      store.writeOnce(async (db) => {
        const { numAffectedRows = 0n } = await sql`
          delete from requests where (client, path, "key") in
            (select client, path, "key" from requests where created_at < ${beforeMs} limit ${batch})`.execute(db)
        return numAffectedRows === BigInt(batch)
      }),
  }
}

const pick = ({ client, path, key }: RequestKey) => ({ client, path, key })
const isOf = (key: RequestKey) => (where: ExpressionBuilder<Tables, 'requests'>) => where.and(pick(key))
