// A process that holds one plugin of a third party. It computes, keeps what it follows in memory, and asks the server for all else.
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createPlaces } from '../../base/async.ts'
import type {
  BookMarket,
  Chain,
  Connector,
  ConnectorPlugin,
  Head,
  HeadChanges,
  Log,
  Quote,
  QuoteChoice,
  Swap,
  TradingType,
} from '../../contracts/index.ts'
import type { InterfaceError, InterfacePlugin } from '../../contracts/interface.ts'
import type { SchemaQuestion } from '../../config/plugin-schema.ts'
import type { BookType, BookView } from '../../live-state/book-feed.ts'
import { createBooks } from '../../live-state/books.ts'
import { createQuotes, type QuoteVenue } from '../../live-state/quotes.ts'
import { createSynchronisers } from '../../live-state/synchroniser.ts'
import { createTelemetry } from '../../live-state/telemetry.ts'
import { importPlugin, instantiateConnector } from '../instantiate.ts'
import { updateHook } from '../code/module-hook.ts'
import { remedies, faultOf } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'
import { openChannel } from './channel.ts'
import { channelDescriptor } from './containment.ts'
import type { HostedRequest, InterfaceProcess } from './interface-process.ts'
import {
  maxHostFrameBytes,
  membersOf,
  type CallArguments,
  type HostSettings,
  type HostVenue,
  type LoadReply,
  type LoadRequest,
  type TypeReport,
  type VenueProperties,
} from './messages.ts'
import type { WebAnswer, WebRequest } from './web.ts'

/** The server is trusted: what it sends is bounded so that a defect shows itself. */
const maxFrameBytes = 64 * 2 ** 20
const maxQuestions = 100_000

const channel = openChannel({
  socket: new Socket({ fd: channelDescriptor, readable: true, writable: true }),
  answer,
  onTold: (method, [index, ...args]) => {
    const venue = venues[Number(index)]
    if (method === 'head') venue?.takeHead(args[0] as Head, args[1])
    else if (method === 'expect') venue?.expectBlock(args[0] as bigint)
    else if (method === 'delivered') served?.delivered(index as string, args[0] as boolean)
  },
  onClosed: () => process.exit(0),
  maxFrameBytes,
  maxQuestions,
  maxSentBytes: maxHostFrameBytes,
})

// As in the server: what a plugin does not catch in the background is its defect, and ends nothing.
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (thrown: unknown) => channel.tell('fault', [messageOf(thrown)]))

/** Readings of the chain and of the web under way. Others wait: the server ends a process that asks too much at once (`maxQuestions` of `host-run.ts`). */
const [takeReadPlace, takeWebPlace] = [createPlaces(48), createPlaces(16)]

async function inPlace<T>(takePlace: typeof takeReadPlace, work: () => Promise<T>): Promise<T> {
  const passOn = await takePlace()
  try {
    return await work()
  } finally {
    passOn()
  }
}

// A host has no network: the server dials for it.
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init)
  const headers = [...request.headers]
  const sent = request.body === null ? undefined : Buffer.from(await request.arrayBuffer()).toString('base64')
  const question: WebRequest = {
    url: request.url,
    method: request.method as WebRequest['method'],
    headers,
    ...(sent !== undefined && { body: sent }),
  }
  try {
    const answered = (await inPlace(takeWebPlace, () => channel.ask('fetch', [question], request.signal))) as WebAnswer
    const body = nullBodyStatus.has(answered.status) ? null : Buffer.from(answered.body, 'base64')
    return new Response(body, {
      status: answered.status,
      headers: answered.headers.map(([name, value]): [string, string] => [name, value]),
    })
  } catch (thrown) {
    request.signal.throwIfAborted()
    throw new TypeError(`fetch failed: ${messageOf(thrown)}`, { cause: thrown })
  }
}
/** Statuses of answers without a body (Fetch Standard, "null body status"). */
const nullBodyStatus = new Set([101, 103, 204, 205, 304])

const log: Log = { info: (...line) => say('info', line), warn: (...line) => say('warn', line) }

function say(level: keyof Log, [fields, message]: Parameters<Log['info']>): void {
  channel.tell('log', [level, readable(fields), message ?? ''])
}

/** Errors, bigints of any size and what cannot be copied as text: it is only shown. */
function readable(fields: object): object {
  const shown = (value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return typeof value === 'object' && value !== null ? messageOf(value) : value
  }
  return Object.fromEntries(Object.entries(fields).map(([key, value]: [string, unknown]) => [key, shown(value)]))
}

let plugin: ConnectorPlugin | undefined
let interfacePlugin: InterfacePlugin | undefined
let served: InterfaceProcess | undefined
let venues: readonly RunningVenue[] = []

