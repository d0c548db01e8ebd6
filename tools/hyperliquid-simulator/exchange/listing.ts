import { toPrice, toUsd } from './amounts.ts'
import type { Rules } from './rules.ts'

export interface Token {
  name: string
  index: number
  szDecimals: number
  weiDecimals: number
  tokenId: string
  fullName: string | null
}

/** Testnet has another token at the index of mainnet's. */
const testnetHype = 1105

/** Some of mainnet's tokens by their indexes there; the ids are made up but for the first two. */
const mainnetTokens: readonly Token[] = [
  { name: 'USDC', index: 0, szDecimals: 8, weiDecimals: 8, tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054', fullName: null },
  { name: 'PURR', index: 1, szDecimals: 0, weiDecimals: 5, tokenId: '0xc1fb593aeffbeb02f85e0308e9956a90', fullName: null },
  { name: 'HYPE', index: 150, szDecimals: 2, weiDecimals: 8, tokenId: '0x00000000000000000000000000000096', fullName: 'Hyperliquid' },
  { name: 'UBTC', index: 197, szDecimals: 5, weiDecimals: 10, tokenId: '0x000000000000000000000000000000c5', fullName: 'Unit Bitcoin' },
]

/** By the pair's index: the tokens that it is of. Only the first is called by their names. */
const spotPairs = [
  { index: 0, name: 'PURR/USDC', base: 'PURR', price: '0.2' },
  { index: 107, name: '@107', base: 'HYPE', price: '40' },
  { index: 142, name: '@142', base: 'UBTC', price: '100000' },
] as const

interface Tier {
  /** Of the position's worth, in US dollars. */
  lowerBound: string
  maxLeverage: number
}

interface PerpetualListing {
  name: string
  szDecimals: number
  price: string
  tableId: number
  tiers: { mainnet: readonly Tier[]; testnet: readonly Tier[] }
  isDelisted?: true
  onlyIsolated?: true
}

const flat = (maxLeverage: number): PerpetualListing['tiers'] => {
  const tiers = [{ lowerBound: '0.0', maxLeverage }]
  return { mainnet: tiers, testnet: tiers }
}

/**
 * A perpetual's id is its place in this list. Tiers of
 * https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margin-tiers
 */
const perpetuals: readonly PerpetualListing[] = [
  {
    name: 'BTC',
    szDecimals: 5,
    price: '100000',
    tableId: 56,
    tiers: {
      mainnet: [
        { lowerBound: '0.0', maxLeverage: 40 },
        { lowerBound: '150000000.0', maxLeverage: 20 },
      ],
      testnet: [
        { lowerBound: '0.0', maxLeverage: 40 },
        { lowerBound: '10000.0', maxLeverage: 25 },
        { lowerBound: '50000.0', maxLeverage: 10 },
        { lowerBound: '100000.0', maxLeverage: 5 },
        { lowerBound: '300000.0', maxLeverage: 3 },
      ],
    },
  },
  {
    name: 'ETH',
    szDecimals: 4,
    price: '4000',
    tableId: 55,
    tiers: {
      mainnet: [
        { lowerBound: '0.0', maxLeverage: 25 },
        { lowerBound: '100000000.0', maxLeverage: 15 },
      ],
      testnet: [
        { lowerBound: '0.0', maxLeverage: 25 },
        { lowerBound: '20000.0', maxLeverage: 10 },
        { lowerBound: '50000.0', maxLeverage: 5 },
        { lowerBound: '200000.0', maxLeverage: 3 },
      ],
    },
  },
  { name: 'MATIC', szDecimals: 1, price: '0.5', tableId: 20, tiers: flat(20), isDelisted: true },
  { name: 'HYPE', szDecimals: 2, price: '40', tableId: 10, tiers: flat(10) },
  { name: 'PURR', szDecimals: 0, price: '0.2', tableId: 3, tiers: flat(3), onlyIsolated: true },
]

/** For who needs many of them. */
const anotherPerpetual = (n: number): PerpetualListing => ({
  name: `COIN${n}`,
  szDecimals: 2,
  price: '10',
  tableId: 10,
  tiers: flat(10),
})

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
  const tokens = mainnetTokens.map((token) => (testnet && token.name === 'HYPE' ? { ...token, index: testnetHype } : token))
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
