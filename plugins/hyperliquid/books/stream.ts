import { SluiceError } from 'sluice/plugin'
import type { At, Book, BookMarket, BookStream, BookUpdate, Level } from 'sluice/plugin'
import { decimal, either, is, list, nothing, object, pair, shape, text, whole } from '../shape.ts'
import type { Of } from '../shape.ts'
import type { Ask } from '../api.ts'
import type { ExchangeClock } from '../api/clock.ts'
import { plain } from '../decimal.ts'
import { trades } from '../orders/order-answers.ts'
import type { Feed } from '../feed.ts'

const level = object({ px: decimal, sz: decimal })
const l2Book = object({ coin: text, time: whole, levels: pair(list(level), list(level)) })
const askedBook = shape(either(l2Book, nothing))
const context = object({ coin: text, ctx: object({ dayBaseVlm: decimal }) })

/**
 * Books by websocket. The exchange tells each as a whole, twenty levels of each side, about twice a second where it changed: the time of
 * a snapshot is its sequence.
 */
export function bookStream({ ask, feed, clock }: { ask: Ask; feed: Feed; clock: ExchangeClock }): BookStream {
  return {
    async watch({ id }, sink, signal) {
      let lastTradeMs = 0
      const forget = feed.follow(id, {
        news(channel, data) {
          if (channel === 'l2Book' && is(l2Book, data)) {
            clock.heard(data.time)
            sink(snapshotOf(data))
          }
          if (channel === 'trades' && is(trades, data)) {
            const [newest] = data.toSorted((a, b) => b.time - a.time || b.tid - a.tid)
            if (!newest || newest.time < lastTradeMs) return
            lastTradeMs = newest.time
            sink({ is: 'traded', lastPrice: plain(newest.px) })
          }
          if (/^active(Spot)?AssetCtx$/.test(channel) && is(context, data)) sink({ is: 'traded', volume24h: plain(data.ctx.dayBaseVlm) })
        },
        lost: (reason) => sink({ is: 'lost', reason: `Hyperliquid is away: ${reason}.` }),
        alive: () => sink({ is: 'alive', timestamp: clock.nowMs() }),
      })
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      forget()
    },
    snapshot: (market, at) => snapshot(ask, market, at),
  }
}

async function snapshot(ask: Ask, { id, base, quote }: BookMarket, at: At): Promise<BookUpdate & { is: 'snapshot' }> {
  const book = await ask({ type: 'l2Book', coin: id }, askedBook, at)
  if (book) return snapshotOf(book)
  throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid has no book of ${base}-${quote} any more.`)
}

function snapshotOf({ time, levels: [bids, asks] }: Of<typeof l2Book>): BookUpdate & { is: 'snapshot' } {
  const book: Book = { buys: side(bids), sells: side(asks) }
  return { is: 'snapshot', book, sequence: time, timestamp: time }
}

const side = (levels: readonly Of<typeof level>[]): readonly Level[] =>
  levels.map(({ px, sz }) => ({ price: plain(px), quantity: plain(sz) })).filter(({ quantity }) => !/^(0$|-)/.test(quantity))
