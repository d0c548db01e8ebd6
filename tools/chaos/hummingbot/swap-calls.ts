import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLocalProxy } from '../../../core/cli/local-proxy.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import { startLinks, type Link, type Links } from './links.ts'

/** What came of one request for a swap. */
export type SwapOutcome =
  /** `amountIn`: what it says was sold. */
  | { readonly is: 'signature'; readonly signature: string; readonly isMined: boolean; readonly amountIn?: string; readonly text: string }
  | { readonly is: 'refusal'; readonly status: number; readonly name: string; readonly code: string; readonly text: string }
  /** `unread`: in the end, the signature in an answer that the server wrote to a line which stood, and that reached nobody: it cannot know. */
  | { readonly is: 'lost'; readonly reason: string; readonly unread: () => string | undefined }

/** Of a bot to the server: a connection of TLS for each request, or plain HTTP to `sluice proxy`. */
export type Way = 'tls' | 'proxy'

/** What befalls a request. */
type Fate =
  | { readonly is: 'none' }
  | { readonly is: 'cut' | 'abort' | 'leave unread' | 'stall up' | 'stall down'; readonly afterMs: number }

/** Of clients it is 300 s: here shorter, as all windows are. */
export const clientLimitMs = 28_000

export function fateOf(random: Random, way: Way): Fate {
  const afterMs = random.chance(0.3) ? random.between(20, 150) : random.between(100, 1_500)
  const drawn = random.next()
  if (drawn < 0.1) return { is: 'abort', afterMs }
  if (way === 'proxy' && drawn < 0.27) return { is: 'leave unread', afterMs }
  if (way === 'proxy' || drawn > 0.27) return { is: 'none' }
  if (drawn < 0.25) return { is: 'cut', afterMs }
  return { is: drawn < 0.26 ? 'stall up' : 'stall down', afterMs: random.between(0, 100) }
}

export interface SwapCalls {
  /** How many requests for swaps have no answer yet. */
  readonly underWay: number
  post(way: Way, path: string, body: string, requestId: string, fate: Fate): Promise<SwapOutcome>
  /** A path without faults, such as `poll`. */
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown>
  /** Cuts the connections that the proxy has to the server. */
  cutProxied(): void
  stop(): Promise<void>
}

export async function startSwapCalls(world: World): Promise<SwapCalls> {
  const target = () => portOf(world)
  const read = (file: string) => readFileSync(path.join(world.home.certsDir, file))
  const pair = (name: string) => ({ cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) })
  const [ca, client] = [read('ca_cert.pem'), pair('client')]
  const files = { ca, ...client }
  const linkFiles = { ca, client, server: pair('server') }
  // What a server sees of a bot is the line, which speaks TLS for it.
  const [direct, proxied] = await Promise.all([startLinks(target, linkFiles, 'plain'), startLinks(target, linkFiles)])
  const proxy = await startLocalProxy({
    port: 0,
    upstream: { host: '127.0.0.1', port: proxied.port, servername: 'localhost', ...files },
    log: () => {},
  })
  const kept = new https.Agent({ keepAlive: true, ...files })
  const ends: Readonly<Record<Way, { readonly url: string; readonly links: Links }>> = {
    tls: { url: `http://127.0.0.1:${direct.port}`, links: direct },
    proxy: { url: `http://127.0.0.1:${proxy.port}`, links: proxied },
  }

  let underWay = 0
  return {
    get underWay() {
      return underWay
    },
    async post(way, target, body, requestId, fate) {
      const { url, links } = ends[way]
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-request-id': requestId }
      const unread = () => signatureIn(links.answerTo(requestId))
      if (fate.is === 'leave unread') {
        underWay += 1
        await leaveUnread(new URL(target, url), { headers, body }, fate.afterMs)
        underWay -= 1
        return { is: 'lost', reason: 'the client left without reading', unread }
      }
      const call = http.request(new URL(target, url), { method: 'POST', agent: false, headers })
      let link: Link | undefined
      call.on('socket', (socket) => {
        socket.on('connect', () => setImmediate(() => (link = links.of(socket.localPort ?? 0))))
      })
      const timers = [setTimeout(() => call.destroy(new Error('no answer within the limit')), clientLimitMs)]
      if (fate.is !== 'none')
        timers.push(
          setTimeout(() => {
            if (fate.is === 'abort') call.destroy(new Error('the client left'))
            else if (fate.is === 'cut') link?.cut()
            else link?.stall(fate.is === 'stall up' ? 'up' : 'down')
          }, fate.afterMs),
        )
      underWay += 1
      call.end(body)
      try {
        return await outcomeOf(call)
      } catch (error) {
        return { is: 'lost', reason: error instanceof Error ? error.message : String(error), unread }
      } finally {
        underWay -= 1
        for (const timer of timers) clearTimeout(timer)
      }
    },
    async ask(method, target, body) {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      const port = portOf(world)
      if (port === undefined) throw new Error('There is no server.')
      const call = https.request({
        host: '127.0.0.1',
        servername: 'localhost',
        port,
        path: target,
        method,
        agent: kept,
        headers,
        timeout: clientLimitMs,
      })
      call.on('timeout', () => call.destroy(new Error('no answer within the limit')))
      call.end(text)
      const { status, text: found } = await answerOf(call)
      if (status !== 200) throw new Error(found)
      return JSON.parse(found)
    },
    cutProxied: () => proxied.cutAll(),
    async stop() {
      kept.destroy()
      await proxy.stop(0)
      direct.stop()
      proxied.stop()
    },
  }
}

function portOf({ servers: [server] }: World): number | undefined {
  const url = server && !server.hasEnded() ? server.interfaceUrls['hummingbot'] : undefined
  return url === undefined ? undefined : Number(new URL(url).port)
}

async function answerOf(call: http.ClientRequest): Promise<{ status: number; text: string }> {
  const [incoming] = (await once(call, 'response')) as [http.IncomingMessage]
  let text = ''
  for await (const part of incoming.setEncoding('utf8')) text += String(part)
  return { status: incoming.statusCode ?? 0, text }
}

/** Sends a request, reads nothing of its answer, and is reset. */
async function leaveUnread(
  url: URL,
  { headers, body }: { readonly headers: Readonly<Record<string, string | number>>; readonly body: string },
  afterMs: number,
): Promise<void> {
  const lines = Object.entries({ host: url.host, ...headers }).map(([name, value]) => `${name}: ${value}`)
  const socket = net
    .connect(Number(url.port), url.hostname)
    .on('error', () => {})
    .pause()
  socket.write(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  await sleep(afterMs)
  socket.resetAndDestroy()
}

function signatureIn(answer: string | undefined): string | undefined {
  const signature: unknown = answer === undefined ? undefined : Reflect.get(Object(JSON.parse(answer)), 'signature')
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

async function outcomeOf(call: http.ClientRequest): Promise<SwapOutcome> {
  const { status, text } = await answerOf(call)
  const body: unknown = JSON.parse(text)
  const field = (name: string) => String(Reflect.get(Object(body), name) ?? '')
  if (status === 200) {
    const amountIn: unknown = Reflect.get(Object(Reflect.get(Object(body), 'data')), 'amountIn')
    const mined = { isMined: field('status') === '1', ...(typeof amountIn === 'string' && { amountIn }) }
    return { is: 'signature', signature: field('signature'), ...mined, text }
  }
  return { is: 'refusal', status, name: field('name'), code: field('code'), text }
}
