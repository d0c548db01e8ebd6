// A request to an address that an operator wrote down: where it leads is looked at when it is dialled, and little of the answer is read.
import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { isPublic, lookupPublic, type ResolveAll } from '../base/public-address.ts'
import { saidWithout } from '../config/mask.ts'

export interface WebCalls {
  /** @returns the status of the answer, and its beginning @throws Error where there is none in time, or it may not be asked */
  send(request: WebCall): Promise<{ readonly status: number; readonly text: string }>
  close(): Promise<void>
}

interface WebCall {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

export interface Reach {
  /** Addresses of private networks, too. */
  readonly allowPrivate: boolean
  /** Of names, where a test has them change. */
  readonly resolve?: ResolveAll | undefined
}

const [connectMs, answerMs] = [10_000, 15_000]
const maxAnswerBytes = 64 * 1024

export const notPublic = (address: string): string =>
  `${address} is not a public address: allowPrivate: true in conf/alerts.yml allows those of your own network`

/** No redirect is followed: it would lead where nobody has looked. */
export function createWebCalls({ allowPrivate, resolve }: Reach): WebCalls {
  let agent: Promise<Agent> | undefined

  async function createAgent(): Promise<Agent> {
    const { Agent } = await import('undici')
    return new Agent({
      connections: 2,
      pipelining: 1,
      maxResponseSize: maxAnswerBytes,
      headersTimeout: answerMs,
      bodyTimeout: answerMs,
      connect: { timeout: connectMs, ...(!allowPrivate && { lookup: lookupPublic(notPublic, resolve) }) },
    })
  }

  return {
    async send({ method, url, headers = {}, body, signal }) {
      const { hostname } = new URL(url)
      const address = hostname.replaceAll(/^\[|\]$/g, '')
      // A name is looked at when it is resolved.
      if (!allowPrivate && isIP(address) !== 0 && !isPublic(address)) throw new Error(notPublic(address))
      const { request } = await import('undici')
      const answer = await request(url, {
        dispatcher: await (agent ??= createAgent()),
        method,
        headers: { 'user-agent': 'sluice', 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
        signal,
      })
      return { status: answer.statusCode, text: await answer.body.text() }
    },
    async close() {
      await (await agent)?.destroy()
    },
  }
}

/** @param secrets that are taken out of what the other side says @throws Error where the request was not taken */
export function requireTaken({ status, text }: { readonly status: number; readonly text: string }, secrets: readonly string[]): void {
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400) throw new Error(`it answers HTTP ${status}, and no redirect is followed`)
  const said = saidWithout(secrets, text)
  throw new Error(`it answers HTTP ${status}${said === '' ? '' : `: ${said}`}`)
}
