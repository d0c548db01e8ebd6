import { type Log, SluiceError, type At, type Book, type BookMarket, type BookStream, type BookUpdate, type Level } from 'sluice/plugin'
import { WebSocket } from 'undici'
import type { QueryInfo, ExchangeClock } from './api.ts'
import { normalize } from 'sluice/decimal'
import { trades } from './orders.ts'
import { anything, is, object, text, literal, decimal, union, array, nothing, tuple, shape, integer, type Infer } from './shape.ts'

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats: silent ones are cut after a minute. */
const pingMs = 5_000
const silentMs = 12_000
const connectMs = 10_000
const shortestPauseMs = 250
/** The exchange takes thirty new connections a minute. */
const longestPauseMs = 8_000
/** A connection that nobody follows anything on is kept for so long. */
const idleMs = 2_000

/** To one IP address, each: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const mostSubscriptions = 1000
const mostWallets = 10
/** The last of what is left for coins. */
const keptForBooks = 400
const bookAlone: readonly string[] = ['l2Book']
const allTopics: readonly string[] = [...bookAlone, 'trades', 'activeAssetCtx']

const message = object({ channel: text }, { data: anything })
const ofCoin = object({ coin: text })
const subscribed = object({ method: literal('subscribe'), subscription: object({ user: text }) })

export interface FeedListener {
  /** By the exchange's channel. */
  onMessage(channel: string, data: unknown): void
  onLost(reason: string): void
  onAlive(): void
}

type Subscription = { readonly type: string; readonly coin: string } | { readonly type: string; readonly user: string }

/** What is followed of a coin, or of a wallet. */
interface FeedEntry {
  readonly of: 'coin' | 'wallet'
  readonly subscriptions: readonly Subscription[]
  readonly followers: Set<FeedListener>
}

/** One connection to the exchange for whatever is followed; comes back by itself, and then follows the same again. */
export interface Feed {
  /** Until the function that is given is called. */
  follow(coin: string, follower: FeedListener): () => void
  /**
   * News of a wallet's orders as `orderUpdates`, which do not say whose they are, and `subscriptionResponse` whenever they begin anew.
   * Undefined where the exchange tells of no more wallets.
   */
  followOrders(user: string, follower: FeedListener): (() => void) | undefined
  stop(): void
}

