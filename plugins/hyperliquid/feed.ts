import { type Log, SluiceError, type At, type Book, type BookMarket, type BookStream, type BookUpdate, type Level } from 'sluice/plugin'
import type { WebSocket } from 'undici'
import { isTooManyParts, parseJson } from 'sluice/json'
import { createTokenBucket, type ExchangeClock, type QueryInfo } from './api.ts'
import { normalize } from 'sluice/decimal'
import { trades } from './orders.ts'
import { anything, array, decimal, integer, is, literal, nothing, object, shape, text, tuple, union, type Infer } from './shape.ts'

/** The exchange closes connections that are silent for a minute: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats */
const pingMs = 5_000
const silentMs = 12_000
/** Of the pause before a subscription that is not confirmed is asked for again: 80 s at most. */
const maxDoublings = 4
const connectMs = 10_000
const minPauseMs = 250
/** The exchange accepts thirty new connections a minute. */
const maxPauseMs = 8_000
/** How long a connection without subscriptions stays open. */
const idleMs = 2_000

/** Limits of one IP address: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const maxSubscriptions = 1000
const maxWallets = 10
/** The last subscriptions that are left for coins are used for books only. */
const reservedForBooks = 400
const bookOnly: readonly string[] = ['l2Book']
const allTopics: readonly string[] = [...bookOnly, 'trades', 'activeAssetCtx']

const message = object({ channel: text }, { data: anything })
const aboutCoin = object({ coin: text })
const coinConfirmation = object({ method: literal('subscribe'), subscription: object({ type: literal('l2Book'), coin: text }) })
const walletConfirmation = object({ method: literal('subscribe'), subscription: object({ user: text }) })

export interface FeedListener {
  /** `channel` is the exchange's. */
  onMessage(channel: string, data: unknown): void
  onLost(reason: string): void
  onAlive(): void
}

type Subscription = { readonly type: string; readonly coin: string } | { readonly type: string; readonly user: string }

/** The subscriptions to a coin or a wallet. */
interface FeedEntry {
  readonly of: 'coin' | 'wallet'
  readonly subscriptions: readonly Subscription[]
  readonly listeners: Set<FeedListener>
  /** When it was last subscribed to, and whether the exchange has confirmed that since: it may refuse by an error that names nothing. */
  askedAt: number
  isConfirmed: boolean
  /** How often it was asked for again since the last confirmation. */
  repeats: number
}

/** One websocket connection for all subscriptions. Connects again by itself and then restores them. */
export interface Feed {
  /** Ends when the returned function is called. */
  follow(coin: string, listener: FeedListener): () => void
  /**
   * Updates of a wallet's orders as `orderUpdates`, which do not name the wallet, and `subscriptionResponse` whenever a subscription begins.
   * Undefined where the exchange allows no more wallets.
   */
  followOrders(user: string, listener: FeedListener): (() => void) | undefined
  stop(): void
}

/** It is large, and only who follows books needs it. */
const loadSocket = async (): Promise<typeof WebSocket> => (await import('undici')).WebSocket

