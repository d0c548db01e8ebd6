import type { BookMarket, BookStream, BookUpdate, Level } from '../../core/contracts/index.ts'

/** A market as an exchange lists it. */
export const marketOf = (base: string, quote = 'USDC'): BookMarket => ({
  id: `${base}/${quote}`,
  base,
  quote,
  prices: 'any',
  lotSize: '0.001',
  takes: { LIMIT: ['GTC'] },
  makerFee: '0',
  takerFee: '0',
  status: 'open',
})

export const level = (price: number | string, quantity: number | string = 1): Level => ({
  price: String(price),
  quantity: String(quantity),
})

/** An exchange that says of its books what a test tells it to say: the plugin's side. */
export function createToldExchange() {
  const sinks = new Map<string, { sink: (update: BookUpdate) => void; fail: (error: Error) => void; end: () => void }>()
  const snapshots = new Map<string, () => Promise<BookUpdate & { is: 'snapshot' }>>()
  const watched: string[] = []
  const asked: string[] = []
  let onWatch = (_id: string) => {}
  const stream: BookStream = {
    watch({ id }, sink, signal) {
      watched.push(id)
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          sinks.delete(id)
          resolve()
        })
        sinks.set(id, { sink, fail: reject, end: resolve })
        onWatch(id)
      })
    },
    snapshot({ id }) {
      asked.push(id)
      return snapshots.get(id)?.() ?? Promise.reject(new Error('no snapshot was prepared'))
    },
  }
  const book = (sequence: number, buys: readonly Level[] = [level(9)], sells: readonly Level[] = [level(10)]) =>
    ({ is: 'snapshot', sequence, timestamp: Date.now(), book: { buys, sells } }) as const
  return {
    stream,
    watched,
    asked,
    book,
    change: (follows: number, ...levels: (Level & { side: 'buys' | 'sells' })[]): BookUpdate => ({
      is: 'change',
      follows,
      sequence: follows + 1,
      timestamp: Date.now(),
      levels,
    }),
    tell(id: string, update: BookUpdate) {
      sinks.get(id)?.sink(update)
    },
    /** What the connector was given, to go on with after it should. */
    sinkOf: (id: string) => sinks.get(id)?.sink,
    fail: (id: string, error: Error) => sinks.get(id)?.fail(error),
    end: (id: string) => sinks.get(id)?.end(),
    isWatched: (id: string) => sinks.has(id),
    whenWatched(listener: (id: string) => void) {
      onWatch = listener
    },
    /** What is answered to who asks. */
    answer(id: string, snapshot: () => Promise<BookUpdate & { is: 'snapshot' }>) {
      snapshots.set(id, snapshot)
    },
  }
}

export type ToldExchange = ReturnType<typeof createToldExchange>