// What the server asks is what `messages.ts` says: both are of one release.
async function answer(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
  switch (method) {
    case 'ping':
      return args[0]
    case 'load':
      return load(args[0] as LoadRequest)
    case 'create':
      return create(args[0] as readonly HostVenue[], args[1] as HostSettings)
    case 'serve':
      return serve(args[0] as string, args[1] as object)
    case 'request':
      return served?.answer(args[0] as HostedRequest, signal)
    case 'prepare':
      return served?.prepare(args[0] as string)
    case 'act':
      return served?.act(args[0] as string, args[1] as string, args[2] as object)
    case 'showError':
      return served?.showError(args[0] as InterfaceError)
    case 'judge': {
      // Once, at the start: what it needs is loaded for that alone.
      const { judgeBySchema } = await import('../../config/plugin-schema.ts')
      return { answer: judgeBySchema(args[0] as SchemaQuestion) }
    }
  }
  const [index, ...rest] = args
  const venue = venues[Number(index)]
  if (!venue) throw new Error('There is no such venue.')
  switch (method) {
    case 'call':
      return venue.call(rest as unknown as CallArguments, signal)
    case 'book':
      return venue.book(rest[0] as BookType, rest[1] as BookMarket, signal)
    case 'follow':
      return venue.follow(rest[0], rest[1] as Swap, rest[2] as QuoteChoice)
    case 'followBook':
      return venue.followBook(rest[0], rest[1] as BookType, rest[2] as BookMarket)
    case 'unfollow':
      return venue.unfollow(rest[0])
    case 'start':
      return venue.connector.start?.(signal)
    case 'stop':
      return venue.connector.stop?.()
  }
  throw new Error(`There is no ${method}.`)
}

async function load({ entry, news }: LoadRequest): Promise<LoadReply> {
  try {
    await updateHook(news)
    const imported = await importPlugin(entry)
    if (imported.plugin.kind === 'connector') ({ plugin } = imported as { plugin: ConnectorPlugin })
    else if (imported.plugin.kind === 'interface') interfacePlugin = imported.plugin
    await settled()
    return { description: imported.description }
  } catch (thrown) {
    return { refused: refusalOf(thrown, 'import') }
  }
}

async function create(wanted: readonly HostVenue[], settings: HostSettings) {
  try {
    venues = wanted.map((venue, index) => runVenue(venue, index, settings))
    await settled()
    return { venues: venues.map(propertiesOf) }
  } catch (thrown) {
    return { refused: refusalOf(thrown, 'create') }
  }
}

async function serve(name: string, config: object) {
  try {
    if (!interfacePlugin) throw new Error('The plugin was not loaded.')
    // A connector needs none of it.
    const { runInterface } = await import('./interface-process.ts')
    served = await runInterface(interfacePlugin, { name, config, log, channel })
    await settled()
    return { paths: served.outlines }
  } catch (thrown) {
    return { refused: refusalOf(thrown, 'create') }
  }
}

function refusalOf(thrown: unknown, at: 'import' | 'create') {
  const { step, message, remedy } = faultOf(thrown, at, remedies.correct)
  return { step, reason: message, remedy }
}

