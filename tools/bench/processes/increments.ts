// Changes of books as exchanges write them, taken into books in memory; and read into maps, which is the least that keeps a book.
import type { BookUpdate, Chain } from '../../../core/contracts/index.ts'
import { createBooks } from '../../../core/live-state/books.ts'
import type { BookVenue } from '../../../core/live-state/book-feed.ts'
import { createSynchronisers } from '../../../core/live-state/synchroniser.ts'
import { keeping } from '../../../test/live-state/keeping.ts'
import { createToldExchange, marketOf } from '../../../test/live-state/told-exchange.ts'
import { serve } from '../child.ts'

export interface Increments {
  markets: number
  /** Of all of them together. */
  changes: number
}

type Change = BookUpdate & { is: 'change' }

/** Levels of each side at first, and of a change. */
const deep = 500
const levelsOfOne = 5
const middle = 1_000_000
const telemetry = { trouble() {}, check() {}, update() {} }
const hour = 3600

export type IncrementsProcess = typeof handlers
const handlers = serve({ books, maps })

/** Each book has a follower, as those of `/events` have. */
function books({ markets, changes }: Increments) {
  const exchange = createToldExchange()
  const following = createSynchronisers({ telemetry, ...keeping })
  const kept = createBooks({ following, telemetry, staleSeconds: hour, checkSeconds: hour, idleSeconds: hour, maxBooks: markets })
  // Nothing is asked of the chain.
  const place = { chain: 'ethereum', network: 'local', connector: 'told', chainImpl: {} as Chain }
  const venue: BookVenue = { ...place, type: 'CLOB', books: exchange.stream }
  const listed = Array.from({ length: markets }, (_, index) => marketOf(`COIN${index}`))
  let seen = 0
  for (const each of listed) kept.follow(venue, each, () => (seen += 1))
  const sides = (direction: number) =>
    Array.from({ length: deep }, (_, place) => ({ price: priceAt(direction * (place + 1)), quantity: String(place + 1) }))
  for (const { id } of listed) exchange.tell(id, exchange.book(0, sides(-1), sides(1)))
  seen = 0
  const sinks = listed.map(({ id }) => exchange.sinkOf(id))
  const measured = timed(textsOf(markets, changes), (text, index) => sinks[index % markets]?.(JSON.parse(text) as Change))
  kept.stop()
  following.stop()
  if (seen !== changes) throw new Error(`${seen} of ${changes} changes were told.`)
  return measured
}

function maps({ markets, changes }: Increments) {
  const kept = Array.from({ length: markets }, () => ({ buys: new Map<string, string>(), sells: new Map<string, string>() }))
  return timed(textsOf(markets, changes), (text, index) => {
    const book = kept[index % markets]
    for (const { side, price, quantity } of (JSON.parse(text) as Change).levels) {
      if (quantity === '0') book?.[side].delete(price)
      else book?.[side].set(price, quantity)
    }
  })
}

function timed(texts: readonly string[], take: (text: string, index: number) => void) {
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()]
  for (const [index, text] of texts.entries()) take(text, index)
  const { user, system } = process.cpuUsage(cpu)
  return { rate: texts.length / ((performance.now() - startedAt) / 1000), cpuMicros: (user + system) / texts.length }
}

/** Near the middle levels come and go and change; a side's own places stay its own, so that no book is crossed. */
function textsOf(markets: number, changes: number): string[] {
  return Array.from({ length: changes }, (_, index) => {
    const follows = Math.floor(index / markets)
    const levels = Array.from({ length: levelsOfOne }, (_level, each) => {
      const direction = (follows + each) % 2 === 0 ? -1 : 1
      const place = ((follows * 31 + each * 17) % deep) + 1
      const quantity = (follows + each) % 3 === 0 && place > 1 ? '0' : String((follows % 1000) + 1)
      return { side: direction < 0 ? 'buys' : 'sells', price: priceAt(direction * place), quantity }
    })
    const change = { is: 'change', follows, sequence: follows + 1, timestamp: 1_700_000_000_000 + follows, levels }
    return JSON.stringify(change)
  })
}

/** So many steps of a hundredth from the middle, in its one spelling. */
const priceAt = (steps: number) => String((middle + steps) / 100)
