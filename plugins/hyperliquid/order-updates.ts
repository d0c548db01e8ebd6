import { setTimeout as sleep } from 'node:timers/promises'
import type { Head } from 'sluice/plugin'
import type { Trace, TracedStep } from './actions.ts'
import type { ExchangeClock } from './api.ts'
import type { Feed, FeedListener } from './feed.ts'
import { array, integer, is, nothing, object, text, union } from './shape.ts'

const messageShape = array(object({ order: object({ oid: integer }, { cloid: union(text, nothing) }), status: text }))

/** Messages that arrive within this time count as one update. */
const gatherMs = 50
/** A wallet is unsubscribed after this time without open actions. Most actions end within moments, and every change is two messages. */
const idleWalletMs = 10_000

/**
 * Says when the exchange sends an update of a watched order by websocket. An update is a reason to poll, never the outcome itself. Polling
 * by the clock finds what no update was sent of, such as orders of more wallets than the exchange allows to subscribe to.
 */
export interface OrderUpdates {
  /** Watches the orders of these actions, and no others. */
  watch(open: readonly TracedStep[]): void
  /** Whether there was an update since the last call, or one arrives within `ms`. */
  waitForUpdate(ms: number, signal: AbortSignal): Promise<boolean>
  /** Stops watching. */
  clear(): void
}

export function createOrderUpdates(feed: Pick<Feed, 'followOrders'>, nowMs: () => number = () => performance.now()): OrderUpdates {
  const wallets = new Map<string, { openAtMs: number; readonly unsubscribe: () => void }>()
  /** The last status of each watched order, by each of its names, so that a repeated message is not an update. */
  let statuses = new Map<string | number, string | undefined>()
  let hasUpdate = false
  let wake = () => {}

  function notify(): void {
    hasUpdate = true
    wake()
  }

  const listener: FeedListener = {
    onMessage(channel, data) {
      // The exchange does not send updates from before a subscription or of the time without a connection.
      if (channel === 'subscriptionResponse') return notify()
      if (!is(messageShape, data)) return
      for (const { order, status } of data) {
        for (const name of [order.oid, order.cloid ?? '']) {
          if (!statuses.has(name) || statuses.get(name) === status) continue
          statuses.set(name, status)
          notify()
        }
      }
    },
    onLost() {},
    onAlive() {},
  }

  function unsubscribe(isIdle: (openAtMs: number) => boolean): void {
    for (const [user, wallet] of wallets) {
      if (!isIdle(wallet.openAtMs)) continue
      wallets.delete(user)
      wallet.unsubscribe()
    }
  }

  return {
    watch(open) {
      const now = nowMs()
      const before = statuses
      statuses = new Map(open.flatMap(({ trace }) => orderNames(trace)).map((name) => [name, before.get(name)]))
      const users = new Set(open.flatMap(({ user, trace }) => (orderNames(trace).length > 0 ? [user] : [])))
      for (const user of users) {
        const known = wallets.get(user)
        if (known) known.openAtMs = now
      }
      unsubscribe((openAtMs) => now - openAtMs > idleWalletMs)
      for (const user of users) {
        const stop = wallets.has(user) ? undefined : feed.followOrders(user, listener)
        if (stop) wallets.set(user, { openAtMs: now, unsubscribe: stop })
      }
    },
    async waitForUpdate(ms, signal) {
      const timer = new AbortController()
      const stop = () => timer.abort()
      wake = stop
      // AbortSignal.any would leave an entry in the signal each time, for as long as it lives.
      signal.addEventListener('abort', stop, { once: true })
      if (!hasUpdate && !signal.aborted) await sleep(ms, undefined, { signal: timer.signal }).catch(() => {})
      signal.removeEventListener('abort', stop)
      wake = () => {}
      const updated = hasUpdate
      if (updated) await sleep(gatherMs, undefined, { signal }).catch(() => {})
      hasUpdate = false
      return updated
    },
    clear() {
      unsubscribe(() => true)
      statuses = new Map()
      hasUpdate = false
    },
  }
}

/** The exchange's names of the orders that an action places or cancels. */
function orderNames(trace: Trace): readonly (string | number)[] {
  if (trace.of === 'orders') return trace.cloids
  return trace.of === 'cancels' ? trace.orders : []
}

const pollMs = 2_000
/** Each poll counts against the rate limit: so many may come early, and one more for each that came in time. */
const maxEarly = 3

/**
 * When to poll what is open: after an update of the exchange, and every two seconds. Only actions whose answer was lost are polled, since
 * the answer is the outcome.
 */
export function createHeads(clock: ExchangeClock, updates: OrderUpdates, pauseMs = pollMs) {
  return async function* heads(signal: AbortSignal): AsyncGenerator<Head> {
    let earlyLeft = maxEarly
    try {
      while (!signal.aborted) {
        const timestamp = Math.floor(clock.nowMs() / 1000)
        yield { number: BigInt(timestamp), timestamp }
        const isEarly =
          earlyLeft > 0 ? await updates.waitForUpdate(pauseMs, signal) : await sleep(pauseMs, false, { signal }).catch(() => false)
        earlyLeft = isEarly ? earlyLeft - 1 : Math.min(maxEarly, earlyLeft + 1)
      }
    } finally {
      updates.clear()
    }
  }
}
