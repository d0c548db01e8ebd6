// A websocket that tells books, and a bot that follows them: one clock tells how long a book takes from the one to the other.
import type { IncomingMessage } from 'node:http'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../testkit/client.ts'
import { createBookTeller } from '../book-teller.ts'
import { serve } from '../child.ts'
import { percentile } from '../measuring.ts'

/** What a stream of events tells of books. */
interface FollowedBooks {
  onBook(told: (coin: string, time: number, atMs: number) => void): void
  /** Looks again whenever something came. */
  until(holds: (newest: ReadonlyMap<string, number>) => boolean): Promise<void>
  end(): void
}

/** Sluice's event, or the message of the exchange itself: the time of the exchange's book is the sequence of Sluice's. */
const coin = /"(?:market|coin)":"(COIN\d+)/
const time = /"(?:sequence|time)":(\d+)/

function followBooks(response: IncomingMessage): FollowedBooks {
  const newest = new Map<string, number>()
  let told = (_coin: string, _time: number, _atMs: number) => {}
  let look = () => {}
  let fail = (_error: Error) => {}
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    const atMs = performance.now()
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const [of, at] = [coin.exec(frame)?.[1], time.exec(frame)?.[1]]
      if (of === undefined || at === undefined) continue
      newest.set(of, Number(at))
      told(of, Number(at), atMs)
    }
    look()
  })
  const ended = () => fail(new Error(`The stream of events ended (${response.statusCode}): ${rest.slice(0, 500)}`))
  response.on('end', ended)
  response.on('error', ended)
  return {
    onBook(listener) {
      told = listener
    },
    until: (holds) =>
      new Promise((resolve, reject) => {
        fail = reject
        look = () => {
          if (holds(newest)) resolve()
        }
        look()
      }),
    end() {
      look = () => {}
      fail = () => {}
      response.destroy()
    },
  }
}

/** Who takes the books, and gives them on. */
export interface Taker {
  who: 'sluice' | 'relay'
  url: string
  certsDir: string
  markets: number
}

const tellers = { sluice: await createBookTeller(), relay: await createBookTeller() }
const coinsOf = (markets: number) => Array.from({ length: markets }, (_, index) => `COIN${index}`)
/** What is told between two looks at what came back. */
const atOnce = 64
const half = 500

export type BooksProcess = typeof handlers
const handlers = serve(
  {
    wsUrls: () => ({ sluice: tellers.sluice.wsUrl, relay: tellers.relay.wsUrl }),
    flood,
    pace,
  },
  () => Promise.all([tellers.sluice.stop(), tellers.relay.stop()]),
)

/** So many books as fast as they are taken, until the last of every market has come back. */
async function flood({ books, ...taker }: Taker & { books: number }): Promise<{ seconds: number }> {
  const coins = coinsOf(taker.markets)
  const last = new Map<string, number>()
  return following(taker, coins, async (followed) => {
    const startedAt = performance.now()
    for (let told = 0; told < books; told += 1) {
      const coin = coins[told % coins.length] ?? ''
      last.set(coin, tellers[taker.who].tell(coin))
      if (told % atOnce === 0) await turn()
    }
    await followed.until((newest) => [...last].every(([coin, time]) => (newest.get(coin) ?? 0) >= time))
    return { seconds: (performance.now() - startedAt) / 1000 }
  })
}

/**
 * Books of all markets in turn, so many a second, or those of all markets at once every half second; and how long each took that came back.
 * One that a newer one overtook does not.
 */
async function pace({ perSecond, seconds, ...taker }: Taker & { perSecond: number | 'at once'; seconds: number }) {
  const coins = coinsOf(taker.markets)
  const sentAt = new Map<string, number>()
  const tookMs: number[] = []
  let told = 0
  const tell = (coin: string) => {
    const now = performance.now()
    sentAt.set(`${coin}/${tellers[taker.who].tell(coin)}`, now)
    told += 1
  }
  return following(taker, coins, async (followed) => {
    followed.onBook((coin, time, atMs) => {
      const sent = sentAt.get(`${coin}/${time}`)
      if (sent !== undefined) tookMs.push(atMs - sent)
    })
    const startedAt = performance.now()
    const pastMs = () => performance.now() - startedAt
    while (pastMs() < seconds * 1000) {
      if (perSecond === 'at once') {
        for (const coin of coins) tell(coin)
        await sleep(half)
      } else {
        while (told < (pastMs() / 1000) * perSecond) tell(coins[told % coins.length] ?? '')
        await sleep(1)
      }
    }
    await sleep(half)
    return { told, came: tookMs.length, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) }
  })
}

async function following<T>({ who, url, certsDir }: Taker, coins: readonly string[], run: (followed: FollowedBooks) => Promise<T>) {
  const client = createClient(url, certsDir)
  const place = { topics: 'orderBook', chain: 'hyperliquid', network: 'testnet', connector: 'hyperliquid', type: 'PERP_CLOB' }
  const market = coins.map((coin) => `${coin}-USD`)
  const query: Record<string, string | readonly string[]> = who === 'sluice' ? { ...place, market } : { coin: coins }
  const followed = followBooks(await client.open('/events', query))
  try {
    // Each is told once to who begins to follow it.
    await followed.until((newest) => coins.every((coin) => newest.has(coin)))
    return await run(followed)
  } finally {
    followed.end()
    client.close()
  }
}
