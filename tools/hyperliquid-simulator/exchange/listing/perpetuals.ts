export interface Tier {
  /** Of the position's worth, in US dollars. */
  lowerBound: string
  maxLeverage: number
}

export interface PerpetualListing {
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
export const perpetuals: readonly PerpetualListing[] = [
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
export const anotherPerpetual = (n: number): PerpetualListing => ({
  name: `COIN${n}`,
  szDecimals: 2,
  price: '10',
  tableId: 10,
  tiers: flat(10),
})
