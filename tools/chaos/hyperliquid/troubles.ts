import { setTimeout as sleep } from 'node:timers/promises'
import {
  answersOutOfOrder,
  arrivesLate,
  delaysAnswer,
  delaysRequest,
  failsWith,
  losesAnswer,
  losesRequest,
  overItsLimit,
  type Fault,
} from '../../hyperliquid-simulator/exchange/faults.ts'
import type { Random } from '../random.ts'
import type { Trouble } from './between.ts'
import { ttlSeconds } from './home.ts'

const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {})

/** Some of the requests have one of these. */
const some = (faults: (random: Random, over: AbortSignal) => readonly Fault[], shares: Pick<Trouble, 'ofActions' | 'ofQuestions'>) => ({
  ...shares,
  fault: (random: Random, over: AbortSignal) => random.pick(faults(random, over)),
})

/** The network gives it to the exchange twice; who sent it hears the second answer. */
const delivered: Fault = ({ run, send }) => {
  run()
  send(run())
}

/** One for all requests: each waits for the next. */
const overtaking = answersOutOfOrder()

const babbles =
  (random: Random): Fault =>
  ({ run, send }) => {
    const { body } = run()
    send({ status: 200, body: random.pick([null, [], {}, 'ok', { status: 'ok' }, JSON.stringify(body).slice(0, -3)]) })
  }

function away(): Trouble {
  return {
    ofActions: 1,
    ofQuestions: 1,
    fault: () => losesRequest,
    feed(feed) {
      feed.welcome(false)
      feed.cut()
      return () => feed.welcome(true)
    },
  }
}

/** Messages that come in another order: each is kept back by chance until the next one. */
function overtaken(random: Random) {
  const kept: unknown[] = []
  return (message: unknown) => {
    if (kept.length < 3 && random.chance(0.5)) {
      kept.push(message)
      return []
    }
    return [message, ...kept.splice(0)]
  }
}

/** What exchanges, and the networks on the way to them, do on bad days. */
export const troubles: Readonly<Record<string, Trouble>> = {
  away: away(),
  slow: some(
    (random, over) => {
      const late = wait(random.between(20, 3_000), over)
      return [delaysRequest(late), delaysAnswer(late)]
    },
    { ofActions: 0.7, ofQuestions: 0.3 },
  ),
  'over its limit': some(() => [overItsLimit], { ofActions: 0.5, ofQuestions: 0.01 }),
  'failing gateways': some((random) => [500, 502, 503, 504].map((status) => failsWith(status, random.chance(0.5))), {
    ofActions: 0.6,
    ofQuestions: 0.1,
  }),
  'lost answers': some(() => [losesAnswer], { ofActions: 0.7, ofQuestions: 0.1 }),
  'lost requests': some(() => [losesRequest], { ofActions: 0.7, ofQuestions: 0.1 }),
  // Some of it comes when its time is over, and some when it was sent again.
  'late arrivals': some((random) => [arrivesLate(random.between(50, ttlSeconds * 1500))], { ofActions: 0.7 }),
  'out of order': {
    ofActions: 1,
    ofQuestions: 1,
    fault: () => overtaking,
    tamper: overtaken,
  },
  twice: {
    ...some(() => [delivered], { ofActions: 0.7, ofQuestions: 0.3 }),
    tamper: () => (message) => [message, message],
  },
  garbage: {
    ...some((random) => [babbles(random)], { ofActions: 0.6, ofQuestions: 0.1 }),
    tamper: (random) => (message) =>
      random.chance(0.5)
        ? [{ channel: message.channel, data: null }, { channel: 'l2Book', data: { coin: '@107', levels: [] } }, message]
        : [message],
  },
  'dropped messages': { tamper: (random) => (message) => (random.chance(0.5) ? [] : [message]) },
  'cut websockets': {
    feed(feed, random) {
      const timer = setInterval(() => feed.cut(), random.between(100, 900))
      return () => clearInterval(timer)
    },
  },
  'a silent websocket': {
    feed(feed) {
      feed.silence(true)
      return () => feed.silence(false)
    },
  },
}