/** Rejections in the background are told before the answer. */
async function settled(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

function propertiesOf({ connector, tradingTypes, follows }: RunningVenue): VenueProperties {
  const { spenders, events, refusals, actions, start, stop } = connector
  return {
    follows,
    spenders,
    events,
    refusals,
    types: Object.fromEntries(tradingTypes.map((type) => [type, reportOf(type, connector[type])])),
    starts: start !== undefined,
    stops: stop !== undefined,
    acts: actions !== undefined,
  }
}

function reportOf(type: TradingType, implementation: object | undefined): TypeReport {
  const { methods, properties } = membersOf(type)
  const member = (name: string): unknown => implementation && Reflect.get(implementation, name)
  return {
    methods: methods.filter((name) => typeof member(name) === 'function'),
    properties: Object.fromEntries(properties.map((name) => [name, member(name)])),
  }
}

interface RunningVenue {
  readonly connector: Partial<Connector>
  readonly tradingTypes: readonly TradingType[]
  takeHead(head: Head, facts: unknown): void
  expectBlock(number: bigint): void
  call(call: CallArguments, signal: AbortSignal): unknown
  book(type: BookType, market: BookMarket, signal: AbortSignal): Promise<BookView>
  readonly follows: boolean
  /** Tells `changed` with this id whenever the quote may be another one. */
  follow(id: unknown, swap: Swap, choice: QuoteChoice): void
  followBook(id: unknown, type: BookType, market: BookMarket): void
  unfollow(id: unknown): void
}

/** What nobody used for so long is dropped, as in the server. */
const idleSeconds = 300
const maxKeys = 10_000
const maxBooks = 200
const telemetry = createTelemetry(log, { trouble: () => {}, check: () => {}, update: () => {} })

function runVenue(venue: HostVenue, index: number, settings: HostSettings): RunningVenue {
  const { chain, network, tradingTypes, facts: firstFacts, isFollowed, images, ...own } = venue
  const { name, local, cachedQuotes, staleSeconds, ...freshness } = settings
  if (!plugin?.family.remote) throw new Error('The plugin was not loaded.')
  let facts = firstFacts
  const ask = (method: string, args: readonly unknown[], signal?: AbortSignal) => channel.ask(method, [index, ...args], signal)
  const withFacts = async (method: string, args: readonly unknown[], signal?: AbortSignal) => {
    const answered = (await ask(method, args, signal)) as { answer?: unknown; head?: Head; facts: unknown }
    facts = answered.facts
    return answered
  }
  const reader = plugin.family.remote.connect(
    () => facts,
    async (request, { signal }) => (await inPlace(takeReadPlace, () => withFacts('read', [request], signal))).answer,
  )
  const connector = instantiateConnector(plugin, name, tradingTypes, { chain, network, reader, log, ...own })
  const { AMM: amm } = connector

  const feed = headFeed(
    () => void ask('follow', []).catch(() => {}),
    () => void ask('unfollow', []).catch(() => {}),
  )
  const chainImpl: QuoteVenue['chainImpl'] = {
    local: local[index] === true,
    images,
    head: async ({ signal }) => {
      const { head } = await withFacts('head', [], signal)
      if (!head) throw new Error('The server knows no head.')
      return head
    },
    heads: feed.heads,
    changes: async (after, to, { follow, from }, { signal }) =>
      (await ask('changes', [after, to, follow, from?.()], signal)) as readonly HeadChanges[] | 'forked',
  } satisfies Pick<Chain, 'local' | 'head' | 'heads' | 'changes' | 'images'>
  const following = createSynchronisers({ ...freshness, idleSeconds, maxKeys, telemetry })
  const quotes = createQuotes({ following, maxQuotes: cachedQuotes, pairs: { known: [], save: async () => {} } })
  const quoteVenue = amm?.followed && isFollowed ? { chain, network, connector: name, chainImpl, pricing: amm.followed } : undefined

  async function computed(swap: Swap, choice: QuoteChoice, at: { signal: AbortSignal }): Promise<Quote> {
    if (!amm) throw new Error('It has no trading type AMM.')
    if (!quoteVenue) return amm.quote(swap, choice, at)
    try {
      const quoted = quotes.quote(quoteVenue, swap, choice, at)
      return quoted instanceof Promise ? { ...(await quoted), asked: true } : quoted
    } catch (error) {
      // The nodes answer, but do not tell what happened in the blocks.
      if (quotes.isCutOff(quoteVenue)) return amm.quote(swap, choice, at)
      throw error
    }
  }

  async function quote(given: Swap, choice: QuoteChoice, signal: AbortSignal): Promise<Omit<Quote, 'swap'>> {
    const { swap: _, ...computedQuote } = await computed(Object.freeze(given), choice, { signal })
    return computedQuote
  }

  const books = createBooks({ following, telemetry, staleSeconds, checkSeconds: freshness.checkSeconds, idleSeconds, maxBooks })
  function bookVenueOf(type: BookType) {
    const trading = connector[type]
    if (!trading) throw new Error(`It has no trading type ${type}.`)
    return { chain, network, connector: name, type, books: trading.books, chainImpl }
  }

  const followed = new Map<unknown, () => void>()

  function unfollow(id: unknown): void {
    followed.get(id)?.()
    followed.delete(id)
  }

  /** What is asked for while the server asks for all again after a restart comes twice. */
  function keep(id: unknown, stop: () => void): void {
    unfollow(id)
    followed.set(id, stop)
  }

  return {
    connector,
    tradingTypes,
    follows: quoteVenue !== undefined,
    follow(id, swap, choice) {
      if (!quoteVenue) throw new Error('Its prices cannot be followed.')
      keep(
        id,
        quotes.follow(quoteVenue, swap, choice, () => channel.tell('changed', [id])),
      )
    },
    followBook(id, type, market) {
      keep(
        id,
        books.follow(bookVenueOf(type), market, () => channel.tell('changed', [id])),
      )
    },
    unfollow,
    expectBlock: (number) => following.expectBlock({ chain, network }, number),
    takeHead(head, newFacts) {
      facts = newFacts
      feed.push(head)
    },
    call([type, method, args, waits], signal) {
      if (type === 'AMM' && method === 'quote') return quote(args[0] as Swap, args[1] as QuoteChoice, signal)
      const trading = connector[type]
      const implementation: unknown = trading && Reflect.get(trading, method)
      if (typeof implementation !== 'function') throw new Error(`There is no ${method} of ${type}.`)
      return Reflect.apply(implementation, trading, waits ? [...args, { signal }] : args)
    },
    book: (type, market, signal) => books.book(bookVenueOf(type), market, { signal }),
  }
}

/** The heads that the server tells, for as long as somebody follows them. */
function headFeed(start: () => void, stop: () => void) {
  const followers = new Set<(head: Head) => void>()
  return {
    push(head: Head): void {
      for (const follower of followers) follower(head)
    },
    async *heads(signal: AbortSignal): AsyncGenerator<Head> {
      let next: Head | undefined
      let wake = () => {}
      const follower = (head: Head) => {
        next = head
        wake()
      }
      followers.add(follower)
      if (followers.size === 1) start()
      const onAbort = () => wake()
      signal.addEventListener('abort', onAbort)
      try {
        while (!signal.aborted) {
          const head = next
          next = undefined
          if (head) yield head
          else await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        signal.removeEventListener('abort', onAbort)
        followers.delete(follower)
        if (followers.size === 0) stop()
      }
    },
  }
}