export function createFeed(wsUrl: string, log: Log, allowance = createMessageAllowance(), load = loadSocket): Feed {
  /** By the name of a coin, or a wallet's address. */
  const entries = new Map<string, FeedEntry>()
  let Socket: typeof WebSocket | undefined
  let loading: Promise<void> | undefined
  let socket: WebSocket | undefined
  let isOpen = false
  let lastMessageAt = 0
  let pauseMs = minPauseMs
  let heartbeat: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined

  const send = (body: object) => {
    if (!isOpen) return
    allowance.spend(1)
    socket?.send(JSON.stringify(body))
  }
  const request = (method: 'subscribe' | 'unsubscribe', name: string) => {
    const entry = entries.get(name)
    if (entry && method === 'subscribe') Object.assign(entry, { askedAt: performance.now(), isConfirmed: false })
    for (const subscription of entry?.subscriptions ?? []) send({ method, subscription })
  }
  const subscriptionCount = () => [...entries.values()].reduce((sum, each) => sum + each.subscriptions.length, 0)
  const wallets = () => [...entries.values()].filter((each) => each.of === 'wallet')
  const listenersOf = (some: Iterable<FeedEntry>) => new Set([...some].flatMap((each) => [...each.listeners]))

  async function loadAndConnect(): Promise<void> {
    try {
      Socket = await load()
    } catch (error) {
      lost(`the websocket library could not be loaded (${error instanceof Error ? error.message : String(error)})`)
      return
    } finally {
      loading = undefined
    }
    connect()
  }

  function connect(): void {
    clearTimeout(timer)
    timer = undefined
    if (socket || entries.size === 0) return
    if (!Socket) {
      loading ??= loadAndConnect()
      return
    }
    const opened = new Socket(wsUrl)
    socket = opened
    lastMessageAt = performance.now()
    opened.addEventListener('open', () => {
      if (socket !== opened) return
      isOpen = true
      lastMessageAt = performance.now()
      for (const name of entries.keys()) request('subscribe', name)
    })
    opened.addEventListener('message', ({ data }) => {
      if (socket === opened) receive(data)
    })
    opened.addEventListener('error', () => disconnected(opened, 'the connection failed'))
    opened.addEventListener('close', () => disconnected(opened, 'the connection was closed'))
    clearInterval(heartbeat)
    heartbeat = setInterval(() => check(opened), Math.min(pingMs, silentMs) / 2)
    heartbeat.unref()
  }

  let pingedAt = -Infinity
  function check(opened: WebSocket): void {
    const now = performance.now()
    if (now - lastMessageAt > (isOpen ? silentMs : connectMs)) {
      disconnected(opened, isOpen ? 'the connection fell silent' : 'the connection was not made in time')
    } else if (now - pingedAt >= pingMs) {
      pingedAt = now
      send({ method: 'ping' })
      for (const [name, entry] of entries) if (isOpen && isOverdue(entry, now)) askAgain(name, entry)
    }
  }

  /** A refusal names no subscription, so one that is not confirmed in time counts as refused. The pauses grow: messages are limited. */
  const isOverdue = ({ of, isConfirmed, askedAt, repeats }: FeedEntry, now: number) =>
    of === 'coin' && !isConfirmed && now - askedAt >= pingMs * 2 ** Math.min(repeats, maxDoublings)
  function askAgain(name: string, entry: FeedEntry): void {
    entry.repeats += 1
    request('unsubscribe', name)
    request('subscribe', name)
  }

  function disconnected(opened: WebSocket, reason: string): void {
    if (socket !== opened) return
    socket = undefined
    isOpen = false
    clearInterval(heartbeat)
    opened.close()
    lost(reason)
  }

  function lost(reason: string): void {
    for (const listener of listenersOf(entries.values())) listener.onLost(reason)
    if (entries.size === 0) return
    // With jitter, so that not all servers reconnect at once, and only when the message limit allows all subscriptions.
    const waitMs = Math.max(pauseMs * (0.75 + Math.random() / 2), allowance.waitMs(subscriptionCount()))
    log.warn({ reason, waitMs: Math.round(waitMs) }, "Hyperliquid's websocket disconnected")
    timer = setTimeout(connect, waitMs)
    timer.unref()
    pauseMs = Math.min(pauseMs * 2, maxPauseMs)
  }

  function receive(data: unknown): void {
    lastMessageAt = performance.now()
    const received = typeof data === 'string' && !isTooManyParts(data) ? parseJson(data) : undefined
    if (!is(message, received)) return
    if (received.channel === 'pong') {
      pauseMs = minPauseMs
      // Of a book that the exchange may not send, the connection says nothing.
      for (const listener of listenersOf([...entries.values()].filter(({ isConfirmed }) => isConfirmed))) listener.onAlive()
    } else if (received.channel === 'error')
      log.warn({ said: String(received.data).slice(0, 200) }, "Hyperliquid's websocket refused a request")
    else for (const listener of addressees(received.channel, received.data)) listener.onMessage(received.channel, received.data)
  }

  function addressees(channel: string, data: unknown): Iterable<FeedListener> {
    if (channel === 'orderUpdates') return listenersOf(wallets())
    const confirmed = channel === 'l2Book' ? coinOf(data) : channel === 'subscriptionResponse' ? confirmedIn(data) : undefined
    const entry = confirmed === undefined ? undefined : entries.get(confirmed)
    if (entry) Object.assign(entry, { isConfirmed: true, repeats: 0 })
    const name = channel === 'subscriptionResponse' ? walletOf(data) : coinOf(data)
    return (name !== undefined && entries.get(name)?.listeners) || []
  }

  /** The topics of a further coin that the limit leaves room for. */
  function availableTopics(): readonly string[] {
    const left = maxSubscriptions - (maxWallets - wallets().length) - subscriptionCount()
    if (left > reservedForBooks) return allTopics
    return left > 0 ? bookOnly : []
  }

  function follow(name: string, of: FeedEntry['of'], subscriptionsFor: () => readonly Subscription[], listener: FeedListener): () => void {
    const known = entries.get(name)
    if (known) known.listeners.add(listener)
    else
      entries.set(name, {
        of,
        subscriptions: subscriptionsFor(),
        listeners: new Set([listener]),
        askedAt: 0,
        isConfirmed: false,
        repeats: 0,
      })
    if (!socket && (entries.size === 1 || !timer)) connect()
    else {
      // The exchange sends a snapshot only after a subscription. A further listener gets one by subscribing again.
      if (known) request('unsubscribe', name)
      request('subscribe', name)
    }
    return () => unfollow(name, listener)
  }

  function unfollow(name: string, listener: FeedListener): void {
    const entry = entries.get(name)
    if (!entry?.listeners.delete(listener) || entry.listeners.size > 0) return
    request('unsubscribe', name)
    entries.delete(name)
    if (entries.size > 0) return
    clearTimeout(timer)
    timer = setTimeout(() => entries.size === 0 && stop(), idleMs)
    timer.unref()
  }

  function stop(): void {
    clearTimeout(timer)
    timer = undefined
    clearInterval(heartbeat)
    const opened = socket
    socket = undefined
    isOpen = false
    opened?.close()
  }

  return {
    follow: (coin, listener) => follow(coin, 'coin', () => availableTopics().map((type) => ({ type, coin })), listener),
    followOrders(user, listener) {
      if (!entries.has(user) && wallets().length >= maxWallets) return undefined
      return follow(user, 'wallet', () => [{ type: 'orderUpdates', user }], listener)
    },
    stop() {
      entries.clear()
      stop()
    },
  }
}

