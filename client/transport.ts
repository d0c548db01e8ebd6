// Requests over mutual TLS, repeated until there is an answer.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { interfaceVersion, versionHeader } from '../core/api/version.ts'
import { CertificateError, InterfaceVersionError, NoAnswerError, RefusedError } from './errors.ts'

export interface ClientOptions {
  /** E.g. `https://localhost:15888`, which is the default. */
  readonly url?: string
  /** The folder with `ca_cert.pem` and the certificate and key of the client; `certs` by default. */
  readonly certs?: string
  /** Of the certificate: `client` is `client_cert.pem` and `client_key.pem`. */
  readonly name?: string
  /** Of the key, if it has one. */
  readonly passphrase?: string
  /** How long a request is repeated while there is no answer, in milliseconds: 60,000 by default. */
  readonly timeoutMs?: number
}

export interface CallOptions {
  /** Of a request that acts: the same key for the same request. By default a new one for each call. */
  readonly idempotencyKey?: string
  /** In place of the client's. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** As Node gives the names of headers. */
const versionHeaderRead = versionHeader.toLowerCase()

type Method = 'GET' | 'POST' | 'DELETE'
type Headers = Record<string, string>

export interface Transport {
  /** @returns the parsed body of an answer with the status 200 @throws RefusedError, NoAnswerError, CertificateError, InterfaceVersionError, TypeError */
  call(method: Method, target: string, fields: object, options?: CallOptions): Promise<unknown>
  /** One try at an answer without end. @throws as `call`; an error of the connection as it is */
  open(target: string, fields: object, headers: Headers, signal: AbortSignal | undefined): Promise<IncomingMessage>
  close(): void
}

/** Of one try, which the server ends after `server.requestTimeoutSeconds`, 30 by default. */
const tryMs = 60_000
const [firstPauseMs, longestPauseMs] = [100, 2_000]
/** A server that dies ends one or two connections so. */
const maxHandshakes = 4
class EndedAfterHandshake extends Error {}

/** The server does nothing of it, or has not done it yet: to be sent again. The other statuses are answers. */
const isNoAnswer = ({ status, name }: RefusedError) => status === 429 || status === 503 || status === 504 || name === 'IN_FLIGHT'

export function createTransport(options: ClientOptions): Transport {
  const { url = 'https://localhost:15888', certs = 'certs', name = 'client', passphrase, timeoutMs: usualMs = 60_000 } = options
  const base = new URL(url)
  if (base.protocol !== 'https:') throw new TypeError(`${url} is no address of Sluice, which speaks https only.`)
  const read = (file: string) => readFileSync(path.join(certs, file))
  const tls = {
    ca: read('ca_cert.pem'),
    cert: read(`${name}_cert.pem`),
    key: read(`${name}_key.pem`),
    ...(passphrase !== undefined && { passphrase }),
  }
  const agent = new https.Agent({ keepAlive: true, ...tls })
  const place = { agent, host: base.hostname.replaceAll(/[[\]]/g, ''), port: base.port === '' ? 443 : Number(base.port) }
  let isCompatible: Promise<void> | undefined
  let refusal: InterfaceVersionError | undefined

  /** One try. @param mostMs until the end of the answer @throws the connection's error */
  function send(
    method: Method,
    target: string,
    headers: Headers,
    body: string | undefined,
    signal: AbortSignal | undefined,
    mostMs?: number,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
      const asked = { ...place, path: target, method, headers: { ...headers, ...length }, ...(signal && { signal }) }
      const request = https.request(asked, (incoming) => {
        refusal = versionRefusal(incoming.headers[versionHeaderRead])
        resolve(incoming)
      })
      if (mostMs !== undefined) {
        const late = setTimeout(() => request.destroy(new Error(`no answer came within ${mostMs} ms`)), mostMs)
        request.once('close', () => clearTimeout(late))
      }
      request.on('error', (error) => {
        // Node ends the connection of a client whose certificate it refuses after the handshake, and says nothing.
        const { reusedSocket, socket } = request
        const isRefused = !reusedSocket && socket instanceof TLSSocket && socket.authorized && Reflect.get(error, 'code') === 'ECONNRESET'
        reject(isRefused ? new EndedAfterHandshake(error.message, { cause: error }) : error)
      })
      request.end(body)
    })
  }

  /** One try, as long as there is time. @throws what no other try can change */
  async function once(
    method: Method,
    target: string,
    headers: Headers,
    body: string | undefined,
    end: number,
    signal: AbortSignal | undefined,
  ) {
    const leftMs = Math.ceil(Math.max(1, Math.min(tryMs, end - performance.now())))
    try {
      const incoming = await send(method, target, headers, body, signal, leftMs)
      const answer = parsed(await readText(incoming))
      return { status: incoming.statusCode ?? 0, answer, retryAfter: incoming.headers['retry-after'] }
    } catch (failure) {
      if (signal?.aborted) throw signal.reason
      const refused = certificateError(failure)
      if (refused) throw refused
      return { failure }
    }
  }

  async function untilAnswered(
    method: Method,
    target: string,
    headers: Headers,
    body: string | undefined,
    { timeoutMs = usualMs, signal }: CallOptions,
  ) {
    const key = headers['idempotency-key']
    const end = performance.now() + timeoutMs
    let pauseMs = firstPauseMs
    let last: unknown
    let handshakes = 0
    for (;;) {
      signal?.throwIfAborted()
      const response = await once(method, target, headers, body, end, signal)
      let waitMs = pauseMs * (0.5 + Math.random() / 2)
      handshakes = 'failure' in response && response.failure instanceof EndedAfterHandshake ? handshakes + 1 : 0
      if (handshakes === maxHandshakes) throw certificateRefused(key)
      if ('failure' in response) last = response.failure
      else {
        const { status, answer, retryAfter } = response
        if (status === 200 && answer !== undefined) return answer
        const refused = refusedBy(status, answer)
        if (!isNoAnswer(refused)) throw refused
        last = refused
        waitMs = Math.max(waitMs, 1000 * Number(retryAfter ?? 0))
      }
      if (performance.now() + waitMs >= end) throw noAnswer(method, target, base, { key, last, timeoutMs })
      await sleep(waitMs, undefined, signal && { signal })
      pauseMs = Math.min(longestPauseMs, pauseMs * 2)
    }
  }

  /** Before the first request: what it does must not be done by a server that means something else by it. */
  async function checkVersion(call: CallOptions): Promise<void> {
    if (refusal) throw refusal
    isCompatible ??= untilAnswered('GET', '/', {}, undefined, call).then(() => {
      if (refusal) throw refusal
    })
    try {
      await isCompatible
    } catch (error) {
      isCompatible = undefined
      throw error
    }
  }

  return {
    async call(method, target, fields, call = {}) {
      refuseFloats(fields)
      await checkVersion(call)
      if (method === 'GET') return untilAnswered(method, `${target}${queryOf(fields)}`, {}, undefined, call)
      const headers = { 'idempotency-key': call.idempotencyKey ?? randomUUID() }
      return untilAnswered(method, target, headers, JSON.stringify(fields), call)
    },
    async open(target, fields, headers, signal) {
      refuseFloats(fields)
      await checkVersion({ ...(signal && { signal }) })
      const incoming = await send('GET', `${target}${queryOf(fields)}`, headers, undefined, signal).catch((thrown: unknown) => {
        throw certificateError(thrown) ?? thrown
      })
      if (incoming.statusCode === 200) return incoming
      throw refusedBy(incoming.statusCode ?? 0, parsed(await readText(incoming)))
    },
    close: () => agent.destroy(),
  }
}

