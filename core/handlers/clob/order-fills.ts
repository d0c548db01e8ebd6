// Learns the fills of orders from their exchanges, so that the book has them: soon after something shows that there are new ones, and from time to time
// where orders are open, whether or not anybody asks. No request waits for it, and an exchange is asked for a wallet's fills in a market at a time.
import { pause } from '../../base/async.ts'
import { addressKey } from '../../base/addresses.ts'
import { isLess, normalize } from '../../base/decimal.ts'
import type { At, BookTrade, Log } from '../../contracts/index.ts'
import { tradingOf, type Registry } from '../../plugins/index.ts'
import type { ClientOrders } from '../../transactions/book-orders.ts'
import type { OrderFill, OrderMarket } from '../../transactions/order-fills.ts'
import { bookSets, marketsOf } from './markets.ts'

export interface OrderFills {
  /**
   * The book lacks fills of the wallet's orders in that market: they are asked for until they came, or some dozen times. Returns at once.
   * @param order where more of one is filled than was known before, they are asked for soon, however long nothing new was told
   */
  want(of: OrderMarket, order?: { readonly clientOrderId: string; readonly filledAmount: string }): void
  stop(): void
}

interface Parts {
  readonly registry: Pick<Registry, 'networkOf' | 'venue'>
  readonly orders: Pick<ClientOrders, 'noteFills' | 'openMarkets'>
  /** The exchange's ids of open orders that have no report yet, by their client order ids. */
  idsOf(of: OrderMarket, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  readonly log: Pick<Log, 'warn'>
  readonly times?: typeof usualTimes
}

const usualTimes = {
  /** Exchanges tell a fill a moment after they made it. */
  soonMs: 2_000,
  /** Between two questions about one wallet in one market. */
  minPauseMs: 5_000,
  /** Where the exchange has told nothing new: each time longer. */
  maxPauseMs: 3_600_000,
  sweepMs: 600_000,
}
const timeoutMs = 15_000
/** What exchanges have in one answer. */
const maxTrades = 500
/** Orders that have ended since then are looked for fills that are missing: after the start, and each hour. */
const endedMs = 3 * 86_400_000
const sweepsToEnded = 6
/** Of one reading. */
const maxPages = 10
/** After an answer without new fills. With the longest pauses it takes hours. */
const maxTries = 12
const triesAfterFills = 2
/** Amounts of orders that are remembered of a wallet in a market. */
const maxOrders = 1_000

interface Reading {
  /** The pause after the last question. */
  pauseMs: number
  askedAt: number
  /** How often it is asked again by itself. */
  triesLeft: number
  /** What was known to be filled, by client order id. */
  readonly filled: Map<string, string>
  timer?: ReturnType<typeof setTimeout> | undefined
}

export function createOrderFills({ registry, orders, idsOf, log, times = usualTimes }: Parts): OrderFills {
  const readings = new Map<string, Reading>()
  const closing = new AbortController()
  let sweeps = 0
  const sweeper = setInterval(() => void sweep(), times.sweepMs).unref()

  /**
   * @param isWanted whether fills are known to be missing: else older pages are read only where the newer ones had new ones
   * @returns how many orders have new fills, and whether others wait for blocks
   */
  async function read(of: OrderMarket, isWanted: boolean): Promise<{ changed: number; isEarly: boolean }> {
    const type = bookSets.find((each) => each === of.type)
    if (!type) return { changed: 0, isEarly: false }
    const venue = registry.venue(of.connector, of.chain, of.network)
    const network = registry.networkOf(venue, of.chain, of.network)
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
    const market = (await marketsOf(type, venue, { signal })).find(of.market)
    const owner = network.impl.address(of.address) ?? of.address
    const idOf = await idsOf(of, signal)
    let [changed, before, isEarly] = [0, Infinity, false]
    for (let page = 0; page < maxPages; page += 1) {
      const query = { market, owner, limit: maxTrades, ...(before < Infinity && { before }) }
      const trades = await tradingOf(type, venue).trades(query, { signal })
      const final = await finalTrades(trades, network.impl, { signal })
      isEarly ||= final.length < trades.length
      const added = await orders.noteFills(of, fillsByOrder(final), idOf)
      changed += added
      // Of the last millisecond there may be more. What is told twice is kept once.
      const next = Math.min(...trades.map(({ timestamp }) => timestamp)) + 1
      if (trades.length < maxTrades || next >= before || (added === 0 && !isWanted)) return { changed, isEarly }
      before = next
    }
    log.warn({ ...of, trades: maxPages * maxTrades }, 'older fills of orders are not read')
    return { changed, isEarly }
  }

  async function ask(of: OrderMarket, reading: Reading): Promise<void> {
    reading.timer = undefined
    reading.askedAt = performance.now()
    let [changed, isEarly] = [0, false]
    try {
      ;({ changed, isEarly } = await read(of, reading.triesLeft > 0))
    } catch (error) {
      if (!closing.signal.aborted && reading.pauseMs === times.minPauseMs)
        log.warn({ ...of, reason: error instanceof Error ? error.message : 'unknown' }, 'fills of orders not read; tried again later')
    }
    reading.pauseMs = changed > 0 ? times.minPauseMs : Math.min(reading.pauseMs * 2, times.maxPauseMs)
    // Some come a moment after the others.
    if (changed > 0 && !isEarly) reading.triesLeft = Math.min(reading.triesLeft, triesAfterFills)
    if (reading.triesLeft <= 0) return
    reading.triesLeft -= 1
    arm(of, reading)
  }

  function arm(of: OrderMarket, reading: Reading): void {
    if (closing.signal.aborted) return
    clearTimeout(reading.timer)
    const dueMs = reading.askedAt + reading.pauseMs - performance.now()
    reading.timer = setTimeout(() => void ask(of, reading), Math.max(times.soonMs, dueMs)).unref()
  }

  function readingOf({ chain, network, connector, type, market, address }: OrderMarket): Reading {
    const name = [chain, network, connector, type, market, addressKey(address)].join('/')
    const known = readings.get(name)
    if (known) return known
    const made = { pauseMs: times.minPauseMs, askedAt: -Infinity, triesLeft: 0, filled: new Map<string, string>() }
    readings.set(name, made)
    return made
  }

  const want: OrderFills['want'] = (of, order) => {
    const reading = readingOf(of)
    reading.triesLeft = maxTries
    const isMore = order !== undefined && isLess(reading.filled.get(order.clientOrderId) ?? '0', order.filledAmount)
    if (isMore) {
      if (reading.filled.size >= maxOrders) reading.filled.clear()
      reading.filled.set(order.clientOrderId, order.filledAmount)
      reading.pauseMs = times.minPauseMs
    }
    if (isMore || !reading.timer) arm(of, reading)
  }

  async function sweep(): Promise<void> {
    try {
      const endedSince = sweeps % sweepsToEnded === 0 ? Date.now() - endedMs : undefined
      sweeps += 1
      for (const { isLacking: isWanted, ...of } of await orders.openMarkets(endedSince)) {
        const reading = readingOf(of)
        if (isWanted) want(of)
        else if (!reading.timer) arm(of, reading)
        // One exchange is not asked about all of them at once.
        await pause(times.soonMs, closing.signal, { ref: false })
      }
    } catch (error) {
      log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'open orders not read for their fills; tried again later')
    }
  }

