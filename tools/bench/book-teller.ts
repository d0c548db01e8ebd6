import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { acceptSockets, type Connection } from '../hyperliquid-simulator/exchange/sockets.ts'

/** Hyperliquid's websocket as a source of books alone: nobody matches anything, so that it tells as much as it is to, and when it is to. */
export interface BookTeller {
  readonly wsUrl: string
  /** Another book of the coin, to all who follow it. Gives its time, by which it is known again. */
  tell(coin: string): number
  stop(): Promise<void>
}

/** As many as the exchange tells of each side. */
const levels = 20
const books = Array.from({ length: 16 }, (_, each) => JSON.stringify([sideOf(each, -1), sideOf(each, 1)]))

export async function createBookTeller(): Promise<BookTeller> {
  const followed = new Map<Connection, Set<string>>()
  const times = new Map<string, number>()
  let told = 0

  /** No two books of a coin are of the same millisecond, as at the exchange. */
  function bookOf(coin: string): { time: number; text: string } {
    const time = Math.max(Date.now(), (times.get(coin) ?? 0) + 1)
    times.set(coin, time)
    told += 1
    return { time, text: `{"channel":"l2Book","data":{"coin":"${coin}","time":${time},"levels":${books[told % books.length]}}}` }
  }

  const server = createServer()
  acceptSockets(
    server,
    () => true,
    (connection) => {
      const coins = new Set<string>()
      followed.set(connection, coins)
      connection.onClose = () => void followed.delete(connection)
      connection.onText = (text) => {
        const { method, subscription } = JSON.parse(text) as { method?: string; subscription?: { type?: string; coin?: string } }
        if (method === 'ping') connection.send('{"channel":"pong"}')
        if (subscription?.type !== 'l2Book' || subscription.coin === undefined) return
        if (method === 'unsubscribe') coins.delete(subscription.coin)
        if (method !== 'subscribe') return
        coins.add(subscription.coin)
        connection.send(bookOf(subscription.coin).text)
      }
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    tell(coin) {
      const { time, text } = bookOf(coin)
      for (const [connection, coins] of followed) if (coins.has(coin)) connection.send(text)
      return time
    },
    async stop() {
      for (const connection of followed.keys()) connection.cut()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Around 10, with prices and sizes as long as those of the exchange; no size is that of another of the books. */
function sideOf(book: number, direction: -1 | 1): object[] {
  return Array.from({ length: levels }, (_, place) => ({
    px: (10 + (direction * (place + 1)) / 1000).toFixed(4),
    sz: (100 + place + (book * 37) / 100).toFixed(2),
    n: place + 1,
  }))
}
