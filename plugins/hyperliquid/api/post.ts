import { Pool } from 'undici'

const connections = 16
const timeoutMs = 10_000
const mostBytes = 32 * 1024 * 1024

/** What came back, or that nobody knows whether anything did. */
export type Posted =
  | { readonly is: 'answered'; readonly status: number; readonly body: unknown; readonly retryAfterSeconds?: number }
  | { readonly is: 'lost'; readonly reason: string }

export interface Post {
  (path: 'info' | 'exchange', json: string | Uint8Array, signal: AbortSignal): Promise<Posted>
  close(): Promise<void>
}

/** Keep-alive connections to the exchange's HTTP interface. Connects when it is used first. */
export function createPost(apiUrl: string): Post {
  const { origin, pathname } = new URL(apiUrl)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  let pool: Pool | undefined

  async function post(path: string, body: string | Uint8Array, signal: AbortSignal): Promise<Posted> {
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
