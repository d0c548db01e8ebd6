// Learns the fills of orders from their exchanges, so that the book has them: soon after something shows that there are new ones, and from time to time
// where orders are open, whether or not anybody asks. No request waits for it, and an exchange is asked for a wallet's fills in a market at a time.
import { pause } from '../../base/async.ts'
import { addressKey } from '../../base/addresses.ts'
import { isLess, normalize, sum } from '../../base/decimal.ts'
import type { BookTrade, Log } from '../../contracts/index.ts'
import { tradingOf, type Registry } from '../../plugins/index.ts'
import type { ClientOrders } from '../../transactions/book-orders.ts'
import type { OrderFill, OrderMarket } from '../../transactions/order-fills.ts'
import { bookSets, marketsOf } from './markets.ts'

export interface OrderFills {
  /** There may be new fills of the wallet's orders in that market. Returns at once. */
  want(of: OrderMarket): void
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

interface Reading {
  /** The pause after the last question. */
  pauseMs: number
  askedAt: number
  timer?: ReturnType<typeof setTimeout> | undefined
}

export function createOrderFills({ registry, orders, idsOf, log, times = usualTimes }: Parts): OrderFills {
  const readings = new Map<string, Reading>()
  const closing = new AbortController()
  const sweeper = setInterval(() => void sweep(), times.sweepMs).unref()

  /** @returns how many orders have new fills */
  async function read(of: OrderMarket): Promise<number> {
    const type = bookSets.find((each) => each === of.type)
    if (!type) return 0
    const venue = registry.venue(of.connector, of.chain, of.network)
    const network = registry.networkOf(venue, of.chain, of.network)
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
    const market = (await marketsOf(type, venue, { signal })).find(of.market)
    const owner = network.impl.address(of.address) ?? of.address
    const idOf = await idsOf(of, signal)
    const trades = await tradingOf(type, venue).trades({ market, owner, limit: maxTrades }, { signal })
    return orders.noteFills(of, fillsByOrder(trades), idOf)
  }

  async function ask(of: OrderMarket, reading: Reading): Promise<void> {
    reading.timer = undefined
    reading.askedAt = performance.now()
    let changed = 0
    try {
      changed = await read(of)
    } catch (error) {
      if (!closing.signal.aborted && reading.pauseMs === times.minPauseMs)
        log.warn({ ...of, reason: error instanceof Error ? error.message : 'unknown' }, 'fills of orders not read; tried again later')
    }
    reading.pauseMs = changed > 0 ? times.minPauseMs : Math.min(reading.pauseMs * 2, times.maxPauseMs)
  }

  function want(of: OrderMarket): void {
    if (closing.signal.aborted) return
    const name = [of.chain, of.network, of.connector, of.type, of.market, addressKey(of.address)].join('/')
    const reading = readings.get(name) ?? { pauseMs: times.minPauseMs, askedAt: -Infinity }
    readings.set(name, reading)
    if (reading.timer) return
    const dueMs = reading.askedAt + reading.pauseMs - performance.now()
    reading.timer = setTimeout(() => void ask(of, reading), Math.max(times.soonMs, dueMs)).unref()
  }

  async function sweep(): Promise<void> {
    try {
      for (const of of await orders.openMarkets()) {
        want(of)
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

/** Whether an order has fills that the book has not. */
export const lacksFills = (filledAmount: string, fills: readonly OrderFill[]): boolean =>
  isLess(sum(fills.map(({ amount }) => amount)), filledAmount)
