import { setTimeout as sleep } from 'node:timers/promises'
import type { Head } from 'sluice/plugin'
import type { Trace, TracedStep } from './actions.ts'
import type { ExchangeClock } from './api.ts'
import type { Feed, FeedListener } from './feed.ts'
import { union, is, array, nothing, object, text, integer } from './shape.ts'

const updates = array(object({ order: object({ oid: integer }, { cloid: union(text, nothing) }), status: text }))

/** What comes together is one piece of news. */
const gatherMs = 50
/** A wallet is let go once nothing of it was looked for so long: most of what is open ends within moments, and every change is two messages. */
const keptMs = 10_000

/**
 * Tells when the exchange says something of orders that are looked for. That is a reason to look, and never what became of them: what is
 * not told, or of a wallet too many, is found all the same, by the clock.
 */
export interface OrderUpdates {
  /** From now on, of these actions alone. */
  watch(open: readonly TracedStep[]): void
  /** Whether there were any since the last time, or come within the time. */
  waitForUpdate(ms: number, signal: AbortSignal): Promise<boolean>
  /** Nothing is looked for any more. */
  clear(): void
}

export function createOrderUpdates(feed: Pick<Feed, 'followOrders'>, nowMs: () => number = () => performance.now()): OrderUpdates {
  const wallets = new Map<string, { seenAt: number; readonly forget: () => void }>()
  /** What was told last of each order that is looked for, by its names: a message that comes again is no news. */
  let told = new Map<string | number, string | undefined>()
  let isNews = false
  let wake = () => {}

  function tell(): void {
    isNews = true
    wake()
  }

  const follower: FeedListener = {
    onMessage(channel, data) {
      // Nobody tells what happened before a subscription began, or while the connection was cut.
      if (channel === 'subscriptionResponse') return tell()
      if (!is(updates, data)) return
      for (const { order, status } of data) {
        for (const name of [order.oid, order.cloid ?? '']) {
          if (!told.has(name) || told.get(name) === status) continue
          told.set(name, status)
          tell()
        }
      }
    },
    onLost() {},
    onAlive() {},
  }

  function letGo(isOver: (seenAt: number) => boolean): void {
    for (const [user, { seenAt, forget }] of wallets) {
      if (!isOver(seenAt)) continue
      wallets.delete(user)
      forget()
    }
  }

  return {
    watch(open) {
      const now = nowMs()
      const before = told
      told = new Map(open.flatMap(({ trace }) => namesIn(trace)).map((name) => [name, before.get(name)]))
      const users = new Set(open.flatMap(({ user, trace }) => (namesIn(trace).length > 0 ? [user] : [])))
      for (const user of users) {
        const known = wallets.get(user)
        if (known) known.seenAt = now
      }
      letGo((seenAt) => now - seenAt > keptMs)
      for (const user of users) {
        const forget = wallets.has(user) ? undefined : feed.followOrders(user, follower)
        if (forget) wallets.set(user, { seenAt: now, forget })
      }
    },
    async waitForUpdate(ms, signal) {
      const over = new AbortController()
      const stop = () => over.abort()
      wake = stop
      // AbortSignal.any would leave an entry in the signal each time, for as long as it lives.
      signal.addEventListener('abort', stop, { once: true })
      if (!isNews && !signal.aborted) await sleep(ms, undefined, { signal: over.signal }).catch(() => {})
      signal.removeEventListener('abort', stop)
      wake = () => {}
      const came = isNews
      if (came) await sleep(gatherMs, undefined, { signal }).catch(() => {})
      isNews = false
      return came
    },
    clear() {
      letGo(() => true)
      told = new Map()
      isNews = false
    },
  }
}

/** What the exchange calls the orders that an action left behind, or was to cancel. */
function namesIn(trace: Trace): readonly (string | number)[] {
  if (trace.of === 'orders') return trace.cloids
  return trace.of === 'cancels' ? trace.orders : []
}

const everyMs = 2_000
/** Each look weighs on the limit: so many may come before their time, and one more with each that came in time. */
const mostEarly = 3

/**
 * When to look at what is open: at once where the exchange tells of it, and by the clock. What is sent is answered at once, so that only
 * lost answers are looked for.
 */
export function createHeads(clock: ExchangeClock, news: OrderUpdates, pauseMs = everyMs) {
  return async function* heads(signal: AbortSignal): AsyncGenerator<Head> {
    let early = mostEarly
    try {
      while (!signal.aborted) {
        const timestamp = Math.floor(clock.nowMs() / 1000)
        yield { number: BigInt(timestamp), timestamp }
        const came = early > 0 ? await news.waitForUpdate(pauseMs, signal) : await sleep(pauseMs, false, { signal }).catch(() => false)
        early = came ? early - 1 : Math.min(mostEarly, early + 1)
      }
    } finally {
      news.clear()
    }
  }
}
