import { toPrice, toUsd } from '../amounts/units.ts'
import type { Rules } from '../rules.ts'
import { anotherPerpetual, perpetuals, type Tier } from './perpetuals.ts'
import { spotPairs, tokens, type Token } from './tokens.ts'

interface Grid {
  /** What actions name it by. */
  asset: number
  /** What everything else names it by. */
  coin: string
  szDecimals: number
  /** Of its prices. */
  maxDecimals: number
}

export interface SpotMarket extends Grid {
  kind: 'spot'
  index: number
  base: Token
  quote: Token
}

export interface MarginTier {
  lowerBoundUsd: bigint
  maxLeverage: number
}

export interface PerpMarket extends Grid {
  kind: 'perp'
  maxLeverage: number
  tableId: number
  tiers: readonly MarginTier[]
  isDelisted: boolean
  onlyIsolated: boolean
}

export type Market = SpotMarket | PerpMarket

export interface Listing {
  tokens: readonly Token[]
  spot: readonly SpotMarket[]
  perps: readonly PerpMarket[]
  /** What a market's price is at first. */
  firstPrice(market: Market): bigint
  byAsset(asset: number): Market | undefined
  byCoin(coin: string): Market | undefined
  token(index: number): Token | undefined
}

/** Ids of spot markets are 10000 and their index: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids */
const firstSpotAsset = 10_000

export function createListing(testnet: boolean, { morePerpetuals }: Pick<Rules, 'morePerpetuals'>): Listing {
  const quote = tokens[0]!
  const spot = spotPairs.map(({ index, name, base: baseName }): SpotMarket => {
    const base = tokens.find((token) => token.name === baseName)!
    const { szDecimals } = base
    return { kind: 'spot', asset: firstSpotAsset + index, coin: name, index, base, quote, szDecimals, maxDecimals: 8 - szDecimals }
  })
  const listed = [...perpetuals, ...Array.from({ length: morePerpetuals }, (_, n) => anotherPerpetual(n))]
  const perps = listed.map(({ name, szDecimals, tableId, tiers, isDelisted = false, onlyIsolated = false }, asset): PerpMarket => {
    const margins = (testnet ? tiers.testnet : tiers.mainnet).map(readTier)
    const { maxLeverage } = margins[0]!
    return {
      kind: 'perp',
      asset,
      coin: name,
      szDecimals,
      maxDecimals: 6 - szDecimals,
      maxLeverage,
      tableId,
      tiers: margins,
      isDelisted,
      onlyIsolated,
    }
  })
  const markets: readonly Market[] = [...spot, ...perps]
  const prices = new Map([...spotPairs, ...listed].map(({ name, price }) => [name, toPrice(price)]))
  const [byAsset, byCoin] = [new Map(markets.map((each) => [each.asset, each])), new Map(markets.map((each) => [each.coin, each]))]
  return {
    tokens,
    spot,
    perps,
    firstPrice: ({ coin }) => prices.get(coin)!,
    byAsset: (asset) => byAsset.get(asset),
    byCoin: (coin) => byCoin.get(coin),
    token: (index) => tokens.find((token) => token.index === index),
  }
}

const readTier = ({ lowerBound, maxLeverage }: Tier): MarginTier => ({ lowerBoundUsd: toUsd(lowerBound), maxLeverage })
