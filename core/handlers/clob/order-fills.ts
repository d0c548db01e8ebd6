// Learns the fills of orders from their exchanges, so that the book has them: soon after something shows that there are new ones, and from time to time
// where orders are open, whether or not anybody asks. No request waits for it, and an exchange is asked for a wallet's fills in a market at a time.
import { pause } from '../../base/async.ts'
import { addressKey } from '../../base/addresses.ts'
import { isLess, normalize } from '../../base/decimal.ts'
import type { At, BookMarket, BookTrade, Log } from '../../contracts/index.ts'
import { tradingOf, type NetworkEntry, type Registry } from '../../plugins/index.ts'
import type { ClientOrders } from '../../transactions/book-orders.ts'
import type { FillsValue } from '../../transactions/counted-fills.ts'
import type { FillsReading, OrderMarket, ToldFill } from '../../transactions/order-fills.ts'
import { bookSets, marketsOf } from './markets.ts'
import { reasonOf } from '../../base/errors.ts'

export interface OrderFills {
  /**
   * The book lacks fills of the wallet's orders in that market: they are asked for until they came, or some dozen times. Returns at once.
   * @param order where more of one is filled than was known before, they are asked for soon, however long nothing new was told
   */
  want(of: OrderMarket, order?: { readonly clientOrderId: string; readonly filledAmount: string }): void
  /**
   * Orders of a client with a limit of losses are placed there: fills of those before them are asked for within a minute, and a minute later those in all other
   * markets where orders are open, some thirty markets a minute. Returns at once.
   */
  look(of: OrderMarket): void
  stop(): void
}

interface Parts {
  readonly registry: Pick<Registry, 'networkOf' | 'venue'>
  readonly orders: Pick<ClientOrders, 'noteFills' | 'openMarkets'>
  /** The exchange's ids of open orders of which the journal has none yet, by their client order ids. */
  idsOf(of: OrderMarket, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** What fills of an order in that market lost. Absent: nothing is counted for any. */
  readonly lossOf?: (on: { readonly market: BookMarket; readonly network: NetworkEntry; readonly address: string }) => FillsValue
  /** Asks for the states of some open orders in that market, and stores them. */
  storeStates(of: OrderMarket, signal: AbortSignal): Promise<void>
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
  /** After the start: what was filled at its end, or while no server ran, is wanted before somebody looks at the book. */
  firstSweepMs: 30_000,
  sweepMs: 600_000,
  /** Between two markets whose open orders are asked about. */
  statesMs: 30_000,
  /** The longest pause while orders are placed whose losses count. */
  lookMs: 60_000,
}
const timeoutMs = 15_000
/** What exchanges have in one answer. */
const maxTrades = 500
/** Orders that have ended since then are looked for fills that are missing: after the start, and each hour. */
const endedMs = 3 * 86_400_000
const sweepsToEnded = 6
/** Of one reading. */
const maxPages = 10
/** Where losses count, and each page has new fills: whoever takes an order in many small parts must not keep those before them from being read. */
const maxCountedPages = 40
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
  /** When that fires. */
  dueAt: number
}

