// What a wallet paid and received as funding in perpetuals of order books, what an exchange on a chain liquidated of its positions, and the positions that it has, by what
// the exchange tells now: no receipt and no order of the journal has them.
import { fromRaw, parseDecimal, sum, type DecimalParts } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { blockBefore, finalBlock, historyOf } from '../../books/check-book.ts'
import type { ExchangeWallet, FundingPeriod, FundingSums } from '../../books/funding.ts'
import type { LiquidationPeriod, Liquidations } from '../../books/liquidations.ts'
import type { OrderLiquidationPeriod, OrderLiquidations } from '../../books/order-liquidations.ts'
import type { Liquidation } from '../../books/perpetuals.ts'
import type { PositionReader } from '../../books/positions.ts'
import { liquidationTradeOf, type OrderTrade } from '../../books/trades.ts'
import type { At } from '../../contracts/index.ts'
import { tradingOf, type Registry, type VenueEntry } from '../../plugins/index.ts'
import { findMarket } from '../perp/markets.ts'
import { missingIn } from '../pages.ts'
import { marketName, marketsOf } from './markets.ts'

/** What is asked for at a time, and how often: of one market some two years of payments each hour. */
const maxPayments = 500
const maxPages = 40

type Networks = Pick<Registry, 'networkOf' | 'venue'>

/** Below 0 where the wallet paid more. Where it cannot be told, why: nothing is guessed. */
export const fundingOf = (of: FundingPeriod, registry: Networks, signal: AbortSignal): Promise<FundingSums> =>
  orWhy(`${of.connector} did not tell the funding payments`, signal, () => readFunding(of, registry, signal))

/** By market, of base, below 0 for a short one; or why nobody knows. */
export const positionsOf: PositionsOf = (of, registry, signal) =>
  orWhy(`${of.connector} did not tell the positions`, signal, async () => {
    const { venue, owner } = placeOf(of, registry)
    if (venue.impl.PERP_AMM) return { held: await positionsOnChain(of.markets, owner, venue, { signal }) }
    const found = await tradingOf('PERP_CLOB', venue).positions(owner, { signal })
    const [unread] = missingIn(found, () => ({})).unavailable ?? []
    if (unread) return { unknown: `a position cannot be read: ${unread.reason}` }
    return {
      held: new Map(
        found.map(({ market, side, amount }) => [marketName(market), parseDecimal(side === 'LONG' ? amount : `-${amount}`)] as const),
      ),
    }
  })

type PositionsOf = (of: Parameters<PositionReader>[0], registry: Networks, signal: AbortSignal) => ReturnType<PositionReader>

/** Where it cannot be told, why: of blocks that are too old, nobody knows. */
export const liquidationsOf = (of: LiquidationPeriod, registry: Networks, signal: AbortSignal): Promise<Liquidations> =>
  orWhy(`${of.connector} did not tell them`, signal, async () => {
    const { chain, network, market: name, afterBlock, toMs } = of
    const { venue, owner } = placeOf(of, registry)
    const [base = '', quote = ''] = name.split('-')
    const market = await findMarket({ base, quote }, venue, { signal })
    const trading = tradingOf('PERP_AMM', venue)
    const all = await trading.liquidations(owner, market, afterBlock, { signal })
    const firstBlock = await trading.liquidationsFrom?.({ signal })
    const history = historyOf(registry.networkOf(venue, chain, network))
    if (toMs !== undefined && all.length > 0 && !history) return { unknown: `the blocks of ${chain}/${network} do not tell their time` }
    const times =
      toMs === undefined || all.length === 0
        ? []
        : await history?.blocks([...new Set(all.map(({ blockNumber }) => blockNumber))], { signal })
    const timeOf = new Map(times?.map(({ number, timestamp }) => [number, timestamp * 1000]))
    const found: Liquidation[] = []
    for (const { effect, sizeRaw, blockNumber, txHash } of all) {
      if (toMs !== undefined && (timeOf.get(blockNumber) ?? Infinity) >= toMs) continue
      if (!effect) return { unknown: `the events of ${txHash} do not tell what it cost` }
      const inQuote = (raw: bigint): DecimalParts => ({ digits: raw, scale: market.quoteDecimals })
      found.push({
        change: { side: effect.side, size: { digits: sizeRaw, scale: market.baseDecimals } },
        fee: inQuote(effect.feeRaw),
        realizedProfit: inQuote(effect.realizedProfitRaw),
        funding: inQuote(effect.fundingRaw),
      })
    }
    return { found, ...(firstBlock !== undefined && afterBlock + 1 < firstBlock && { unsearched: `before block ${firstBlock}` }) }
  })

