// Requests to the server that the page is from: their types are those of its interface.
import type { RequestAt, ResponseAt } from '../client/index.ts'
import type { AnyEndpoint } from '../core/api/index.ts'

type PathOf<Method extends AnyEndpoint['method']> = Extract<AnyEndpoint, { method: Method }>['path']
export type GetPath = PathOf<'GET'>
export type { RequestAt, ResponseAt }

/** What the server answers in the place of what was asked for. Without an answer the name is empty. */
export class Refusal extends Error {
  override readonly name: string
  readonly status: number

  constructor(message: string, name: string, status: number) {
    super(message)
    this.name = name
    this.status = status
  }
}

/** How far the browser's clock is behind that of the server: ages are by the server's. */
let behindMs = 0
export const serverNow = (): number => Date.now() + behindMs

export function learnServerTime(now: number): void {
  // Dates of HTTP have whole seconds.
  behindMs = Math.abs(now - Date.now()) < 2_000 ? 0 : now - Date.now()
}

/** Longer than the server's own deadline. */
const timeoutMs = 65_000

/** Nodes are asked for these. A browser has few connections to one server: what the server knows by itself is not to wait for them. */
const slow: ReadonlySet<string> = new Set<GetPath>(['/portfolio', '/allowances', '/network/status', '/books', '/health/ready'])
/** At once: of the six connections one is for events, and some stay for what is quick. */
const mostSlow = 3
/** However many quick ones there are, or hang. */
const slowWaitsMs = 500
/** Of what the server knows by itself: answers that are on their way. */
let quickCount = 0
let slowCount = 0
const waitingSlow: { begin(): void; hasWaited: boolean }[] = []

function letSlowBegin(): void {
  while (slowCount < mostSlow) {
    const [next] = waitingSlow
    if (!next || (quickCount > 0 && !next.hasWaited)) return
    waitingSlow.shift()
    slowCount += 1
    next.begin()
  }
}

/** A slow one begins when nothing quick is on its way, also of what is asked for in the same moment. */
async function inTurn<T>(isSlow: boolean, ask: () => Promise<T>): Promise<T> {
  if (isSlow) {
    await new Promise<void>((begin) => {
      const waiting = { begin, hasWaited: false }
      waitingSlow.push(waiting)
      setTimeout(letSlowBegin)
      setTimeout(() => {
        waiting.hasWaited = true
        letSlowBegin()
      }, slowWaitsMs)
    })
  } else quickCount += 1
  try {
    return await ask()
  } finally {
    if (isSlow) slowCount -= 1
    else quickCount -= 1
    letSlowBegin()
  }
}

interface Init {
  readonly headers?: Record<string, string>
  readonly body?: string
}

async function send(method: string, path: string, init: Init): Promise<unknown> {
  const answer = await fetch(path, { method, ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(() => {
    throw new Refusal('The server cannot be reached.', '', 0)
  })
  const date = Date.parse(answer.headers.get('date') ?? '')
  if (!Number.isNaN(date)) learnServerTime(date)
  const given: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && given !== undefined) return given
  // `/health/ready` answers 503 and names what fails.
  const { message, name, failing } = Object(given)
  if (Array.isArray(failing)) return given
  throw new Refusal(
    typeof message === 'string' ? message : `The server answers ${answer.status}.`,
    typeof name === 'string' ? name : '',
    answer.status,
  )
}

export function queryOf(request: object): string {
  const given = Object.entries(request).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

export interface Turn {
  /** The server knows it by itself, and what is looked at first goes before it. */
  readonly isLater?: boolean | undefined
  /** Its turn has come. */
  sent?(): void
}

export const get = <Path extends GetPath>(
  path: Path,
  request: RequestAt<'GET', Path>,
  { isLater = false, sent }: Turn = {},
): Promise<ResponseAt<'GET', Path>> =>
  inTurn(isLater || slow.has(path), () => {
    sent?.()
    return send('GET', `${path}${queryOf(request)}`, {})
  }) as Promise<ResponseAt<'GET', Path>>

const acting = (): Record<string, string> => ({ 'content-type': 'application/json', 'idempotency-key': `dashboard-${crypto.randomUUID()}` })

/** Of endpoints that make a transaction, each call is one: it has an Idempotency-Key of its own. */
export const post = <Path extends PathOf<'POST'>>(path: Path, request: RequestAt<'POST', Path>): Promise<ResponseAt<'POST', Path>> =>
  send('POST', path, { headers: acting(), body: JSON.stringify(request) }) as Promise<ResponseAt<'POST', Path>>

export const del = <Path extends PathOf<'DELETE'>>(path: Path, request: RequestAt<'DELETE', Path>): Promise<ResponseAt<'DELETE', Path>> =>
  send('DELETE', path, { headers: acting(), body: JSON.stringify(request) }) as Promise<ResponseAt<'DELETE', Path>>
