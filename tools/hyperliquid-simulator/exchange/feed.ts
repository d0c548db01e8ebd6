import { topics, type Topic } from './topics.ts'
import { answer, type ServedExchange } from './answer.ts'
import type { Connection } from './sockets.ts'

/** Of one address, in its words: https://github.com/nktkas/hyperliquid/issues/78 */
const mostUsers = 10

/** What becomes of a message to a client: as many of it as are given back. */
type Tamper = (message: { readonly channel: string; readonly data: unknown }) => readonly unknown[]

export interface Feed {
  /** Takes over a connection that was opened. */
  serve(connection: Connection): void
  /** What happened is told soon: all of the same millisecond as one block. */
  changed(): void
  connections(): number
  /** All connections are cut. */
  cut(): void
  /** New connections are taken, or not. */
  welcome(isWelcome: boolean): void
  isWelcome(): boolean
  /** Until it is set again: nothing is told but what is asked for. */
  silence(isSilent: boolean): void
  /** From now on what is told of subscriptions goes through this; undefined ends it. */
  tamper(with_?: Tamper): void
  stop(): void
}

interface Subscription {
  readonly topic: Topic
  readonly read: unknown
  readonly channel: string
}

export function createFeed(served: ServedExchange): Feed {
  const { engine, judge } = served
  const clients = new Map<Connection, Map<string, Subscription>>()
  const state = {
    welcome: true,
    silent: false,
    lastBlock: 0,
    timer: undefined as NodeJS.Timeout | undefined,
    tamper: undefined as Tamper | undefined,
  }

  const say = (connection: Connection, channel: string, data: unknown) => connection.send(JSON.stringify({ channel, data }))
  const tell = (connection: Connection, { topic, channel }: Subscription, events: readonly unknown[]) => {
    for (const data of events) {
      judge.read(`the message ${channel}`, topic.event, data)
      pass(connection, channel, data)
    }
  }
  const pass = (connection: Connection, channel: string, data: unknown) => {
    const messages = state.tamper ? state.tamper({ channel, data }) : [{ channel, data }]
    for (const message of messages) connection.send(JSON.stringify(message))
  }

  /** Time moves on with each block, so that no two of them are of one time. */
  const closeBlock = () => {
    state.timer = undefined
    const time = (state.lastBlock = Math.max(engine.clock.now(), state.lastBlock + 1))
    if (!state.silent) {
      for (const [connection, subscriptions] of clients)
        for (const each of subscriptions.values()) tell(connection, each, each.topic.next(engine, each.read, time))
    }
    engine.outbox.empty()
  }
  const feed: Feed = {
    changed: () => {
      state.timer ??= setTimeout(closeBlock, engine.clock.now() > state.lastBlock ? 0 : 1)
    },
    connections: () => clients.size,
    cut: () => {
      for (const connection of clients.keys()) connection.cut()
      clients.clear()
    },
    welcome: (isWelcome) => {
      state.welcome = isWelcome
    },
    isWelcome: () => state.welcome,
    silence: (isSilent) => {
      state.silent = isSilent
    },
    tamper: (with_) => {
      state.tamper = with_
    },
    stop: () => {
      clearTimeout(state.timer)
      feed.cut()
    },
    serve: (opened) => {
      const subscriptions = new Map<string, Subscription>()
      // In tenths: where the process was held up for long, only one of them has passed, and who says ping can still say it.
      let quietTenths = 0
      const quiet = setInterval(() => {
        quietTenths += 1
        if (quietTenths >= 10) opened.cut()
      }, engine.rules.quietMs / 10)
      const connection: Connection = {
        ...opened,
        send: (text) => {
          quietTenths = 0
          opened.send(text)
        },
      }
      clients.set(connection, subscriptions)
      opened.onClose = () => {
        clearInterval(quiet)
        clients.delete(connection)
      }
      opened.onText = (text) => {
        const asked = JSON.parse(text) as {
          method?: string
          id?: number
          subscription?: unknown
          request?: { type?: string; payload?: unknown }
        }
        if (asked.method === 'ping') connection.send('{"channel":"pong"}')
        else if (asked.method === 'post') post(connection, asked.id, asked.request)
        else if (asked.method === 'subscribe') subscribe(connection, subscriptions, asked.subscription)
        else if (asked.method === 'unsubscribe' && subscriptions.delete(keyOf(asked.subscription))) {
          say(connection, 'subscriptionResponse', { method: 'unsubscribe', subscription: asked.subscription })
        } else say(connection, 'error', `Already unsubscribed: ${JSON.stringify(asked.subscription)}`)
      }
    },
  }

  function subscribe(connection: Connection, subscriptions: Map<string, Subscription>, asked: unknown) {
    const type = String(Reflect.get(Object(asked), 'type'))
    const topic = topics[type]
    const read = topic && judge.read(`the subscription ${type}`, topic.request, asked)
    if (!topic || !read) return say(connection, 'error', `Invalid subscription ${JSON.stringify(asked)}`)
    const users = new Set([...clients.values()].flatMap((each) => [...each.values()].flatMap((one) => userOf(one.read) ?? [])))
    const user = userOf(read.value)
    if (user !== undefined && !users.has(user) && users.size >= mostUsers)
      return say(connection, 'error', `Cannot track more than ${mostUsers} total users.`)
    if (subscriptions.has(keyOf(asked))) return say(connection, 'error', `Already subscribed: ${JSON.stringify(asked)}`)
    const subscription = { topic, read: read.value, channel: topic.channel(engine, read.value) }
    subscriptions.set(keyOf(asked), subscription)
    pass(connection, 'subscriptionResponse', { method: 'subscribe', subscription: asked })
    // What happened in this block is told of with it, and must not be told of again as news.
    if (state.timer) {
      clearTimeout(state.timer)
      subscriptions.delete(keyOf(asked))
      closeBlock()
      subscriptions.set(keyOf(asked), subscription)
    }
    // No block after it is of its time: clients take what has the same time for the same.
    state.lastBlock = Math.max(engine.clock.now(), state.lastBlock)
    tell(connection, subscription, topic.first(engine, read.value, state.lastBlock))
  }

  function post(connection: Connection, id: number | undefined, request: { type?: string; payload?: unknown } | undefined) {
    const isAction = request?.type === 'action'
    const { status, body } = answer(served, isAction ? 'exchange' : 'info', request?.payload, 'a websocket')
    feed.changed()
    const type = String(Reflect.get(Object(request?.payload), 'type'))
    const payload = isAction ? body : { type, data: body }
    const response =
      status === 200 ? { type: isAction ? 'action' : 'info', payload } : { type: 'error', payload: `${status} ${String(body)}` }
    say(connection, 'post', { id, response })
  }

  return feed
}

const userOf = (subscription: unknown): string | undefined => Reflect.get(Object(subscription), 'user')

/** Subscriptions of the same words are one. */
const keyOf = (subscription: unknown) => JSON.stringify(subscription, Object.keys(Object(subscription)).toSorted())
