import { SluiceError } from 'sluice/plugin'
import type { At } from 'sluice/plugin'
import type { Budget } from './api/budget.ts'
import type { Post } from './api/post.ts'
import type { Shape } from './shape.ts'

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const light: ReadonlySet<string> = new Set([
  'l2Book',
  'allMids',
  'clearinghouseState',
  'orderStatus',
  'spotClearinghouseState',
  'exchangeStatus',
])
const weightOf = (type: string): number => (light.has(type) ? 2 : 20)
/** Long answers cost one more for so many entries. */
const entriesPerWeight = 20

export interface Question {
  readonly type: string
  readonly [field: string]: string | number | boolean
}

/** Asks the exchange something; it changes nothing. @throws SluiceError NETWORK, RATE_LIMIT */
export type Ask = <T>(question: Question, shape: Shape<T>, at: At) => Promise<T>

export function createAsk(post: Post, budget: Budget): Ask {
  return async (question, shape, { signal }) => {
    budget.take(weightOf(question.type), 'question')
    const answer = await post('info', JSON.stringify(question), signal)
    if (answer.is === 'lost') throw away(answer.reason)
    const { status, body, retryAfterSeconds } = answer
    if (status === 429) {
      budget.exhausted()
      throw new SluiceError('RATE_LIMIT', 'Hyperliquid takes no more requests from this IP address for now. Try again later.', {
        retryAfterSeconds: retryAfterSeconds ?? 10,
      })
    }
    if (status >= 500) throw away(`it failed (HTTP ${status})`)
    if (status !== 200) throw new Error(`Hyperliquid refused the question ${question.type} (HTTP ${status}).`)
    if (Array.isArray(body)) budget.also(Math.floor(body.length / entriesPerWeight))
    return shape(body, question.type)
  }
}

const away = (reason: string) =>
  new SluiceError('NETWORK', `Hyperliquid cannot be asked: ${reason}. Try again, or check networks in conf/connectors/hyperliquid.yml.`, {
    retryAfterSeconds: 2,
  })
