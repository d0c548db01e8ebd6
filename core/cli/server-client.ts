import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { fits } from '../base/schema-check.ts'
import { pause } from '../base/async.ts'
import { parseJson } from '../base/json.ts'
import { command } from '../base/layout.ts'
import { plainJson, shellWord } from '../base/printable.ts'
import * as Type from 'typebox'
import type { Static, TSchema } from 'typebox'
import { JournaledTransaction } from '../api/transactions.ts'
import type { Settings } from '../config/settings.ts'

/** Which server to ask, and with which certificate. */
interface ServerAccess {
  settings: Pick<Settings, 'server' | 'ssl'>
  /** E.g. https://sluice.example.org:15888; by default the server of these settings on this machine. */
  url?: string
  /** Folder of the certificates; by default that of the settings. */
  certs?: string
  /** Names of client certificates: the first one that exists is used. */
  clients: readonly string[]
  timeoutMs: number
}

interface ServerResponse {
  status: number
  text: string
  /** How long the server asks to wait before the request is repeated. */
  retryAfterSeconds?: number
}

export interface ServerClient {
  /** The name of the client certificate in use. */
  readonly as: string
  /** The server's, with its port. */
  readonly host: string
  get(target: string, query?: Readonly<Record<string, string>>): Promise<ServerResponse>
  /**
   * The text of an answer of any length, as it comes.
   * @throws NoResponse where there is none, where it breaks, and where the server has no room for it now; Error with the server's message
   */
  stream(target: string, query: Readonly<Record<string, string>>, mediaType: string, signal: AbortSignal): AsyncGenerator<string, void>
  post(target: string, body: object, headers?: Readonly<Record<string, string>>): Promise<ServerResponse>
  /** The same POST as a command of a shell, with this client's certificate. */
  curl(target: string, body: object): string
  delete(target: string, body: object): Promise<ServerResponse>
}

/** No response: nobody listens there, the handshake failed, it took too long, or it broke in the middle. */
export class NoResponse extends Error {}

/** The server's own error, by its name in the table of errors. */
export class RefusedByServer extends Error {
  readonly refusal: string

  constructor({ name, message, requestId }: Static<typeof Refusal>) {
    super(`${message} (${name}${requestId === undefined ? '' : `, request ${requestId}`})`)
    this.refusal = name
  }
}

/** A client of a running server over mutual TLS, like a bot. @throws Error where there is no client certificate */
export function serverClient({ settings, url, certs, clients, timeoutMs }: ServerAccess): ServerClient {
  const certsDir = certs ?? settings.ssl.certsDir
  const { as, ...certificate } = certificateOf(certsDir, clients)
  const base = baseOf(settings, url)
  const tls = { ...(url === undefined && { servername: ownName }), ...certificate }

  const unreachable = (error: unknown) => {
    throw new NoResponse(`The server at ${base.host} cannot be reached: ${why(error, timeoutMs)}.${whatToDo(error, certsDir)}`, {
      cause: error,
    })
  }

  const send = (method: string, target: URL, headers: Readonly<Record<string, string>> = {}, body?: string) =>
    new Promise<ServerResponse>((resolve, reject) => {
      const request = https.request(
        target,
        { ...tls, method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
        (response) => {
          let text = ''
          response
            .setEncoding('utf8')
            .on('data', (chunk: string) => void (text += chunk))
            .on('error', reject)
            .on('end', () => resolve({ status: response.statusCode ?? 0, text, ...retryAfter(response.headers['retry-after']) }))
        },
      )
      request.on('error', reject)
      request.end(body)
    }).catch(unreachable)

  async function* stream(
    target: string,
    query: Readonly<Record<string, string>>,
    mediaType: string,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const url = new URL(target, base)
    url.search = new URLSearchParams(query).toString()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = https.get(url, { ...tls, headers: { Accept: mediaType }, agent: false, signal, timeout: timeoutMs }, resolve)
      request.on('timeout', () => request.destroy(new Error(`nothing came for ${timeoutMs / 1000} s`)))
      request.on('error', reject)
    }).catch(unreachable)
    response.setEncoding('utf8')
    const { statusCode: status = 0, headers } = response
    let text = ''
    try {
      for await (const chunk of response) {
        if (status === 200) yield String(chunk)
        else text += String(chunk)
      }
    } catch (error) {
      throw new NoResponse(`The answer of the server at ${base.host} broke off: ${why(error, timeoutMs)}.`, { cause: error })
    }
    if (status === 200) return
    const refusal = refusedBy({ status, text })
    throw isForLaterOrLess({ status, text, ...retryAfter(headers['retry-after']) })
      ? new NoResponse(refusal.message, { cause: refusal })
      : refusal
  }

  function sendBody(method: string, target: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    const text = JSON.stringify(body)
    const length = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }
    return send(method, new URL(target, base), { ...length, ...headers }, text)
  }

  return {
    as,
    host: base.host,
    stream,
    get(target, query = {}) {
      const url = new URL(target, base)
      url.search = new URLSearchParams(query).toString()
      return send('GET', url)
    },
    post: (target, body, headers = {}) => sendBody('POST', target, body, headers),
    curl(target, body) {
      const files = { cacert: 'ca_cert', cert: `${as}_cert`, key: `${as}_key` }
      const tlsOptions = Object.entries(files).map(([option, file]) => `--${option} ${word(path.join(certsDir, `${file}.pem`))}`)
      // The name that the certificate has for sure.
      const shown = url === undefined && isLoopback(base.hostname) ? new URL(`https://${ownName}:${base.port}`) : base
      const data = ["-H 'Content-Type: application/json'", '-d', word(plainJson(JSON.stringify(body)))]
      return ['curl', ...tlsOptions, ...data, word(new URL(target, shown).href)].join(' ')
    },
    delete: (target, body) => sendBody('DELETE', target, body),
  }
}