/** Of perpetuals of order books, by market, in the order of time. */
export const orderLiquidationsOf = (of: OrderLiquidationPeriod, registry: Networks, signal: AbortSignal): Promise<OrderLiquidations> =>
  orWhy(`${of.connector} did not tell them`, signal, async () => {
    const { connector, address, fromMs, toMs } = of
    const { venue, owner } = placeOf(of, registry)
    const trading = tradingOf('PERP_CLOB', venue)
    if (!trading.liquidations) return { unknown: `${connector} does not tell it` }
    const told = await trading.liquidations(owner, fromMs, toMs, { signal })
    const [unread] = missingIn(told, () => ({})).unavailable ?? []
    if (unread) return { unknown: `a fill cannot be read: ${unread.reason}` }
    const found = new Map<string, OrderTrade[]>()
    for (const each of told.toReversed()) {
      const market = marketName(each.market)
      const trades = found.get(market) ?? []
      found.set(market, trades)
      trades.push(liquidationTradeOf(each, { connector, address, market }))
    }
    return { found }
  })

/** Undefined where the chain does not tell its past, or cannot now. */
export async function lastBlockBefore(
  { chain, network, connector }: ExchangeWallet,
  momentMs: number,
  registry: Networks,
  signal: AbortSignal,
): Promise<number | undefined> {
  const found = await orWhy('', signal, async () => {
    const on = registry.networkOf(registry.venue(connector, chain, network), chain, network)
    const history = historyOf(on)
    return history && (await blockBefore(history, momentMs, await finalBlock(on, history, { signal }), { signal })).number
  })
  return typeof found === 'number' ? found : undefined
}

async function positionsOnChain(
  markets: readonly string[],
  owner: string,
  venue: VenueEntry,
  at: At,
): Promise<ReadonlyMap<string, DecimalParts>> {
  const trading = tradingOf('PERP_AMM', venue)
  const held = new Map<string, DecimalParts>()
  for (const market of markets) {
    const [base = '', quote = ''] = market.split('-')
    const { position } = await trading.position(owner, await findMarket({ base, quote }, venue, at), at)
    held.set(market, parseDecimal(fromRaw(position.sizeRaw, position.market.baseDecimals)))
  }
  return held
}

async function orWhy<T>(failure: string, signal: AbortSignal, read: () => Promise<T>): Promise<T | { unknown: string }> {
  try {
    return await read()
  } catch (error) {
    signal.throwIfAborted()
    return { unknown: error instanceof SluiceError ? error.message : failure }
  }
}

function placeOf({ chain, network, connector, address }: ExchangeWallet, registry: Networks) {
  const venue = registry.venue(connector, chain, network)
  return { venue, owner: registry.networkOf(venue, chain, network).impl.address(address) ?? address }
}

async function readFunding(of: FundingPeriod, registry: Networks, signal: AbortSignal): Promise<FundingSums> {
  const { connector, markets, toMs } = of
  const { venue, owner } = placeOf(of, registry)
  const listed = (await marketsOf('PERP_CLOB', venue, { signal })).all
  const asked = listed.filter((each) => markets.has(marketName(each)))
  const amounts = new Map(asked.map((each) => [marketName(each), [] as string[]]))
  // Exchanges that know payments of all markets alone would read them all for each market.
  const [market, ...others] = asked
  const ofMarket = market && others.length === 0 ? { market } : {}
  const from = Math.min(...markets.values())
  if (!market) return { paid: new Map() }
  let before = toMs
  for (let page = 0; page < maxPages; page += 1) {
    const query = { limit: maxPayments, from, ...(before !== undefined && { before }), ...ofMarket }
    const found = await tradingOf('PERP_CLOB', venue).fundingPayments(owner, query, { signal })
    const [unread] = missingIn(found, () => ({})).unavailable ?? []
    if (unread) return { unknown: `a funding payment cannot be read: ${unread.reason}` }
    const isLast = found.length < maxPayments
    const oldest = found.at(-1)?.timestamp ?? -Infinity
    // The end of a full page may be one of several of its time: these come with the next.
    const whole = isLast ? found : found.filter(({ timestamp }) => timestamp > oldest)
    for (const { market: paidIn, timestamp, amount } of whole) {
      const name = marketName(paidIn)
      if (timestamp >= (markets.get(name) ?? Infinity)) amounts.get(name)?.push(amount)
    }
    if (isLast || oldest < from) return { paid: totals(amounts) }
    if (whole.length === 0) return { unknown: `${connector} has paid more than ${maxPayments} times at once` }
    before = oldest + 1
  }
  return { unknown: `there are more than ${maxPages * maxPayments} funding payments: take a shorter time` }
}

const totals = (amounts: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, DecimalParts> =>
  new Map([...amounts].map(([name, each]) => [name, parseDecimal(sum(each))]))
