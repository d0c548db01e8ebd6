import type { At, BookMarket, Log, Token, UnlistedMarket } from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { formatRaw, normalize } from 'sluice/decimal'
import { anything, array, decimal, flag, integer, is, nothing, object, shape, text, union, type Infer } from './shape.ts'

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
  /** Of a spot market: the indexes of base and quote. */
  readonly pair?: readonly [base: number, quote: number]
  /** Whether positions can have isolated margin only. */
  readonly onlyIsolated: boolean
}

export interface Listing {
  /** By the id of the market, which is the exchange's coin. */
  readonly byId: ReadonlyMap<string, MarketEntry>
  /** The same arrays until the list is read again. */
  readonly markets: Readonly<Record<MarketEntry['kind'], readonly BookMarket[]>>
  readonly tokens: readonly ExchangeToken[]
  /** What the exchange lists and cannot be used here. */
  readonly unlisted: Readonly<Record<MarketEntry['kind'], readonly UnlistedMarket[]>>
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

/** The exchange's own tokens on its chain. */
export interface ChainTokens {
  readonly coinIndex: number
  readonly nativeCurrency: Pick<Token, 'address'>
  /** The chain's token list. */
  readonly tokens: readonly Token[]
}

/** The index of USDC. Its contract is that of the deposits: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/hyperevm/hypercore-less-than-greater-than-hyperevm-transfers */
const dollarIndex = 0

/** Names are anybody's: by the indexes of the coin and of USDC, and by the contracts that others are linked with. */
function chainToken({ index, evmContract }: SpotToken, { coinIndex, nativeCurrency, tokens }: ChainTokens): string | undefined {
  if (index === coinIndex) return nativeCurrency.address
  const linked = evmContract?.address.toLowerCase()
  const isToken = ({ address, symbol }: Token) => (index === dollarIndex ? symbol === 'USDC' : address.toLowerCase() === linked)
  return tokens.find(isToken)?.address
}

/**
 * The exchange's list of markets, cached for some time. What of it is in an unknown format is left out, and said: its other markets can be traded. Of names
 * that differ in letter case only, core leaves out the later.
 */
export function createMarkets(queryInfo: QueryInfo, cacheSeconds: number, log: Log, chain: ChainTokens): (at: At) => Promise<Listing> {
  const fees = createCache(feesSeconds, (at) => queryInfo({ type: 'userFees', user: nobody }, userFees, at))
  const warned = new Set<string>()
  async function load(at: At): Promise<Listing> {
    const [perps, spot, rates] = await Promise.all([
      queryInfo({ type: 'meta' }, meta, at),
      queryInfo({ type: 'spotMeta' }, spotMeta, at),
      fees(at),
    ])
    const unlisted: Record<MarketEntry['kind'], UnlistedMarket[]> = { spot: [], perp: [] }
    const leaveOut = (kind: MarketEntry['kind'], market: string, reason: string) => {
      unlisted[kind].push({ market, reason })
      if (!warned.has(market)) log.warn({ market, reason }, 'market left out')
      warned.add(market)
    }
    const byId = new Map<string, MarketEntry>()
    for (const [asset, entry] of perps.universe.entries()) {
      const problem = perpEntry(entry)
      if (is(perpEntry, entry)) addPerp(byId, entry, asset, rates)
      else leaveOut('perp', `${nameIn(entry) ?? `perpetual ${asset}`}-USD`, unknownFormat(problem))
    }
    const tokens = new Map<number, SpotToken>()
    for (const entry of spot.tokens) if (is(spotToken, entry)) tokens.set(entry.index, entry)
    for (const [position, entry] of spot.universe.entries()) {
      if (!is(spotEntry, entry)) {
        leaveOut('spot', nameIn(entry) ?? `spot ${position}`, unknownFormat(spotEntry(entry)))
        continue
      }
      const missing = entry.tokens.find((index) => !tokens.has(index))
      const [base, quote] = entry.tokens.map((index) => tokens.get(index))
      if (base && quote) addSpot(byId, entry, [base, quote], rates, chain)
      else
        leaveOut(
          'spot',
          entry.name,
          missing === undefined ? 'it has not two tokens' : `its token ${missing} is not listed, or in an unknown format`,
        )
    }
    const ofKind = (kind: MarketEntry['kind']) => [...byId.values()].filter((each) => each.kind === kind).map(({ market }) => market)
    return {
      byId,
      markets: { spot: ofKind('spot'), perp: ofKind('perp') },
      unlisted,
      tokens: [...tokens.values()].map(({ name, index, weiDecimals, evmContract }) => ({
        name,
        index,
        weiDecimals,
        ...(evmContract && { evmContract: evmContract.address.toLowerCase() }),
      })),
    }
  }
  return createCache(cacheSeconds, load, staleSeconds)
}

const unknownFormat = (at: string | undefined): string => `the exchange lists it in an unknown format (at ${at || 'its top'})`

const nameIn = (entry: unknown): string | undefined => (is(named, entry) ? entry.name.slice(0, maxName) : undefined)

/** @param asset its place in the exchange's list, by which actions name it */
function addPerp(byId: Map<string, MarketEntry>, entry: Infer<typeof perpEntry>, asset: number, rates: Rates): void {
  const { name, szDecimals, maxLeverage, isDelisted, onlyIsolated, marginMode } = entry
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
}

function addSpot(
  byId: Map<string, MarketEntry>,
  { name: id, index }: Infer<typeof spotEntry>,
  pair: readonly [SpotToken, SpotToken],
  rates: Rates,
  chain: ChainTokens,
): void {
  const [base, quote] = pair
  const [baseToken, quoteToken] = [chainToken(base, chain), chainToken(quote, chain)]
  const market: BookMarket = {
    id,
    base: base.name,
    quote: quote.name,
    tokens: { ...(baseToken !== undefined && { base: baseToken }), ...(quoteToken !== undefined && { quote: quoteToken }) },
    ...grid('spot', base.szDecimals),
    makerFee: normalize(rates.userSpotAddRate),
    takerFee: normalize(rates.userSpotCrossRate),
    status: 'open',
  }
  byId.set(id, { kind: 'spot', market, asset: firstSpotAsset + index, pair: [base.index, quote.index], onlyIsolated: false })
}

function grid(kind: MarketEntry['kind'], szDecimals: number): Pick<BookMarket, 'prices' | 'lotSize' | 'minNotional' | 'takes'> {
  return {
    prices: { significantFigures, maxDecimals: Math.max(0, priceDecimals[kind] - szDecimals) },
    lotSize: formatRaw(1n, szDecimals),
    minNotional,
    takes,
  }
}

const perpEntry = object(
  { name: text, szDecimals: integer, maxLeverage: integer },
  { onlyIsolated: flag, isDelisted: flag, marginMode: text },
)
/** Each entry is checked by itself. */
export const perpMeta = object({ universe: array(anything) })
const meta = shape(perpMeta)

const spotEntry = object({ name: text, index: integer, tokens: array(integer) })
const spotToken = object(
  { name: text, index: integer, szDecimals: integer, weiDecimals: integer },
  { evmContract: union(object({ address: text }), nothing) },
)
type SpotToken = Infer<typeof spotToken>
const spotMeta = shape(object({ universe: array(anything), tokens: array(anything) }))

export const named = object({ name: text })
const maxName = 100

/** Fractions of the traded value. */
const feeRates = object({ userCrossRate: decimal, userAddRate: decimal, userSpotCrossRate: decimal, userSpotAddRate: decimal })
type Rates = Infer<typeof feeRates>
const userFees = shape(feeRates)

/** Indexes and decimals of markets stay: an older list serves to cancel where the exchange gives no newer one. */
const staleSeconds = 600

/**
 * Caches a value. Callers that come while it is loading share one load. Failures are not cached.
 * @param stale how many seconds a value serves where it cannot be loaded anew
 */
function createCache<T>(seconds: number, load: (at: At) => Promise<T>, stale = 0): (at: At) => Promise<T> {
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
    const newest = loading.catch((error: unknown) => {
      if (cached && performance.now() - cached.atMs < stale * 1000) return cached.value
      throw error
    })
    return Promise.race([newest, aborted]).finally(() => signal.removeEventListener('abort', abort))
  }
}
