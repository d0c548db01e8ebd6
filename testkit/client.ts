/// <reference types="node" preserve="true" />
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { parseJson } from '../core/base/json.ts'

export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** The parsed JSON; undefined for other answers. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever was answered
  body: any
}

export interface RequestOptions {
  headers?: Record<string, string>
  /** The body, sent as it is. */
  raw?: string
}

export interface Client {
  get(path: string, query?: Record<string, string | readonly string[]>, options?: RequestOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** GET of an answer without end, such as an event stream. The caller reads it. */
  open(path: string, query?: Record<string, string | readonly string[]>, options?: RequestOptions): Promise<IncomingMessage>
  close(): void
}

/** An HTTPS client, as a bot has one: with a certificate from `certsDir` and keep-alive connections. */
export function createClient(url: string, certsDir: string, name = 'client'): Client {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const files = { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }
  // It leaves idle connections before the server does: a request on one that the server closes at that moment has no answer.
  const agent = new https.Agent({ keepAlive: true, timeout: 30_000, ...files })
  const open = (method: string, target: string, options: RequestOptions = {}) => send(new URL(target, url), method, agent, options)
  const request = async (method: string, target: string, options?: RequestOptions) => readAll(await open(method, target, options))
  const json = { 'content-type': 'application/json' }

  return {
    request,
    open: (target, query, options) => open('GET', withQuery(target, query), options),
    get: (target, query, options) => request('GET', withQuery(target, query), options),
    post: (target, body = {}, { headers, ...options } = {}) =>
      request('POST', target, { raw: JSON.stringify(body), ...options, headers: { ...json, ...headers } }),
    close: () => agent.destroy(),
  }
}

function withQuery(target: string, query: Record<string, string | readonly string[]> = {}): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => [value].flat().map((each): [string, string] => [key, each])),
  )
  return search.size === 0 ? target : `${target}?${search.toString()}`
}

function send(url: URL, method: string, agent: https.Agent, { headers = {}, raw }: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = raw === undefined ? {} : { 'content-length': String(Buffer.byteLength(raw)) }
    https
      .request(url, { method, agent, headers: { ...headers, ...length } }, resolve)
      .on('error', reject)
      .end(raw)
  })
}

function readAll(incoming: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', reject)
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parseJson(text) })
    })
  })
}
