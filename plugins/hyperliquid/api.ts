import { isTooManyParts } from 'sluice/json'
import { payerOf, SluiceError, type At } from 'sluice/plugin'
import type { Pool } from 'undici'
import { queryFailure, unavailable, type HttpAnswer } from './answers.ts'
import { machineMs } from './nonces.ts'
import { type Shape, object, shape, integer } from './shape.ts'

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const light: ReadonlySet<string> = new Set([
  'l2Book',
  'allMids',
  'clearinghouseState',
  'orderStatus',
  'spotClearinghouseState',
  'exchangeStatus',
])
/** No action is signed without the exchange's time. */
const timeQuery = 'exchangeStatus'
/** Of a query for the status of one order. */
export const orderStatusWeight = 2
const weightOf = (type: string): number => (light.has(type) ? orderStatusWeight : 20)
/** A long answer has one more weight for so many entries. */
export const entriesPerWeight = 20

interface InfoRequest {
  readonly type: string
  readonly [field: string]: string | number | boolean
}

/** Queries the exchange's info endpoint, which changes nothing. @throws SluiceError NETWORK, RATE_LIMIT */
export type QueryInfo = <T>(request: InfoRequest, shape: Shape<T>, at: At) => Promise<T>

/** @param what of `action` queries of callers use nothing up */
export function createInfoQuery(post: Post, limiter: RateLimiter, what: 'query' | 'action' = 'query'): QueryInfo {
  return async (request, shape, { signal }) => {
    limiter.take(weightOf(request.type), request.type === timeQuery ? 'action' : what, payerOf(signal))
    const answer = await post('info', JSON.stringify(request), signal)
    if (answer.is === 'lost') throw unavailable(answer.reason)
    const failure = queryFailure(answer, request.type)
    if (failure?.name === 'RATE_LIMIT') limiter.markExhausted()
    if (failure) throw failure
    const { body } = answer
    if (Array.isArray(body)) limiter.charge(Math.floor(body.length / entriesPerWeight))
    return shape(body, request.type)
  }
}

const connections = 16
const timeoutMs = 10_000
const maxBytes = 32 * 1024 * 1024

/** The answer, or that it is unknown whether the exchange received the request. */
export type PostResult = ({ readonly is: 'answered' } & HttpAnswer) | { readonly is: 'lost'; readonly reason: string }

export interface Post {
  (path: 'info' | 'exchange', json: string | Uint8Array, signal: AbortSignal): Promise<PostResult>
  close(): Promise<void>
}

