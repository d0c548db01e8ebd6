// Accounts by subscription: what one node tells over one websocket, with the slot up to which it has told everything.
import type { Socket } from 'node:net'
import type { Log } from '../../core/contracts/index.ts'
import { isObject, isTooManyParts } from '../../core/base/json.ts'
import type { Meter } from '../nodes/dialect.ts'
import { maskUrl } from '../nodes/url-secrets.ts'
import { createSubscriptions, defaultMaxHeldBytes, tookBack, type Notification } from './account-subscriptions.ts'
import { contextSlotOf, numberOf, parseNodeJson, valueOf } from './rpc.ts'

/** The account of the clock changes with every block, so a node that says nothing for so long is silent. */
const silentMs = 10_000
const [minPauseMs, maxPauseMs] = [500, 30_000]
/** A connection that has told everything for so long is well: after it the next one may begin at once. */
const defaultWellMs = 5_000
/** So long, and twice as long after each further time, a node is left alone that refused a subscription or cannot be relied on. */
const defaultRestMs = 10 * 60_000
const maxRestMs = 2 * 60 * 60_000
/** After a connection that was well for so long, a rest is a first one again. */
const forgivenMs = 60 * 60_000
/** So long without a question for images, nothing is subscribed to. */
const idleMs = 30_000
/** The largest account has 10 MiB (solana-sdk, MAX_PERMITTED_DATA_LENGTH), which is 14 MiB of base64. */
const maxMessageBytes = 16 * 1024 * 1024
/** So long a node has to answer that a connection ends. */
const endMs = 1_000

export interface AccountFeed {
  /** These are subscribed to from now on, and no others. */
  follow(keys: ReadonlySet<string>): void
  /** Everything up to this slot has been told. Undefined where it is not known: there is no connection, or its node took a slot back. */
  readonly toldUntil: number | undefined
  /** From this slot on all changes of an account are told: what was read at it, or later, is kept current. Undefined where they are not. */
  since(key: string): number | undefined
  /** What was told of an account up to a slot, oldest first; it is not given again. */
  take(key: string, until: number): readonly Notification[]
  /** Calls back with every slot, and where the connection has ended, until the returned function is called. */
  onSlot(listener: () => void): () => void
  /** What it has told is not to be relied on: the node rests, and the next one is used. */
  distrust(why: string): void
  stop(): void
}

export interface FeedOptions {
  readonly log: Log
  readonly meter: Meter
  readonly wellMs?: number
  readonly restMs?: number
  readonly maxHeldBytes?: number
}

type Websocket = ReturnType<Awaited<ReturnType<typeof loadSockets>>>

/** Opens websockets whose messages have a bound. The library is large, and only who subscribes needs it. */
async function loadSockets() {
  const { Agent, buildConnector, WebSocket } = await import('undici')
  return (url: string) => {
    const connectTo = buildConnector({})
    let connection: Socket | null = null
    const agent = new Agent({
      webSocket: { maxPayloadSize: maxMessageBytes },
      connect: (options, done) =>
        connectTo(options, (...result) => {
          connection = result[1]
          done(...result)
        }),
    })
    const socket = new WebSocket(url, { dispatcher: agent })
    const destroy = () => {
      connection?.destroy()
      void agent.destroy()
    }
    return {
      socket,
      /** A node that does not answer the close would keep the connection. */
      end() {
        socket.close()
        setTimeout(destroy, endMs).unref()
      },
    }
  }
}

/** One after the other, without those that rest. */
function createTurns(urls: readonly string[], restMs: number) {
  const nodes = urls.map((url) => ({ url, restsUntil: 0, restMs }))
  let turn = -1
  const current = () => nodes[turn % nodes.length]
  return {
    url: () => current()?.url ?? '',
    /** Goes on to the one that may be used first; returns how long that takes. */
    next(now: number): number {
      const order = nodes.map((_, index) => turn + 1 + index)
      const left = (at: number) => Math.max(0, (nodes[at % nodes.length]?.restsUntil ?? 0) - now)
      turn = order.reduce((best, at) => (left(at) < left(best) ? at : best), turn + 1)
      return left(turn)
    },
    /** Returns for how long. */
    rest(now: number, wellForMs: number): number {
      const node = current()
      if (!node) return 0
      if (wellForMs > forgivenMs) node.restMs = restMs
      const forMs = node.restMs
      node.restsUntil = now + forMs
      node.restMs = Math.min(forMs * 2, maxRestMs)
      return forMs
    },
  }
}

