// A client that asks and reads as Hummingbot's do: what it reads has the type that they calculate with, or it throws as they would.
import { readFileSync } from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { expect } from 'chai'
import { createClient, type Answer, type Client } from '../../../testkit/client.ts'
import type { TestServer } from '../../../testkit/server.ts'

export const chainNetwork = 'ethereum-local'

type Query = Readonly<Record<string, string>>

export class Bot {
  readonly #http: Client

  constructor(http: Client) {
    this.#http = http
  }

  /** Any status but 200 is an error. */
  async get(path: string, query: Query = {}): Promise<Answer['body']> {
    return read(await this.#http.get(path, query), path)
  }

  async post(path: string, body: object = {}): Promise<Answer['body']> {
    return read(await this.#http.post(path, body), path)
  }

  /** Of a GET, whatever its status is. */
  answer(path: string, query: Query = {}): Promise<Answer> {
    return this.#http.get(path, query)
  }

  /** Status and body of what is refused. */
  async refusal(method: 'GET' | 'POST' | 'DELETE', path: string, fields: object = {}): Promise<{ status: number; body: Answer['body'] }> {
    const query = new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]))
    const headers = { 'content-type': 'application/json' }
    const { status, body } =
      method === 'GET'
        ? await this.#http.request(method, `${path}?${query.toString()}`)
        : await this.#http.request(method, path, { raw: JSON.stringify(fields), headers })
    expect(body, path).to.include.keys('statusCode', 'error', 'message')
    expect(body.statusCode).to.equal(status)
    expect(JSON.stringify(body)).not.to.contain('TRANSACTION_TIMEOUT')
    return { status, body }
  }
}

function read({ status, body, text, headers }: Answer, path: string): Answer['body'] {
  expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200)
  expect(headers['content-type']).to.contain('application/json')
  return body
}

/** A decimal as text. */
export function decimals(body: Readonly<Record<string, unknown>>, ...names: readonly string[]): void {
  for (const name of names) expect(body[name], name).to.match(/^\d+(\.\d+)?$/)
}

export function numbers(body: Readonly<Record<string, unknown>>, ...names: readonly string[]): void {
  for (const name of names) expect(typeof body[name], name).to.equal('number')
}

export function texts(body: Readonly<Record<string, unknown>>, ...names: readonly string[]): void {
  for (const name of names) expect(body[name], name).to.be.a('string').and.not.equal('')
}

/** Sends it over a connection of its own, which is cut by `cut`. */
export function cuttablePost(url: URL, certsDir: string, body: object): { answer: Promise<unknown>; cut: () => void } {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const text = JSON.stringify(body)
  const request = https.request(url, {
    method: 'POST',
    agent: false,
    ca: read('ca_cert.pem'),
    cert: read('client_cert.pem'),
    key: read('client_key.pem'),
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  })
  const answer = new Promise((resolve) => request.on('response', (found) => resolve(found.statusCode)).on('error', resolve))
  request.end(text)
  return { answer, cut: () => void request.destroy() }
}

/** Bots with a client of their own each, and what closes all of these. */
export function botsOf(server: () => TestServer): { botOf(certificate?: string): Bot; clients: readonly Client[]; close(): void } {
  const clients: Client[] = []
  return {
    clients,
    botOf(certificate) {
      const client = createClient(server().kernel.interfaceUrls['hummingbot'] ?? '', server().certsDir, certificate)
      clients.push(client)
      return new Bot(client)
    },
    close() {
      for (const client of clients) client.close()
    },
  }
}
