import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { venueFields, type BookAnswer, type Desk } from '../../../../testkit/cards/books/fixture.ts'
import { until } from './until.ts'

/** What `/events` tells of the market's book, until it is stopped. */
export interface Following {
  /** All of it, in order; what says that the book is stale has no levels, and is left out. */
  readonly told: readonly (BookAnswer & Record<'chain' | 'network' | 'connector', string>)[]
  until(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer & Record<'chain' | 'network' | 'connector', string>>
  stop(): void
}

export async function followBook(desk: Desk): Promise<Following> {
  const { bench, market, type } = desk
  const stream = await bench.client.open('/events', { topics: 'orderBook', ...venueFields(desk), market: market.market, type })
  expect(stream.statusCode).to.equal(200)
  const told: Following['told'][number][] = []
  let event = ''
  const lines = createInterface(stream)
  lines.on('line', (line) => {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    if (!line.startsWith('data: ') || event !== 'orderBook') return
    const data = JSON.parse(line.slice('data: '.length))
    if (data.stale !== true) told.push(data)
  })
  return {
    told,
    async until(what, holds) {
      await until(
        what,
        async () => told,
        (all) => all.some(holds),
      )
      return told.find(holds) ?? expect.fail(what)
    },
    stop: () => {
      lines.close()
      stream.destroy()
    },
  }
}
