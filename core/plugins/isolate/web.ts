// What a host may ask of the web: HTTPS to the hosts that its plugin was allowed. The server dials, because a host has no network.
import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { mapTexts } from '../../config/tree.ts'
import { list, object, oneOf, optional, text } from '../../contracts/answers/contract.ts'
import { SluiceError } from '../../base/errors.ts'
import { command } from '../../base/layout.ts'
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
    connect: { timeout: connectMs, ...(!anywhere && { lookup: lookupPublic }) },
  })
}

const headersOf = ({ headers }: Dispatcher.ResponseData): [string, string][] =>
  Object.entries(headers).flatMap(([name, value = '']) => [value].flat().map((each): [string, string] => [name, each]))

/** What is resolved is what is dialled, so that a name cannot lead elsewhere after it was looked at. */
const lookupPublic: LookupFunction = (hostname, options, done) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const hidden = addresses?.find(({ address }) => !isPublic(address))
    const [first] = addresses ?? []
    if (error) done(error, '')
    else if (hidden) done(new Error(notPublic(hidden.address)), '')
    else if (options.all) done(null, addresses)
    else done(null, first?.address ?? '', first?.family)
  })
}

const notPublic = (address: string): string =>
  `${address} is not a public address. If the service is your own, name its URL in the connector's file in conf/connectors.`

const refused = (message: string) => new SluiceError('NETWORK', message)

/** The special-purpose address registries of IANA: everything that is not reachable over the internet, or leads elsewhere. */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Of the addresses that are given out at all (2000::/3): protocols that carry IPv4 addresses, and documentation. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [network, prefix] of special4) special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of special6) special.addSubnet(network, prefix, 'ipv6')
const givenOut = new BlockList()
givenOut.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one of the internet. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && givenOut.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
