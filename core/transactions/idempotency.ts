import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { badFields, SluiceError } from '../api/index.ts'
import type { Log } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import type { KeyClaim } from './journal/journal.ts'
import { keptRequests, type Answer, type Claimed, type KeptRequest, type RequestKey } from '../http/idempotency/kept-requests.ts'

const hourMs = 3_600_000
/** A day is promised; the hour is for servers whose clocks differ. */
const keptMs = 25 * hourMs
const forgettingEveryMs = 10 * 60_000
const pauseMs = 1_000

export interface Keyed {
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
  once(keyed: Keyed): Promise<Answer>
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
  const kept = keptRequests(store, serverId, nowMs)
  /** Keys whose calls run in this process, also when their callers were told TIMEOUT. */
  const running = new Set<string>()
  /** What the store did not take back yet: for the others it would be under way for as long as this server lives. */
  const owed = new Map<string, RequestKey & Partial<KeyClaim>>()
  const closing = new AbortController()
  let paying: Promise<void> | undefined
  let forgettingAtMs = -Infinity

  async function first({ key, request, act }: Keyed, { claim: number, tag }: Claimed): Promise<Answer> {
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
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
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
      while (await kept.forget(before)) await sleep(pauseMs / 10, undefined, { signal: closing.signal, ref: false })
    }
    goOn().catch((error: unknown) => {
      if (!closing.signal.aborted) log.warn({ reason: reasonOf(error) }, 'old Idempotency-Keys could not be forgotten')
    })
  }

  function again(request: object, stands: KeptRequest | undefined): Answer {
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
      let claimed: Claimed | KeptRequest | undefined
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
