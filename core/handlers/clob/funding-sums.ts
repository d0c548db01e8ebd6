// What a wallet paid and received as funding in perpetuals of order books, and its positions there, by what its exchange tells now: no receipt and no order
// has them.
import { parseDecimal, sum, type DecimalParts } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import type { ExchangeWallet, FundingPeriod, FundingSums } from '../../books/funding.ts'
import type { ExchangePositions } from '../../books/positions.ts'
import { tradingOf, type Registry } from '../../plugins/index.ts'
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
export const positionsOf = (of: ExchangeWallet, registry: Networks, signal: AbortSignal): Promise<ExchangePositions> =>
  orWhy(`${of.connector} did not tell the positions`, signal, async () => {
    const { venue, owner } = placeOf(of, registry)
    const found = await tradingOf('PERP_CLOB', venue).positions(owner, { signal })
    const [unread] = missingIn(found, () => ({})).unavailable ?? []
    if (unread) return { unknown: `a position cannot be read: ${unread.reason}` }
    return {
      held: new Map(
        found.map(({ market, side, amount }) => [marketName(market), parseDecimal(side === 'LONG' ? amount : `-${amount}`)] as const),
      ),
    }
  })

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