/** Keep-alive connections to the exchange's HTTP interface. Connects with the first request. */
export function createPost(apiUrl: string, load = async () => import('undici')): Post {
  const { origin, pathname } = new URL(apiUrl)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  let pool: Promise<Pool> | undefined

  async function connect(): Promise<Pool> {
    const { Pool: HttpPool } = await load().catch((error: unknown) => {
      // The next request tries again.
      pool = undefined
      throw error
    })
    return new HttpPool(origin, {
      connections,
      maxResponseSize: maxBytes,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
  }

  async function post(path: string, body: string | Uint8Array, signal: AbortSignal): Promise<PostResult> {
    pool ??= connect()
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const response = await (await pool).request({ method: 'POST', path: folder + path, headers, body, signal: stop })
      const text = await response.body.text()
      const retryAfterSeconds = secondsOf(response.headers['retry-after'])
      return { is: 'answered', status: response.statusCode, body: parsed(text), ...(retryAfterSeconds && { retryAfterSeconds }) }
    } catch (error) {
      signal.throwIfAborted()
      return { is: 'lost', reason: connectionProblem(error) }
    }
  }

  return Object.assign(post, {
    async close() {
      await (await pool)?.destroy()
    },
  })
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds > 0 ? Math.ceil(seconds) : undefined
}

/** The body of some refusals is plain text. Of more lists, objects and fields than the exchange sends nothing is made. */
function parsed(text: string): unknown {
  if (isTooManyParts(text)) return ''
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Names the code only: messages of errors may contain the whole URL. */
function connectionProblem(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `it did not answer within ${timeoutMs / 1000} s`
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'the connection failed'
  return `it cannot be reached (${code})`
}

/** The part of the rate limit that is reserved for actions. Queries cannot use it up. */
const reservedForActions = 1 / 6

/** What the server itself does not take, where it can wait. */
const leftToCallers = 1 / 3

/** Room that is kept for the server is free again where it has not asked for it for so long. */
const keptMs = 10_000
const keptBeside = 1 / 30

/** Counts requests by the exchange's own weights against its limit per minute. */
export interface RateLimiter {
  /**
   * @param payer who the query is made for; undefined: the server itself
   * @throws SluiceError RATE_LIMIT where the limit is used up, or a payer's part of it: nothing was sent
   */
  take(weight: number, what: 'query' | 'action', payer?: object): void
  /** Whether the server itself may take so much and leave callers their part. */
  hasRoom(weight: number): boolean
  /** Callers leave the server itself this room, beside the part for actions. Keeps it until the next call, for a while. @returns whether it is there */
  keepRoom(weight: number): boolean
  /** Adds the weight of an answer that was longer than its query accounts for. */
  charge(weight: number): void
  /** The exchange said that the limit is used up. */
  markExhausted(): void
}

export function createRateLimiter(perMinute: number, nowMs: () => number = () => performance.now()): RateLimiter {
  const bucket = createTokenBucket(perMinute, nowMs)
  const shares = createShares(nowMs)
  let kept = { weight: 0, untilMs: 0 }
  // What weighs more than half of a small limit is taken as soon as most of it is there.
  const atMostHalf = (weight: number) => Math.min(weight, perMinute / 2)
  /** What a query leaves. */
  const leftBy = (payer: object | undefined) => perMinute * reservedForActions + (payer && nowMs() < kept.untilMs ? kept.weight : 0)
  return {
    take(weight, what, payer) {
      const isScarce = bucket.left() - weight < perMinute * scarceBelow
      if (payer && shares.isOver(payer) && isScarce)
        throw new SluiceError(
          'RATE_LIMIT',
          "This client certificate has used its part of Hyperliquid's rate limit for one IP address, and others wait for theirs. Try again later, and ask less often.",
          { retryAfterSeconds: 5 },
        )
      const missing = weight - bucket.left() + (what === 'query' ? leftBy(payer) : 0)
      if (missing > 0) {
        const retryAfterSeconds = Math.max(1, Math.ceil(missing / (perMinute / 60)))
        throw new SluiceError('RATE_LIMIT', "Hyperliquid's rate limit for one IP address is used up for this minute. Try again later.", {
          retryAfterSeconds,
        })
      }
      bucket.spend(weight)
      if (payer) shares.spend(payer, weight)
    },
    hasRoom: (weight) => bucket.left() - atMostHalf(weight) >= perMinute * leftToCallers,
    keepRoom(weight) {
      // A little more, for what the server asks in the meantime: who takes all but the room itself would leave it short each time.
      kept = { weight: weight > 0 ? atMostHalf(weight) + perMinute * keptBeside : 0, untilMs: nowMs() + keptMs }
      return bucket.left() - atMostHalf(weight) >= perMinute * reservedForActions
    },
    charge: bucket.spend,
    markExhausted: () => bucket.spend(Math.max(0, bucket.left())),
  }
}

/** Where less of the limit is left, who has used more of it than others do not may not take the rest. */
const scarceBelow = 1 / 2
const minuteMs = 60_000

/** What each has spent within a minute, of those who asked within it. */
function createShares(nowMs: () => number) {
  const spent = new Map<object, { amount: number; at: number }>()

  /** Spending is forgotten steadily, within a minute or so. */
  function current(payer: object): number {
    const known = spent.get(payer)
    return known ? known.amount * Math.max(0, 1 - (nowMs() - known.at) / minuteMs) : 0
  }

  return {
    spend(payer: object, amount: number): void {
      spent.set(payer, { amount: current(payer) + amount, at: nowMs() })
    },
    /** Whether it has spent more than its share, where it is not alone. Who is asked about counts as one who wants some. */
    isOver(payer: object): boolean {
      for (const [each, { at }] of spent) if (nowMs() - at >= minuteMs) spent.delete(each)
      if (!spent.has(payer)) spent.set(payer, { amount: 0, at: nowMs() })
      const all = [...spent.keys()].reduce((sum, each) => sum + current(each), 0)
      return spent.size > 1 && current(payer) > all / spent.size
    },
  }
}

/** A token bucket: begins with the tokens of one minute and refills steadily. More than is left can be spent. */
export function createTokenBucket(perMinute: number, nowMs: () => number) {
  let tokens = perMinute
  let countedAt = nowMs()
  const left = (): number => {
    const now = nowMs()
    tokens = Math.min(perMinute, tokens + (Math.max(0, now - countedAt) * perMinute) / 60_000)
    countedAt = now
    return tokens
  }
  const spend = (count: number): void => {
    tokens = left() - count
  }
  return { left, spend }
}

const status = shape(object({ time: integer }))
/** Clocks drift slowly. */
const trustedMs = 60_000
/** If the time of day moves this far from the clock that nobody sets, the machine has slept, and that clock stood still; or it was set. */
const sleptMs = 1_000

/** The exchange's clock, which it judges nonces and the expiry of actions by. */
export interface ExchangeClock {
  /** Queries the time. Milliseconds since the Unix epoch. */
  sync(at: At): Promise<number>
  /** How far it is ahead of this machine's clock. Queries it where the last query is too long ago. */
  aheadMs(at: At): Promise<number>
  /** The time as far as it is known. */
  nowMs(): number
  /** The exchange mentioned a time, so that it is at least that late. */
  observe(timeMs: number): void
}

export function createClock(queryInfo: QueryInfo): ExchangeClock {
  let ahead = 0
  let synced: { atMs: number; timeOfDay: number } | undefined

  async function sync(at: At): Promise<number> {
    const before = machineMs()
    const { time } = await queryInfo({ type: timeQuery }, status, at)
    const after = machineMs()
    ahead = Math.round(time - (before + after) / 2)
    synced = { atMs: after, timeOfDay: Date.now() }
    return time
  }

  function isTrusted(): boolean {
    if (!synced) return false
    const ageMs = machineMs() - synced.atMs
    return ageMs <= trustedMs && Math.abs(Date.now() - synced.timeOfDay - ageMs) < sleptMs
  }

  return {
    sync,
    async aheadMs(at) {
      if (!isTrusted()) await sync(at)
      return ahead
    },
    nowMs: () => machineMs() + ahead,
    observe(timeMs) {
      ahead = Math.max(ahead, timeMs - machineMs())
    },
  }
}