/** Whether it is to be repeated: an answer that a stream could not be opened now. */
export const isPassing = (error: unknown): boolean => !(error instanceof RefusedError) || isNoAnswer(error)

function noAnswer(
  method: string,
  target: string,
  base: URL,
  { key, last, timeoutMs }: { key: string | undefined; last: unknown; timeoutMs: number },
): NoAnswerError {
  const why = last instanceof Error ? last.message : 'nothing came'
  const asked = target.split('?')[0]
  return new NoAnswerError(`${base.host} did not answer ${method} ${asked} within ${timeoutMs / 1000} s: ${why}.${mayBeDone(key)}`, {
    idempotencyKey: key,
    cause: last,
  })
}

/** Amounts are exact: 0.1 + 0.2 is not 0.3 as a number. */
function refuseFloats(value: unknown, field = ''): void {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new TypeError(`${field.slice(1)}: ${value} is a floating-point number. Give amounts and prices as strings, such as "${value}".`)
  if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) refuseFloats(each, Array.isArray(value) ? `${field}[${name}]` : `${field}.${name}`)
}

/** Lists are split at commas. */
function queryOf(fields: object): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

function readText(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    incoming
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .once('end', () => resolve(text))
      .once('error', reject)
      .once('close', () => reject(new Error('the answer ended before its end')))
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusedBy(status: number, answer: unknown): RefusedError {
  const { name, message, errorCode, details, requestId } = Object(answer)
  return new RefusedError(typeof message === 'string' ? message : `The answer has the status ${status} and no text of Sluice.`, {
    name: typeof name === 'string' ? name : 'UNKNOWN_ERROR',
    code: typeof errorCode === 'number' ? errorCode : 1099,
    status,
    details,
    requestId: typeof requestId === 'string' ? requestId : undefined,
  })
}

const mayBeDone = (key: string | undefined) =>
  key === undefined
    ? ''
    : ` It may have been done: send the same request again with the idempotency key ${key}, and it is done once at most.`

// The client cannot know how the operator's Sluice is installed: it has the command's plain name.
const certificateRefused = (key: string | undefined) =>
  new CertificateError(
    `The server ends every connection after the handshake: this client's certificate was revoked or has expired. Ask the operator for a new one (sluice certs renew).${mayBeDone(key)}`,
    { ...(key !== undefined && { idempotencyKey: key }) },
  )

/** Undefined where the error is none of TLS. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
function certificateError(thrown: unknown): CertificateError | undefined {
  const { code, message } = Object(thrown)
  if (typeof code !== 'string') return undefined
  if (/^ERR_SSL_.*ALERT.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(code))
    return new CertificateError(
      `The server refuses this client's certificate (${code}): it was revoked, has expired, or is of another CA. Ask the operator for a new one (sluice certs renew).`,
      { cause: thrown },
    )
  if (/^(ERR_TLS_CERT|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_OSSL|ERR_SSL_.*(KEY|CERT))/.test(code))
    return new CertificateError(
      `The server's certificate cannot be checked with ca_cert.pem, or the client's cannot be used (${code}: ${message}).`,
      {
        cause: thrown,
      },
    )
  return undefined
}

/** A server that does not say is of 1.x. */
function versionRefusal(served: string | string[] | undefined): InterfaceVersionError | undefined {
  const major = (version: string) => version.split('.')[0]
  if (typeof served !== 'string' || major(served) === major(interfaceVersion)) return undefined
  return new InterfaceVersionError(
    `The server has the interface ${served}, and this client is for ${interfaceVersion}: use the client of the server's release.`,
  )
}
