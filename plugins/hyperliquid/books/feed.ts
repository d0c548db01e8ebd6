import type { Log } from 'sluice/plugin'
import { WebSocket } from 'undici'
import { anything, is, object, text } from '../api/shape.ts'
import { createMessageAllowance } from './message-allowance.ts'

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats: silent ones are cut after a minute. */
const pingMs = 5_000
const silentMs = 12_000
const connectMs = 10_000
const shortestPauseMs = 250
/** The exchange takes thirty new connections a minute. */
const longestPauseMs = 8_000
/** A connection that nobody follows anything on is kept for so long. */
const idleMs = 2_000

/** The last of them are for books alone. The exchange takes a thousand: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const mostSubscriptions = 1000
const keptForBooks = 400
const bookAlone: readonly string[] = ['l2Book']
const allTopics: readonly string[] = [...bookAlone, 'trades', 'activeAssetCtx']

const message = object({ channel: text }, { data: anything })
const ofCoin = object({ coin: text })

export interface Follower {
  /** News of its coin, by the exchange's channel. */
  news(channel: string, data: unknown): void
  lost(reason: string): void
  alive(): void
}

/** One connection to the exchange for whatever is followed; comes back by itself, and then follows the same again. */
export interface Feed {
  /** Until the function that is given is called. */
  follow(coin: string, follower: Follower): () => void
  stop(): void
}

export function createFeed(wsUrl: string, log: Log, allowance = createMessageAllowance()): Feed {
  const followers = new Map<string, Set<Follower>>()
  /** By coin, those of every coin that is followed. */
  const topics = new Map<string, readonly string[]>()
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
  const say = (method: 'subscribe' | 'unsubscribe', coin: string) => {
    for (const type of topics.get(coin) ?? []) send({ method, subscription: { type, coin } })
  }
  const subscriptions = () => [...topics.values()].reduce((sum, each) => sum + each.length, 0)
  const all = () => [...followers.values()].flatMap((each) => [...each])

  function connect(): void {
    clearTimeout(later)
    later = undefined
    if (socket || followers.size === 0) return
    const made = new WebSocket(wsUrl)
    socket = made
    heardAt = Date.now()
    made.addEventListener('open', () => {
      if (socket !== made) return
      isOpen = true
      heardAt = Date.now()
      for (const coin of followers.keys()) say('subscribe', coin)
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
    for (const follower of all()) follower.lost(reason)
    if (followers.size === 0) return
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
      for (const follower of all()) follower.alive()
    } else if (said.channel === 'error') log.warn({ said: String(said.data).slice(0, 200) }, "Hyperliquid's websocket refused something")
    else {
      const coin = coinOf(said.data)
      for (const follower of (coin !== undefined && followers.get(coin)) || []) follower.news(said.channel, said.data)
    }
  }

  /** What of a further coin can be followed. */
  function roomFor(): readonly string[] {
    const left = mostSubscriptions - subscriptions()
    if (left > keptForBooks) return allTopics
    return left > 0 ? bookAlone : []
  }

  function forget(coin: string, follower: Follower): void {
    const here = followers.get(coin)
    if (!here?.delete(follower) || here.size > 0) return
    followers.delete(coin)
    say('unsubscribe', coin)
    topics.delete(coin)
    if (followers.size > 0) return
    clearTimeout(later)
    later = setTimeout(() => followers.size === 0 && stop(), idleMs)
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
    follow(coin, follower) {
      const here = followers.get(coin) ?? new Set()
      const isNew = here.size === 0
      followers.set(coin, here.add(follower))
      if (isNew) topics.set(coin, roomFor())
      if (!socket && (followers.size === 1 || !later)) connect()
      // The exchange gives a snapshot for a subscription only: who joins a followed coin asks for one anew.
      else if (isNew) say('subscribe', coin)
      else {
        say('unsubscribe', coin)
        say('subscribe', coin)
      }
      return () => forget(coin, follower)
    },
    stop() {
      followers.clear()
      topics.clear()
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

/** Trades come as a list. */
function coinOf(data: unknown): string | undefined {
  const one: unknown = Array.isArray(data) ? data[0] : data
  return is(ofCoin, one) ? one.coin : undefined
}
