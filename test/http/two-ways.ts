// A GET goes beside Koa, and through it where it announces a body, also an empty one: what each of both ways answers, byte for byte.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import Koa from 'koa'

/** A busy server may take as long for three answers as the chain takes for a block. */
const maxTries = 40

export const throughKoa = { 'Content-Length': '0' }

export interface TwoWays {
  /** Status, headers as they are written, and body, without what differs each time. */
  bytesOf(url: string, headers: Readonly<Record<string, string>>): Promise<string>
  /** Both, of one state of the chain, and how often they were asked for. */
  bothOf(url: string): Promise<{ readonly direct: string; readonly koa: string; readonly tries: number }>
  /** How many contexts Koa has made since. */
  contexts(): number
  close(): void
}

/** @param differing what differs each time, as one text stands for it */
export function twoWays(
  base: string,
  certsDir: string,
  differing: (body: string) => string = (body) =>
    body.replaceAll(/"(timestamp|latency|latencyMs|ageSeconds|uptimeSeconds)":[\d.e-]+/g, '"$1":…'),
): TwoWays {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const agent = new Agent({
    ca: read('ca_cert.pem'),
    cert: read('client_cert.pem'),
    key: read('client_key.pem'),
    keepAlive: true,
    maxSockets: 1,
  })
  let contexts = 0
  const { createContext } = Koa.prototype
  const counted = function (this: Koa, ...args: Parameters<typeof createContext>) {
    contexts += 1
    return createContext.apply(this, args)
  }
  Object.assign(Koa.prototype, { createContext: counted })

  async function bytesOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
    const asking = request(new URL(url, base), { agent, headers: { 'X-Request-Id': 'both', ...headers } }).end()
    const [answer]: IncomingMessage[] = (await once(asking, 'response')) as [IncomingMessage]
    if (!answer) throw new Error('no answer')
    const body = await text(answer)
    expect(answer.headers['content-length']).to.equal(String(Buffer.byteLength(body)))
    const raw = answer.rawHeaders
      .join('\n')
      .replace(/\nDate\n.*/, '\nDate\n…')
      .replace(/\nContent-Length\n.*/, '\nContent-Length\n…')
    return `${answer.statusCode} ${answer.statusMessage}\n${raw}\n\n${differing(body)}`
  }

  return {
    bytesOf,
    async bothOf(url) {
      for (let tries = 1; ; tries += 1) {
        const direct = await bytesOf(url, {})
        const koa = await bytesOf(url, throughKoa)
        if (tries === maxTries || direct === (await bytesOf(url, {}))) return { direct, koa, tries }
      }
    },
    contexts: () => contexts,
    close() {
      Object.assign(Koa.prototype, { createContext })
      agent.destroy()
    },
  }
}