const isLoopback = (hostname: string): boolean => ['127.0.0.1', '[::1]', ownName].includes(hostname)

/** As one word of a shell, plain where it can be. */
const word = (text: string): string => (/^[\w./:@%+-]+$/.test(text) ? text : shellWord(text))

/** The server's certificate always has this name, whatever address it listens on. */
export const ownName = 'localhost'

/** The first of these clients whose certificate is in the folder. @throws Error where there is none */
export function certificateOf(certsDir: string, clients: readonly string[]) {
  const as = clients.find((name) => existsSync(path.join(certsDir, `${name}_key.pem`)))
  if (as === undefined)
    throw new Error(
      `${certsDir} holds no certificate of the client ${clients.map((name) => `"${name}"`).join(' or ')}: create one with "${command} certs new ${clients[0]}".`,
    )
  return { as, ca: read(certsDir, 'ca_cert.pem'), cert: read(certsDir, `${as}_cert.pem`), key: read(certsDir, `${as}_key.pem`) }
}

/** Of the server that is asked. @throws Error */
export function baseOf({ server }: Pick<Settings, 'server'>, given: string | undefined): URL {
  if (given === undefined) {
    if (server.port === 0) throw new Error("server.port is 0 (any free port): give the server's port with --url https://localhost:<port>.")
    return urlOf(server)
  }
  return givenUrl(given)
}

/** @throws Error */
export function givenUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol !== 'https:') throw new Error(`--url is "${given}", but must be a URL such as https://sluice.example.org:15888.`)
  return url
}

/** Of a server on this machine. */
export const urlOf = ({ host, port }: Pick<Settings['server'], 'host' | 'port'>): URL => new URL(`https://${reachable(host)}:${port}`)

