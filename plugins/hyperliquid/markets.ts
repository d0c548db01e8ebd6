import type { At, BookMarket } from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { formatRaw, normalize } from 'sluice/decimal'
import { decimal, union, flag, array, nothing, object, shape, text, integer } from './shape.ts'

/** A token that the exchange lists. */
export interface ExchangeToken {
  readonly name: string
  readonly index: number
  /** Of its smallest unit at the exchange, which may differ from the contract's. */
  readonly weiDecimals: number
  /** Its contract on the exchange's EVM chain, in lower case. */
  readonly evmContract?: string
}

/** A market, and the number by which actions name it. */
export interface MarketEntry {
  readonly kind: 'spot' | 'perp'
  readonly market: BookMarket
  readonly asset: number
  /** Whether positions can have isolated margin only. */
  readonly onlyIsolated: boolean
}

export interface Listing {
  /** By the id of the market, which is the exchange's coin. */
  readonly byId: ReadonlyMap<string, MarketEntry>
  /** The same arrays until the list is read again. */
  readonly markets: Readonly<Record<MarketEntry['kind'], readonly BookMarket[]>>
  readonly tokens: readonly ExchangeToken[]
}

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size */
const significantFigures = 5
const priceDecimals = { perp: 6, spot: 8 } as const
/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids */
const firstSpotAsset = 10_000
/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses */
const minNotional = '10'
const takes = { LIMIT: ['GTC', 'IOC'], LIMIT_MAKER: ['GTC'], MARKET: ['IOC'] } as const
/** Fees depend on the trader. This address never traded. */
const nobody = '0x0000000000000000000000000000000000000000'
const feesSeconds = 3600

/** The exchange's list of markets, cached for some time. */
export function createMarkets(queryInfo: QueryInfo, cacheSeconds: number): (at: At) => Promise<Listing> {
  const fees = createCache(feesSeconds, (at) => queryInfo({ type: 'userFees', user: nobody }, userFees, at))
  return createCache(cacheSeconds, async (at) => {
    const [perps, spot, rates] = await Promise.all([
      queryInfo({ type: 'meta' }, meta, at),
      queryInfo({ type: 'spotMeta' }, spotMeta, at),
      fees(at),
    ])
    const byId = new Map<string, MarketEntry>()
    perps.universe.forEach(({ name, szDecimals, maxLeverage, isDelisted, onlyIsolated, marginMode }, asset) => {
      const market: BookMarket = {
        id: name,
        base: name,
        quote: 'USD',
        ...grid('perp', szDecimals),
        makerFee: normalize(rates.userAddRate),
        takerFee: normalize(rates.userCrossRate),
        status: isDelisted ? 'closed' : 'open',
        maxLeverage: String(maxLeverage),
      }
      byId.set(name, { kind: 'perp', market, asset, onlyIsolated: onlyIsolated === true || marginMode !== undefined })
    })
    const tokens = new Map(spot.tokens.map((token) => [token.index, token]))
    const named = new Set<string>()
    for (const { name: id, index, tokens: pair } of spot.universe) {
      const [base, quote] = pair.map((token) => tokens.get(token))
      // Pair names are unique at the exchange. If one came twice, the older market keeps it.
      if (!base || !quote || named.has(`${base.name}-${quote.name}`)) continue
      named.add(`${base.name}-${quote.name}`)
      const market: BookMarket = {
        id,
        base: base.name,
        quote: quote.name,
        ...grid('spot', base.szDecimals),
        makerFee: normalize(rates.userSpotAddRate),
        takerFee: normalize(rates.userSpotCrossRate),
        status: 'open',
      }
      byId.set(id, { kind: 'spot', market, asset: firstSpotAsset + index, onlyIsolated: false })
    }
    const ofKind = (kind: MarketEntry['kind']) => [...byId.values()].filter((each) => each.kind === kind).map(({ market }) => market)
    return {
      byId,
      markets: { spot: ofKind('spot'), perp: ofKind('perp') },
      tokens: spot.tokens.map(({ name, index, weiDecimals, evmContract }) => ({
        name,
        index,
        weiDecimals,
        ...(evmContract && { evmContract: evmContract.address.toLowerCase() }),
      })),
    }
  })
}

function grid(kind: MarketEntry['kind'], szDecimals: number): Pick<BookMarket, 'prices' | 'lotSize' | 'minNotional' | 'takes'> {
  return {
    prices: { significantFigures, maxDecimals: Math.max(0, priceDecimals[kind] - szDecimals) },
    lotSize: formatRaw(1n, szDecimals),
    minNotional,
    takes,
  }
}

export const perpMeta = object({
  universe: array(
    object({ name: text, szDecimals: integer, maxLeverage: integer }, { onlyIsolated: flag, isDelisted: flag, marginMode: text }),
  ),
})
const meta = shape(perpMeta)

const spotMeta = shape(
  object({
    universe: array(object({ name: text, index: integer, tokens: array(integer) })),
    tokens: array(
      object(
        { name: text, index: integer, szDecimals: integer, weiDecimals: integer },
        { evmContract: union(object({ address: text }), nothing) },
      ),
    ),
  }),
)

/** Fractions of the traded value. */
const userFees = shape(object({ userCrossRate: decimal, userAddRate: decimal, userSpotCrossRate: decimal, userSpotAddRate: decimal }))

/** Caches a value. Callers that come while it is loading share one load. Failures are not cached. */
function createCache<T>(seconds: number, load: (at: At) => Promise<T>): (at: At) => Promise<T> {
  let cached: { value: T; atMs: number } | undefined
  let loading: Promise<T> | undefined

  async function loadShared(): Promise<T> {
    // Not the first caller's signal, since others may wait for the value after it has gone.
    const value = await load({ signal: AbortSignal.timeout(15_000) })
    cached = { value, atMs: performance.now() }
    return value
  }

  return async ({ signal }) => {
    const ageMs = cached ? performance.now() - cached.atMs : Infinity
    if (cached && ageMs < seconds * 1000) return cached.value
    loading ??= loadShared().finally(() => {
      loading = undefined
    })
    signal.throwIfAborted()
    let abort = () => {}
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
    })
    return Promise.race([loading, aborted]).finally(() => signal.removeEventListener('abort', abort))
  }
}