const walletOf = (data: unknown): string | undefined => (is(walletConfirmation, data) ? data.subscription.user : undefined)

const confirmedIn = (data: unknown): string | undefined => (is(coinConfirmation, data) ? data.subscription.coin : walletOf(data))

function coinOf(data: unknown): string | undefined {
  // Trades come as a list.
  const first: unknown = Array.isArray(data) ? data[0] : data
  return is(aboutCoin, first) ? first.coin : undefined
}

/** The exchange accepts two thousand messages a minute from one IP address. The rest is for pings and further subscriptions. */
const perMinute = 1_800

/** The websocket messages that the exchange's limit still allows. */
export function createMessageAllowance(maxPerMinute = perMinute, nowMs: () => number = () => performance.now()) {
  const bucket = createTokenBucket(maxPerMinute, nowMs)
  return {
    spend: bucket.spend,
    /** How long until so many messages can be sent. */
    waitMs: (count: number) => Math.max(0, Math.ceil(((Math.min(count, maxPerMinute) - bucket.left()) * 60_000) / maxPerMinute)),
  }
}

const level = object({ px: decimal, sz: decimal })
const l2Book = object({ coin: text, time: integer, levels: tuple(array(level), array(level)) })
const bookAnswer = shape(union(l2Book, nothing))
const context = object({ coin: text, ctx: object({ dayBaseVlm: decimal }) })

/**
 * Order books by websocket. The exchange sends twenty levels of each side as a snapshot, about twice a second if the book changed. The time of
 * a snapshot is its sequence.
 */
export function bookStream({ queryInfo, feed, clock }: { queryInfo: QueryInfo; feed: Feed; clock: ExchangeClock }): BookStream {
  return {
    async watch({ id }, sink, signal) {
      let lastTradeMs = 0
      const unfollow = feed.follow(id, {
        onMessage(channel, data) {
          if (channel === 'l2Book' && is(l2Book, data)) {
            clock.observe(data.time)
            sink(snapshotOf(data))
          }
          if (channel === 'trades' && is(trades, data)) {
            const [newest] = data.toSorted((a, b) => b.time - a.time || b.tid - a.tid)
            if (!newest || newest.time < lastTradeMs) return
            lastTradeMs = newest.time
            sink({ is: 'traded', lastPrice: normalize(newest.px) })
          }
          if (/^active(Spot)?AssetCtx$/.test(channel) && is(context, data))
            sink({ is: 'traded', volume24h: normalize(data.ctx.dayBaseVlm) })
        },
        onLost: (reason) => sink({ is: 'lost', reason: `Hyperliquid is not available: ${reason}.` }),
        onAlive: () => sink({ is: 'alive', timestamp: clock.nowMs() }),
      })
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      unfollow()
    },
    snapshot: (market, at) => snapshot(queryInfo, market, at),
  }
}

async function snapshot(queryInfo: QueryInfo, { id, base, quote }: BookMarket, at: At): Promise<BookUpdate & { is: 'snapshot' }> {
  const book = await queryInfo({ type: 'l2Book', coin: id }, bookAnswer, at)
  if (book) return snapshotOf(book)
  throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid does not list ${base}-${quote} any more.`)
}

function snapshotOf({ time, levels: [bids, asks] }: Infer<typeof l2Book>): BookUpdate & { is: 'snapshot' } {
  const book: Book = { buys: side(bids), sells: side(asks) }
  return { is: 'snapshot', book, sequence: time, timestamp: time }
}

const side = (levels: readonly Infer<typeof level>[]): readonly Level[] =>
  levels.map(({ px, sz }) => ({ price: normalize(px), quantity: normalize(sz) })).filter(({ quantity }) => !/^(0$|-)/.test(quantity))
