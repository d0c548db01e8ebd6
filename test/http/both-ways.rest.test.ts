import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import Koa from 'koa'
import { endpoints } from '../../core/api/index.ts'
import examples from '../../core/http/openapi-examples.json' with { type: 'json' }
import { sharedServer, type SharedServer } from './shared-server.ts'

/** What announces a body goes through Koa, also where the body is empty. */
const throughKoa = { 'Content-Length': '0' }

describe('a GET that is answered beside Koa', function () {
  this.timeout(60_000)
  let server: SharedServer
  let agent: Agent
  let contexts = 0
  const { createContext } = Koa.prototype
  before(async () => {
    server = await sharedServer()
    const read = (file: string) => readFileSync(path.join(server.certsDir, file))
    agent = new Agent({
      ca: read('ca_cert.pem'),
      cert: read('client_cert.pem'),
      key: read('client_key.pem'),
      keepAlive: true,
      maxSockets: 1,
    })
    const counted = function (this: Koa, ...args: Parameters<typeof createContext>) {
      contexts += 1
      return createContext.apply(this, args)
    }
    Object.assign(Koa.prototype, { createContext: counted })
  })
  after(() => {
    Object.assign(Koa.prototype, { createContext })
    agent.destroy()
  })

  /** Status, headers as they are written, and body, without what differs each time. */
  async function bytesOf(url: string, headers: Record<string, string>): Promise<string> {
    const asking = request(new URL(url, server.url), { agent, headers: { 'X-Request-Id': 'both', ...headers } }).end()
    const [answer]: IncomingMessage[] = (await once(asking, 'response')) as [IncomingMessage]
    if (!answer) throw new Error('no answer')
    const body = await text(answer)
    expect(answer.headers['content-length']).to.equal(String(Buffer.byteLength(body)))
    const raw = answer.rawHeaders
      .join('\n')
      .replace(/\nDate\n.*/, '\nDate\n…')
      .replace(/\nContent-Length\n.*/, '\nContent-Length\n…')
    const shown = body.replaceAll(/"(timestamp|latency|latencyMs|ageSeconds|uptimeSeconds)":[\d.e-]+/g, '"$1":…')
    return `${answer.statusCode} ${answer.statusMessage}\n${raw}\n\n${shown}`
  }

  /** Both, of one state of the chain. */
  async function bothOf(url: string): Promise<{ direct: string; koa: string }> {
    for (let tries = 0; ; tries += 1) {
      const direct = await bytesOf(url, {})
      const koa = await bytesOf(url, throughKoa)
      if (tries === 5 || direct === (await bytesOf(url, {}))) return { direct, koa }
    }
  }

  const captured: Readonly<Record<string, { readonly request?: object }>> = examples
  for (const { name, method, path: route } of endpoints) {
    if (method !== 'GET') continue
    it(`has every byte that it has through Koa: ${route}`, async () => {
      const query = new URLSearchParams()
      for (const [key, value] of Object.entries(captured[name]?.request ?? {})) query.set(key, String(value))
      for (const url of new Set([`${route}?${query.toString()}`, route, `${route}?nonsense=1`])) {
        const before = contexts
        const { direct, koa } = await bothOf(url)
        expect(direct).to.equal(koa)
        expect(contexts - before).to.be.within(1, 6)
      }
    })
  }

  it('goes through Koa only where it announces a body, or is of no endpoint', async () => {
    const before = contexts
    await bytesOf('/', {})
    expect(contexts).to.equal(before)
    await bytesOf('/', throughKoa)
    await bytesOf('/docs/start.js', {})
    expect(contexts).to.equal(before + 2)
  })
})
