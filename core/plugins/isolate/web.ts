// What a host may ask of the web: HTTPS to the hosts that its plugin was allowed. The server dials, because a host has no network.
import { isIP } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { mapTexts } from '../../config/tree.ts'
import { list, object, oneOf, optional, text } from '../../contracts/answers/contract.ts'
import { SluiceError } from '../../base/errors.ts'
import { command } from '../../base/layout.ts'
import { isPublic, lookupPublic } from '../../base/public-address.ts'
import { parserOf } from '../code/parser.ts'
import { messageOf } from '../code/thrown.ts'

/** Names of hosts, with the port where it is not 443. */
export interface AllowedHosts {
  /** By the plugin's files, as the operator allowed them: dialled at public addresses only, so that none leads into the operator's network. */
  readonly named: readonly string[]
  /** By the operator's own files: dialled wherever they are. */
  readonly configured: readonly string[]
}

/** A request of a plugin. Bytes are base64. */
export interface WebRequest {
  readonly url: string
  readonly method: (typeof methods)[number]
  readonly headers: readonly (readonly string[])[]
  readonly body?: string
}

export interface WebAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** The hosts of all URLs in a tree of settings. */
export function hostsNamedIn(tree: unknown): string[] {
  const hosts = new Set<string>()
  mapTexts(tree, (text) => {
    if (/^(https?|wss?):\/\//i.test(text) && URL.canParse(text)) hosts.add(new URL(text).host)
    return text
  })
  return [...hosts].toSorted()
}

export interface Web {
  /** @throws SluiceError */
  fetch(request: unknown, signal: AbortSignal): Promise<WebAnswer>
  close(): Promise<void>
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const [maxBodyBytes, maxAnswerBytes] = [256 * 1024, 4 * 2 ** 20]
const [maxAtOnce, maxPerMinute] = [16, 1_200]
/** Of bodies, both ways, within a minute: the server hands each of them on. */
const maxBytesPerMinute = 64 * 2 ** 20
const [connectMs, answerMs] = [10_000, 30_000]

const parseRequest = parserOf(
  object<WebRequest>({
    url: text(8_000),
    method: oneOf(...methods),
    headers: list(list(text(8_000), 2, 2), 50),
    body: optional(text(Math.ceil(maxBodyBytes / 3) * 4)),
  }),
)

/** The connection is the server's own: these would say something of it, or name another host than the allowed one. */
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*|forwarded|x-forwarded-.*)$/i

export function createWeb({ named, configured }: AllowedHosts): Web {
  /** By whether any address will do. */
  const agents = new Map<boolean, Promise<Agent>>()
  let atOnce = 0
  let [asked, bytes, askedSince] = [0, 0, performance.now()]

  function agentOf(anywhere: boolean): Promise<Agent> {
    let agent = agents.get(anywhere)
    if (!agent) agents.set(anywhere, (agent = createAgent(anywhere)))
    return agent
  }

  /** @throws SluiceError */
  function target(given: string): { url: URL; anywhere: boolean } {
    const url = URL.canParse(given) ? new URL(given) : undefined
    if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
      throw refused('A plugin in a host can ask https:// URLs without a user only.')
    if (configured.includes(url.host)) return { url, anywhere: true }
    if (!named.includes(url.host))
      throw refused(
        `The host ${url.host} was not allowed to this plugin: ${command} plugin allow allows those that its defaults.yml names, and its file in conf/connectors may name more.`,
      )
    // A name is looked at when it is resolved.
    const address = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(address) !== 0 && !isPublic(address)) throw refused(notPublic(address))
    return { url, anywhere: false }
  }

  function count(): void {
    if (performance.now() - askedSince > 60_000) [asked, bytes, askedSince] = [0, 0, performance.now()]
    asked += 1
    if (atOnce >= maxAtOnce || asked > maxPerMinute || bytes > maxBytesPerMinute)
      throw refused(
        `A plugin has at most ${maxAtOnce} requests under way, and ${maxPerMinute} requests and ${maxBytesPerMinute / 2 ** 20} MiB a minute. Wait for some to end.`,
      )
  }

  return {
    async fetch(given, signal) {
      const { url: wanted, method, headers, body } = parseRequest(given, [])
      const { url, anywhere } = target(wanted)
      count()
      bytes += body?.length ?? 0
      atOnce += 1
      try {
        const { request } = await import('undici')
        const answer = await request(url, {
          dispatcher: await agentOf(anywhere),
          method,
          headers: [
            ...headers.flatMap(([name = '', value = '']) => (ownHeaders.test(name) ? [] : [name, value])),
            'accept-encoding',
            'identity',
          ],
          body: body === undefined ? null : Buffer.from(body, 'base64'),
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
        })
        const answered = await answer.body.bytes()
        bytes += answered.length
        return { status: answer.statusCode, headers: headersOf(answer), body: Buffer.from(answered).toString('base64') }
      } catch (thrown) {
        throw refused(`${url.host}: ${messageOf(thrown)}`)
      } finally {
        atOnce -= 1
      }
    },
    async close() {
      for (const agent of agents.values()) await (await agent).destroy()
    },
  }
}

async function createAgent(anywhere: boolean): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connections: 4,
    maxResponseSize: maxAnswerBytes,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    connect: { timeout: connectMs, ...(!anywhere && { lookup: lookupPublic(notPublic) }) },
  })
}

const headersOf = ({ headers }: Dispatcher.ResponseData): [string, string][] =>
  Object.entries(headers).flatMap(([name, value = '']) => [value].flat().map((each): [string, string] => [name, each]))

const notPublic = (address: string): string =>
  `${address} is not a public address. If the service is your own, name its URL in the connector's file in conf/connectors.`

const refused = (message: string) => new SluiceError('NETWORK', message)
