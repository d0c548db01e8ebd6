import { SluiceError, type At } from 'sluice/plugin'
import { Pool } from 'undici'
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
const weightOf = (type: string): number => (light.has(type) ? 2 : 20)
/** Long answers cost one more for so many entries. */
const entriesPerWeight = 20

interface InfoRequest {
  readonly type: string
  readonly [field: string]: string | number | boolean
}

/** Asks the exchange something; it changes nothing. @throws SluiceError NETWORK, RATE_LIMIT */
export type QueryInfo = <T>(question: InfoRequest, shape: Shape<T>, at: At) => Promise<T>

export function createInfoQuery(post: Post, budget: RateLimiter): QueryInfo {
  return async (question, shape, { signal }) => {
    budget.take(weightOf(question.type), 'question')
    const answer = await post('info', JSON.stringify(question), signal)
    if (answer.is === 'lost') throw away(answer.reason)
    const { status, body, retryAfterSeconds } = answer
    if (status === 429) {
      budget.markExhausted()
      throw new SluiceError('RATE_LIMIT', 'Hyperliquid takes no more requests from this IP address for now. Try again later.', {
        retryAfterSeconds: retryAfterSeconds ?? 10,
      })
    }
    if (status >= 500) throw away(`it failed (HTTP ${status})`)
    if (status !== 200) throw new Error(`Hyperliquid refused the question ${question.type} (HTTP ${status}).`)
    if (Array.isArray(body)) budget.charge(Math.floor(body.length / entriesPerWeight))
    return shape(body, question.type)
  }
}

const away = (reason: string) =>
  new SluiceError('NETWORK', `Hyperliquid cannot be asked: ${reason}. Try again, or check networks in conf/connectors/hyperliquid.yml.`, {
    retryAfterSeconds: 2,
  })

const connections = 16
const timeoutMs = 10_000
const mostBytes = 32 * 1024 * 1024

/** What came back, or that nobody knows whether anything did. */
export type PostResult =
  | { readonly is: 'answered'; readonly status: number; readonly body: unknown; readonly retryAfterSeconds?: number }
  | { readonly is: 'lost'; readonly reason: string }

export interface Post {
  (path: 'info' | 'exchange', json: string | Uint8Array, signal: AbortSignal): Promise<PostResult>
  close(): Promise<void>
}

/** Keep-alive connections to the exchange's HTTP interface. Connects when it is used first. */
export function createPost(apiUrl: string): Post {
  const { origin, pathname } = new URL(apiUrl)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  let pool: Pool | undefined

  async function post(path: string, body: string | Uint8Array, signal: AbortSignal): Promise<PostResult> {
    pool ??= new Pool(origin, {
      connections,
      maxResponseSize: mostBytes,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const response = await pool.request({ method: 'POST', path: folder + path, headers, body, signal: stop })
      const text = await response.body.text()
      const after = Number(response.headers['retry-after'])
      return { is: 'answered', status: response.statusCode, body: parsed(text), ...(after > 0 && { retryAfterSeconds: Math.ceil(after) }) }
    } catch (error) {
      signal.throwIfAborted()
      return { is: 'lost', reason: wordsOf(error) }
    }
  }

  return Object.assign(post, {
    async close() {
      await pool?.destroy()
    },
  })
}

/** Some refusals are plain text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Only the code: messages may name the whole URL. */
function wordsOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `it did not answer within ${timeoutMs / 1000} s`
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'the connection failed'
  return `it cannot be reached (${code})`
}

/** What actions may still take when questions took all that they may. */
const keptForActions = 1 / 6

/** How much may still be asked of the exchange, by its own weights: an allowance per minute that fills up steadily. */
export interface RateLimiter {
  /** @throws SluiceError RATE_LIMIT where it is used up: nothing was asked */
  take(weight: number, what: 'question' | 'action'): void
  /** What an answer cost beyond its question. */
  charge(weight: number): void
  /** The exchange says that it is used up, whatever was counted. */
  markExhausted(): void
}

export function createRateLimiter(perMinute: number, nowMs: () => number = Date.now): RateLimiter {
  const perMs = perMinute / 60_000
  let left = perMinute
  let countedAt = nowMs()

  function fill(): void {
    const now = nowMs()
    left = Math.min(perMinute, left + Math.max(0, now - countedAt) * perMs)
    countedAt = now
  }

  return {
    take(weight, what) {
      fill()
      const lacking = weight - left + (what === 'question' ? perMinute * keptForActions : 0)
      if (lacking > 0) {
        const retryAfterSeconds = Math.max(1, Math.ceil(lacking / perMs / 1000))
        throw new SluiceError('RATE_LIMIT', 'What Hyperliquid answers to one IP address within a minute is used up. Try again later.', {
          retryAfterSeconds,
        })
      }
      left -= weight
    },
    charge(weight) {
      fill()
      left -= weight
    },
    markExhausted() {
      fill()
      left = Math.min(left, 0)
    },
  }
}

const status = shape(object({ time: integer }))
/** Clocks drift slowly. */
const trustedMs = 60_000

/** The exchange's clock: nonces and the end of an action's time are judged by it. */
export interface ExchangeClock {
  /** Asks it. Milliseconds since the Unix epoch. */
  sync(at: At): Promise<number>
  /** By how much it is ahead of this machine's; asks where that was not asked for a while. */
  aheadMs(at: At): Promise<number>
  /** As far as is known. */
  nowMs(): number
  /** It said so, beside something else: it is that late at least. */
  observe(timeMs: number): void
}

export function createClock(ask: QueryInfo): ExchangeClock {
  let ahead = 0
  let askedAt: number | undefined

  async function askTime(at: At): Promise<number> {
    const before = Date.now()
    const { time } = await ask({ type: 'exchangeStatus' }, status, at)
    const after = Date.now()
    ahead = Math.round(time - (before + after) / 2)
    askedAt = after
    return time
  }

  return {
    sync: askTime,
    async aheadMs(at) {
      const ageMs = askedAt === undefined ? Infinity : Math.abs(Date.now() - askedAt)
      if (ageMs > trustedMs) await askTime(at)
      return ahead
    },
    nowMs: () => Date.now() + ahead,
    observe(timeMs) {
      ahead = Math.max(ahead, timeMs - Date.now())
    },
  }
}