export function createFeed(wsUrl: string, log: Log, allowance = createMessageAllowance()): Feed {
  /** By the name of a coin, or a wallet's address. */
  const followed = new Map<string, FeedEntry>()
  let socket: WebSocket | undefined
  let isOpen = false
  let heardAt = 0
  let pauseMs = shortestPauseMs
  let beat: NodeJS.Timeout | undefined
  let later: NodeJS.Timeout | undefined

  const send = (body: object) => {
    if (!isOpen) return
    allowance.spend(1)
    socket?.send(JSON.stringify(body))
  }
  const say = (method: 'subscribe' | 'unsubscribe', name: string) => {
    for (const subscription of followed.get(name)?.subscriptions ?? []) send({ method, subscription })
  }
  const subscriptions = () => [...followed.values()].reduce((sum, each) => sum + each.subscriptions.length, 0)
  const wallets = () => [...followed.values()].filter((each) => each.of === 'wallet')
  const followersOf = (some: Iterable<FeedEntry>) => new Set([...some].flatMap((each) => [...each.followers]))
  const all = () => followersOf(followed.values())

  function connect(): void {
    clearTimeout(later)
    later = undefined
    if (socket || followed.size === 0) return
    const made = new WebSocket(wsUrl)
    socket = made
    heardAt = Date.now()
    made.addEventListener('open', () => {
      if (socket !== made) return
      isOpen = true
      heardAt = Date.now()
      for (const name of followed.keys()) say('subscribe', name)
    })
    made.addEventListener('message', ({ data }) => {
      if (socket === made) hear(data)
    })
    made.addEventListener('error', () => gone(made, 'the connection failed'))
    made.addEventListener('close', () => gone(made, 'the connection was closed'))
    clearInterval(beat)
    beat = setInterval(() => check(made), Math.min(pingMs, silentMs) / 2)
    beat.unref()
  }

  let pingedAt = 0
  function check(made: WebSocket): void {
    const now = Date.now()
    if (now - heardAt > (isOpen ? silentMs : connectMs)) {
      gone(made, isOpen ? 'the connection fell silent' : 'the connection was not made in time')
    } else if (now - pingedAt >= pingMs) {
      pingedAt = now
      send({ method: 'ping' })
    }
  }

  function gone(made: WebSocket, reason: string): void {
    if (socket !== made) return
    socket = undefined
    isOpen = false
    clearInterval(beat)
    made.close()
    for (const follower of all()) follower.onLost(reason)
    if (followed.size === 0) return
    // Not all servers at the same moment, and not before all may be asked for again.
    const waitMs = Math.max(pauseMs * (0.75 + Math.random() / 2), allowance.waitMs(subscriptions()))
    log.warn({ reason, waitMs: Math.round(waitMs) }, "Hyperliquid's websocket went away")
    later = setTimeout(connect, waitMs)
    later.unref()
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  function hear(text: unknown): void {
    heardAt = Date.now()
    const said = typeof text === 'string' ? parsed(text) : undefined
    if (!is(message, said)) return
    if (said.channel === 'pong') {
      pauseMs = shortestPauseMs
      for (const follower of all()) follower.onAlive()
    } else if (said.channel === 'error') log.warn({ said: String(said.data).slice(0, 200) }, "Hyperliquid's websocket refused something")
    else for (const follower of concerned(said.channel, said.data)) follower.onMessage(said.channel, said.data)
  }

  function concerned(channel: string, data: unknown): Iterable<FeedListener> {
    if (channel === 'orderUpdates') return followersOf(wallets())
    const name = channel === 'subscriptionResponse' ? walletOf(data) : coinOf(data)
    return (name !== undefined && followed.get(name)?.followers) || []
  }

  /** What of a further coin can be followed. */
  function roomFor(): readonly string[] {
    const left = mostSubscriptions - (mostWallets - wallets().length) - subscriptions()
    if (left > keptForBooks) return allTopics
    return left > 0 ? bookAlone : []
  }

  function follow(name: string, of: FeedEntry['of'], subscriptionsFor: () => readonly Subscription[], follower: FeedListener): () => void {
    const known = followed.get(name)
    if (known) known.followers.add(follower)
    else followed.set(name, { of, subscriptions: subscriptionsFor(), followers: new Set([follower]) })
    if (!socket && (followed.size === 1 || !later)) connect()
    else {
      // The exchange gives a snapshot for a subscription only: who joins what is followed already asks for one anew.
      if (known) say('unsubscribe', name)
      say('subscribe', name)
    }
    return () => forget(name, follower)
  }

  function forget(name: string, follower: FeedListener): void {
    const here = followed.get(name)
    if (!here?.followers.delete(follower) || here.followers.size > 0) return
    say('unsubscribe', name)
    followed.delete(name)
    if (followed.size > 0) return
    clearTimeout(later)
    later = setTimeout(() => followed.size === 0 && stop(), idleMs)
    later.unref()
  }

  function stop(): void {
    clearTimeout(later)
    later = undefined
    clearInterval(beat)
    const was = socket
    socket = undefined
    isOpen = false
    was?.close()
  }

  return {
    follow: (coin, follower) => follow(coin, 'coin', () => roomFor().map((type) => ({ type, coin })), follower),
    followOrders(user, follower) {
      if (!followed.has(user) && wallets().length >= mostWallets) return undefined
      return follow(user, 'wallet', () => [{ type: 'orderUpdates', user }], follower)
    },
    stop() {
      followed.clear()
      stop()
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const walletOf = (data: unknown): string | undefined => (is(subscribed, data) ? data.subscription.user : undefined)

/** Trades come as a list. */
function coinOf(data: unknown): string | undefined {
  const one: unknown = Array.isArray(data) ? data[0] : data
  return is(ofCoin, one) ? one.coin : undefined
}

/** The exchange takes two thousand a minute from one IP address; the rest is for pings, and for what is followed or let go meanwhile. */
const perMinute = 1_800

/** How many messages may still be sent by websocket: fills up steadily. */
interface MessageAllowance {
  spend(count: number): void
  /** How long until so many more may be sent. */
  waitMs(count: number): number
}

export function createMessageAllowance(most = perMinute, nowMs: () => number = () => performance.now()): MessageAllowance {
  const perMs = most / 60_000
  let left = most
  let countedAt = nowMs()

  function fill(): void {
    const now = nowMs()
    left = Math.min(most, left + (now - countedAt) * perMs)
    countedAt = now
  }

  return {
    spend(count) {
      fill()
      left -= count
    },
    waitMs(count) {
      fill()
      return Math.max(0, Math.ceil((Math.min(count, most) - left) / perMs))
    },
  }
}

const level = object({ px: decimal, sz: decimal })
const l2Book = object({ coin: text, time: integer, levels: tuple(array(level), array(level)) })
const askedBook = shape(union(l2Book, nothing))
const context = object({ coin: text, ctx: object({ dayBaseVlm: decimal }) })

/**
 * Books by websocket. The exchange tells each as a whole, twenty levels of each side, about twice a second where it changed: the time of
 * a snapshot is its sequence.
 */
export function bookStream({ ask, feed, clock }: { ask: QueryInfo; feed: Feed; clock: ExchangeClock }): BookStream {
  return {
    async watch({ id }, sink, signal) {
      let lastTradeMs = 0
      const forget = feed.follow(id, {
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
        onLost: (reason) => sink({ is: 'lost', reason: `Hyperliquid is away: ${reason}.` }),
        onAlive: () => sink({ is: 'alive', timestamp: clock.nowMs() }),
      })
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      forget()
    },
    snapshot: (market, at) => snapshot(ask, market, at),
  }
}

async function snapshot(ask: QueryInfo, { id, base, quote }: BookMarket, at: At): Promise<BookUpdate & { is: 'snapshot' }> {
  const book = await ask({ type: 'l2Book', coin: id }, askedBook, at)
  if (book) return snapshotOf(book)
  throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid has no book of ${base}-${quote} any more.`)
}

function snapshotOf({ time, levels: [bids, asks] }: Infer<typeof l2Book>): BookUpdate & { is: 'snapshot' } {
  const book: Book = { buys: side(bids), sells: side(asks) }
  return { is: 'snapshot', book, sequence: time, timestamp: time }
}

const side = (levels: readonly Infer<typeof level>[]): readonly Level[] =>
  levels.map(({ px, sz }) => ({ price: normalize(px), quantity: normalize(sz) })).filter(({ quantity }) => !/^(0$|-)/.test(quantity))