export function createOrderFills(parts: Parts): OrderFills {
  const { orders, storeStates, log, times = usualTimes } = parts
  const readings = new Map<string, Reading>()
  const closing = new AbortController()
  let sweeps = 0
  let lookedAt = -Infinity
  let isLooking = false
  const first = setTimeout(() => void sweep(), times.firstSweepMs).unref()
  const sweeper = setInterval(() => void sweep(), times.sweepMs).unref()
  /** Markets whose open orders may have ended, those first that wait longest. */
  const unasked = new Map<string, OrderMarket>()
  const asker = setInterval(() => void askForStates(), times.statesMs).unref()

  async function ask(of: OrderMarket, reading: Reading): Promise<void> {
    reading.timer = undefined
    reading.askedAt = performance.now()
    let [changed, isEarly] = [0, false]
    try {
      ;({ changed, isEarly } = await readFills(parts, of, reading.triesLeft > 0, closing.signal))
    } catch (error) {
      if (!closing.signal.aborted && reading.pauseMs === times.minPauseMs)
        log.warn({ ...of, reason: reasonOf(error) }, 'fills of orders not read; tried again later')
    }
    if (changed > 0) unasked.set(nameOf(of), of)
    reading.pauseMs = changed > 0 ? times.minPauseMs : Math.min(reading.pauseMs * 2, times.maxPauseMs)
    // Some come a moment after the others.
    if (isEarly) reading.triesLeft = Math.max(reading.triesLeft, 1)
    else if (changed > 0) reading.triesLeft = Math.min(reading.triesLeft, triesAfterFills)
    if (reading.triesLeft <= 0) return
    reading.triesLeft -= 1
    arm(of, reading)
  }

  function arm(of: OrderMarket, reading: Reading): void {
    if (closing.signal.aborted) return
    const nowMs = performance.now()
    const dueAt = Math.max(nowMs + times.soonMs, reading.askedAt + reading.pauseMs)
    // Never later: else whoever places orders all the time would keep their fills from being read.
    if (reading.timer && reading.dueAt <= dueAt) return
    clearTimeout(reading.timer)
    reading.dueAt = dueAt
    reading.timer = setTimeout(() => void ask(of, reading), dueAt - nowMs).unref()
  }

  /** An order that is filled while nobody asks has no state that says so: the book would lack it, and limits would hold what it reserved. */
  async function askForStates(): Promise<void> {
    const [[name, of] = []] = unasked
    if (name === undefined || of === undefined) return
    unasked.delete(name)
    try {
      await storeStates(of, AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]))
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ ...of, reason: reasonOf(error) }, 'open orders not asked about; tried again later')
    }
  }

  function readingOf(of: OrderMarket): Reading {
    const name = nameOf(of)
    const known = readings.get(name)
    if (known) return known
    const made = { pauseMs: times.minPauseMs, askedAt: -Infinity, dueAt: 0, triesLeft: 0, filled: new Map<string, string>() }
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

  function lookAt(of: OrderMarket): void {
    const reading = readingOf(of)
    reading.pauseMs = Math.min(reading.pauseMs, times.lookMs)
    arm(of, reading)
  }

  function look(of: OrderMarket): void {
    lookAt(of)
    if (!isLooking && performance.now() - lookedAt >= times.lookMs) void lookAround()
  }

  /** A limit of losses spans all wallets and markets of a client. */
  async function lookAround(): Promise<void> {
    isLooking = true
    lookedAt = performance.now()
    try {
      for (const { isLacking: _, ...of } of await orders.openMarkets()) {
        lookAt(of)
        await pause(times.soonMs, closing.signal, { ref: false })
      }
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ reason: reasonOf(error) }, 'open orders not read for their fills; tried again later')
    } finally {
      isLooking = false
    }
  }

  async function sweep(): Promise<void> {
    try {
      const endedSince = sweeps % sweepsToEnded === 0 ? Date.now() - endedMs : undefined
      sweeps += 1
      for (const { isLacking: isWanted, ...of } of await orders.openMarkets(endedSince)) {
        const reading = readingOf(of)
        unasked.set(nameOf(of), of)
        if (isWanted) want(of)
        else if (!reading.timer) arm(of, reading)
        // One exchange is not asked about all of them at once.
        await pause(times.soonMs, closing.signal, { ref: false })
      }
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'open orders not read for their fills; tried again later')
    }
  }

  return {
    want,
    look,
    stop() {
      closing.abort()
      clearTimeout(first)
      clearInterval(sweeper)
      clearInterval(asker)
      for (const { timer } of readings.values()) clearTimeout(timer)
    },
  }
}

/**
 * @param isWanted whether fills are known to be missing: else older pages are read only where the newer ones had new ones
 * @returns how many orders have new fills, and whether others wait for blocks, or for the market of when they were made
 */
async function readFills(
  { registry, orders, idsOf, lossOf, log }: Omit<Parts, 'storeStates' | 'times'>,
  of: OrderMarket,
  isWanted: boolean,
  closing: AbortSignal,
): Promise<{ changed: number; isEarly: boolean }> {
  const type = bookSets.find((each) => each === of.type)
  if (!type) return { changed: 0, isEarly: false }
  const venue = registry.venue(of.connector, of.chain, of.network)
  const network = registry.networkOf(venue, of.chain, of.network)
  const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)])
  const market = (await marketsOf(type, venue, { signal })).find(of.market)
  const owner = network.impl.address(of.address) ?? of.address
  // Of a perpetual nothing enters the wallet, and what others write of theirs is not counted.
  const lost = type !== 'PERP_CLOB' && venue.builtIn ? lossOf?.({ market, network, address: of.address }) : undefined
  const idOf = await idsOf(of, signal)
  let [changed, before, isEarly] = [0, Infinity, false]
  const valueOf: FillsValue | undefined =
    lost &&
    ((about, fills) => {
      const value = lost(about, fills)
      isEarly ||= value === 'not yet'
      return value
    })
  const reading: FillsReading = new Map()
  for (let page = 1; ; page += 1) {
    const query = { market, owner, limit: maxTrades, ...(before < Infinity && { before }) }
    const trades = await tradingOf(type, venue).trades(query, { signal })
    const final = await finalTrades(trades, network.impl, { signal })
    isEarly ||= final.length < trades.length
    const added = await orders.noteFills(of, toldFills(final), idOf, valueOf, reading)
    changed += added
    // Of the last millisecond there may be more. What is told twice is kept once.
    const next = Math.min(...trades.map(({ timestamp }) => timestamp)) + 1
    if (trades.length < maxTrades || next >= before || (added === 0 && !isWanted)) return { changed, isEarly }
    if (page >= (valueOf && added > 0 ? maxCountedPages : maxPages)) {
      log.warn({ ...of, trades: page * maxTrades }, 'older fills of orders are not read')
      return { changed, isEarly }
    }
    before = next
  }
}

const nameOf = ({ chain, network, connector, type, market, address }: OrderMarket): string =>
  [chain, network, connector, type, market, addressKey(address)].join('/')

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

/** As the book keeps them. Pure. */
export function toldFills(trades: readonly BookTrade[]): readonly ToldFill[] {
  return trades.map(({ orderId, side, tradeId, price, amount, fee, feeToken, timestamp, txHash }) => {
    const fill = { tradeId, price: normalize(price), amount: normalize(amount), fee: normalize(fee), feeToken, timestamp }
    return { fill: { ...fill, ...(txHash !== undefined && { txHash }) }, side, ...(orderId !== undefined && { orderId }) }
  })
}