/** Connects when something is followed, and again where the connection ends or falls silent, to one of the URLs after the other. */
export function createAccountFeed(
  urls: readonly string[],
  { log, meter, wellMs = defaultWellMs, restMs = defaultRestMs, maxHeldBytes = defaultMaxHeldBytes }: FeedOptions,
): AccountFeed {
  const listeners = new Set<() => void>()
  const turns = createTurns(urls, restMs)
  let followed: ReadonlySet<string> = new Set()
  let current: Websocket | undefined
  let isOpen = false
  let heardAt = 0
  let askedAt = 0
  /** Since when it has told everything that was followed then. */
  let wholeAt: number | undefined
  let pauseMs = 0
  let timer: NodeJS.Timeout | undefined
  let watch: NodeJS.Timeout | undefined
  let isStopped = false

  const begin = () =>
    createSubscriptions((id, method, params) => {
      meter.rpc(method, 'ok')
      current?.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    }, maxHeldBytes)
  let subscriptions = begin()

  async function connect(): Promise<void> {
    const open = await loadSockets()
    if (isStopped || current || followed.size === 0) return
    const opened = open(turns.url())
    current = opened
    heardAt = performance.now()
    const isCurrent = () => current === opened
    opened.socket.addEventListener('open', () => {
      if (!isCurrent()) return
      isOpen = true
      subscriptions.follow(followed)
    })
    opened.socket.addEventListener('message', ({ data }) => {
      if (isCurrent()) receive(String(data))
    })
    opened.socket.addEventListener('error', () => isCurrent() && lose('the connection failed'))
    opened.socket.addEventListener('close', () => isCurrent() && lose('the connection was closed'))
    clearInterval(watch)
    watch = setInterval(check, silentMs / 4)
    watch.unref()
  }

  function check(): void {
    const now = performance.now()
    if (now - askedAt > idleMs) return close()
    if (now - heardAt > silentMs) lose('it fell silent')
  }

  function connectSoon(): void {
    if (isStopped || current || timer || followed.size === 0) return
    timer = setTimeout(
      () => {
        timer = undefined
        connect().catch((error: unknown) => lose(`the websocket library could not be loaded (${String(error)})`))
      },
      Math.max(pauseMs, turns.next(performance.now())),
    )
    timer.unref()
  }

  function close(): void {
    clearTimeout(timer)
    clearInterval(watch)
    timer = undefined
    const left = current
    current = undefined
    isOpen = false
    wholeAt = undefined
    subscriptions = begin()
    left?.end()
    for (const listener of listeners) listener()
  }

  /** @param isFault it is not to be used again for some time */
  function lose(why: string, isFault = false): void {
    const now = performance.now()
    const url = turns.url()
    const restedMs = isFault ? turns.rest(now, wholeAt === undefined ? 0 : now - wholeAt) : undefined
    close()
    pauseMs = Math.min(Math.max(pauseMs * 2, minPauseMs), maxPauseMs)
    log.warn(
      { node: maskUrl(url), reason: why, ...(restedMs !== undefined && { restSeconds: Math.round(restedMs / 1000) }) },
      'subscriptions to accounts ended; accounts are read in batches until they begin again',
    )
    connectSoon()
  }

  function receive(text: string): void {
    const message = parsed(text)
    if (!isObject(message)) return lose('it sent something that is no message', true)
    const { id, result, error, params } = message
    if (typeof id === 'number') {
      const wrong = subscriptions.confirm(id, error === undefined ? numberOf(result) : undefined)
      return wrong === undefined ? undefined : lose(wrong, true)
    }
    const { subscription, result: told } = isObject(params) ? params : {}
    const [named, slot] = [numberOf(subscription), contextSlotOf(told)]
    if (named !== undefined && slot !== undefined) hear(named, slot, valueOf(told))
    return undefined
  }

  function hear(named: number, slot: number, value: unknown): void {
    const wrong = subscriptions.tell(named, slot, value)
    if (wrong !== undefined) return lose(wrong, wrong !== tookBack)
    if (!subscriptions.isClock(named)) return
    heardAt = performance.now()
    if (subscriptions.isWhole()) wholeAt ??= heardAt
    if (wholeAt !== undefined && heardAt - wholeAt >= wellMs) pauseMs = 0
    for (const listener of listeners) listener()
  }

  return {
    follow(keys) {
      askedAt = performance.now()
      followed = keys
      if (isOpen) subscriptions.follow(followed)
      else if (!current) connectSoon()
    },
    // All notifications of a slot are sent before the first of the next one (agave, rpc/src/rpc_subscriptions.rs, process_notifications), in any order.
    get toldUntil() {
      const clockAt = subscriptions.clockAt()
      return clockAt === undefined ? undefined : clockAt - 1
    },
    since: (key) => subscriptions.since(key),
    take: (key, until) => subscriptions.take(key, until),
    onSlot(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    distrust: (why) => {
      if (current) lose(why, true)
    },
    stop() {
      isStopped = true
      close()
    },
  }
}

function parsed(text: string): unknown {
  if (isTooManyParts(text)) return undefined
  try {
    return parseNodeJson(text)
  } catch {
    return undefined
  }
}