  return {
    want,
    stop() {
      closing.abort()
      clearInterval(sweeper)
      for (const { timer } of readings.values()) clearTimeout(timer)
    },
  }
}

/** Those of blocks that stay. The head is asked for within seconds, so that no more blocks come in between than make one final. */
async function finalTrades(
  trades: readonly BookTrade[],
  { head, confirmations }: { head(at: At): Promise<{ number: bigint }>; confirmations: number },
  at: At,
): Promise<readonly BookTrade[]> {
  if (trades.every(({ blockNumber }) => blockNumber === undefined)) return trades
  const finalBlock = Number((await head(at)).number) - (confirmations - 1)
  return trades.filter(({ blockNumber = -Infinity }) => blockNumber <= finalBlock)
}

/** By the exchange's id of the order. Pure. */
export function fillsByOrder(trades: readonly BookTrade[]): ReadonlyMap<string, readonly OrderFill[]> {
  const told = new Map<string, OrderFill[]>()
  for (const { orderId, tradeId, price, amount, fee, feeToken, timestamp, txHash } of trades) {
    if (orderId === undefined) continue
    const fill = { tradeId, price: normalize(price), amount: normalize(amount), fee: normalize(fee), feeToken, timestamp }
    told.set(orderId, [...(told.get(orderId) ?? []), { ...fill, ...(txHash !== undefined && { txHash }) }])
  }
  return told
}