/** A server that listens on every address is asked on the loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  const address = host === '::' ? '::1' : host
  return address.includes(':') ? `[${address}]` : address
}

function read(certsDir: string, file: string): Buffer {
  try {
    return readFileSync(path.join(certsDir, file))
  } catch (cause) {
    throw new Error(`${path.join(certsDir, file)} cannot be read; name the folder of the certificates with --certs.`, { cause })
  }
}

const retryAfter = (header: string | undefined) => (/^\d{1,4}$/.test(header ?? '') ? { retryAfterSeconds: Number(header) } : {})

function why(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`
  // For a name with several addresses, the causes are inside.
  return error.message || (error instanceof AggregateError ? error.errors.map(String).join('; ') : error.name)
}

const foreignCertificate = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]

function whatToDo(error: unknown, certsDir: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ECONNREFUSED')
    return ` Nothing listens there: start it (${command} start), or name its address with --set server.port=… or --url.`
  if (foreignCertificate.includes(code))
    return ` What listens there is the server of another folder, whose certificate ${certsDir} does not vouch for: name that folder with --home.`
  return ''
}

const Page = Type.Object({
  transactions: Type.Array(JournaledTransaction),
  unavailable: Type.Optional(Type.Array(Type.Object({ id: Type.String(), reason: Type.String() }))),
  nextCursor: Type.Optional(Type.String()),
})
type MissingRow = NonNullable<Static<typeof Page>['unavailable']>[number]
const Pruned = Type.Object({
  archived: Type.Integer(),
  kept: Type.Integer(),
  folder: Type.String(),
  next: Type.Optional(Type.String()),
})
const Replaced = Type.Object({ txHash: Type.String(), nonce: Type.Number() })
const Refusal = Type.Object({ name: Type.String(), message: Type.String(), requestId: Type.Optional(Type.String()) })

export type TransactionFilter = Readonly<Record<string, string>>

/** The journal of a running server, over its HTTP interface. */
export interface JournalClient {
  /** Newest first, from all pages, at most `atMost`. */
  list(filter: TransactionFilter, atMost: number): Promise<{ transactions: JournaledTransaction[]; isMore: boolean }>
  /** Moves some old transactions to the archive, or only counts them. @throws Error with the server's message */
  prune(request: { olderThanDays: number; dryRun: boolean; after?: string }): Promise<Static<typeof Pruned>>
  /** Acts once, however often the request is repeated. @throws Error with the server's message */
  act(path: string, request: object): Promise<Static<typeof Replaced>>
}

const pageSize = 500
const maxTries = 5

/** @param missing is told of rows that the server cannot read, which no list has */
export function journalClient(server: ServerClient, missing: (row: MissingRow) => void = () => {}): JournalClient {
  function pageOf(answer: ServerResponse): Static<typeof Page> {
    const page = readResponse(Page, answer)
    for (const row of page.unavailable ?? []) missing(row)
    return page
  }
  return {
    async list(filter, atMost) {
      const transactions: JournaledTransaction[] = []
      let cursor: string | undefined
      do {
        const limit = String(Math.min(pageSize, atMost - transactions.length))
        const page = pageOf(await server.get('/transactions', { ...filter, limit, ...(cursor !== undefined && { cursor }) }))
        transactions.push(...page.transactions)
        cursor = page.nextCursor
      } while (cursor !== undefined && transactions.length < atMost)
      return { transactions, isMore: cursor !== undefined }
    },
    // An archive that cannot be written is told at once.
    prune: async (request) => readResponse(Pruned, await patiently(() => server.post('/transactions/prune', request), isTooMany)),
    async act(path, request) {
      // The server acts once per key, so that a repeated request is safe.
      const headers = { 'Idempotency-Key': `sluice-tx-${randomUUID()}` }
      return readResponse(Replaced, await patiently(() => server.post(path, request, headers), isForLater))
    },
  }
}

/** Asks again where there is no response, and where it says so. */
export async function patiently(ask: () => Promise<ServerResponse>, isLater: (answer: ServerResponse) => boolean): Promise<ServerResponse> {
  for (let tries = 1; ; tries++) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof NoResponse && tries < maxTries) return undefined
      throw error
    })
    if (answer && (!isLater(answer) || tries === maxTries)) return answer
    await pause((answer?.retryAfterSeconds ?? 1) * 1000)
  }
}

/** The server sheds load, or still works on the first attempt. */
const isForLater = ({ status, retryAfterSeconds }: ServerResponse) => [409, 503].includes(status) && retryAfterSeconds !== undefined

const isTooMany = ({ status, retryAfterSeconds }: ServerResponse) => status === 429 && retryAfterSeconds !== undefined
export const isForLaterOrLess = (answer: ServerResponse) => isForLater(answer) || isTooMany(answer)

/** @throws RefusedByServer; Error where the response is of another version or another server */
export function readResponse<T extends TSchema>(schema: T, { status, text }: ServerResponse): Static<T> {
  const answer = parseJson(text)
  if (status === 200) {
    if (fits(schema, answer)) return answer
    throw new Error('This version of the command does not know the form of the response: use the command that came with the server.')
  }
  throw refusedBy({ status, text })
}

function refusedBy({ status, text }: ServerResponse): Error {
  const answer = parseJson(text)
  return fits(Refusal, answer) ? new RefusedByServer(answer) : new Error(`The response is not from a Sluice server: HTTP ${status}.`)
}
