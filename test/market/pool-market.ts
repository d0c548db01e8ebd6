// A market whose pools of WETH and USDC have the price of the test, and whose ages are the test's.
import { createMarket, type Market } from '../../core/market/market.ts'
import type { MarketAges } from '../../core/market/market-ages.ts'
import type { NetworkEntry } from '../../core/plugins/index.ts'

const e18 = 10n ** 18n
const [weth, usdc] = [
  { address: 'weth', symbol: 'WETH', decimals: 18 },
  { address: 'usdc', symbol: 'USDC', decimals: 6 },
]
const listed = [weth, usdc]

/** @param impl what the test needs of the chain */
export const poolNetwork = (impl: Partial<NetworkEntry['impl']> = {}): NetworkEntry =>
  ({
    chain: 'ethereum',
    network: 'mainnet',
    impl: { nativeCurrency: { address: 'coin', symbol: 'ETH', decimals: 18 }, ...impl },
    tokens: { listed, listedAt: (address: string) => listed.find((each) => each.address === address) },
    notReady: () => undefined,
  }) as unknown as NetworkEntry

const pool = (name: string, price: number) => ({
  pool: name,
  tokenIn: 'weth',
  tokenOut: 'usdc',
  spot: { numerator: BigInt(price * 1e6), denominator: e18 },
  depth: [{ basisPoints: 200, sellRaw: 100n * e18, buyRaw: 100n * e18 }],
})

/** @param now without a price there is no pool */
export const poolMarket = (network: NetworkEntry, ages: MarketAges, now: { readonly ms: number; readonly price?: number }): Market =>
  createMarket({
    networks: () => [network],
    isChecked: () => true,
    venuesOn: () => [{ connector: 'pools' }],
    readPools: async (_network: unknown, _venue: unknown, { tokenIn }: { tokenIn: { address: string } }) =>
      now.price !== undefined && tokenIn.address === 'weth' ? [pool('one', now.price), pool('other', now.price)] : [],
    readBooks: async () => [],
    quotedTokens: () => [],
    settings: { referenceTokens: ['USDC'], minDepth: 1_000, minutes: 20 },
    ages,
    log: { info() {} },
    steadyMs: () => now.ms,
  } as unknown as Parameters<typeof createMarket>[0])
