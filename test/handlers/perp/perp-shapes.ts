import * as fc from 'fast-check'
import type { PerpAccount, PerpMarket, PerpPosition, PerpQuote, Ratio } from '../../../core/contracts/index.ts'

/** Markets, positions and accounts as they may be, of every decimals. */

const decimals = fc.integer({ min: 0, max: 24 })
const ratio = (most: bigint): fc.Arbitrary<Ratio> =>
  fc.record({ numerator: fc.bigInt({ min: 1n, max: most }), denominator: fc.constantFrom(1n, 7n, 10n ** 6n, 10n ** 18n) })

export const markets: fc.Arbitrary<PerpMarket> = fc.record({
  id: fc.constant('0xETH'),
  base: fc.constant('ETH'),
  quote: fc.constant('USD'),
  baseDecimals: decimals,
  quoteDecimals: decimals,
  status: fc.constant('open' as const),
  maxLeverage: fc.integer({ min: 1, max: 100 }).map((times) => ({ numerator: BigInt(times), denominator: 1n })),
  maintenanceRatio: fc.integer({ min: 0, max: 500_000 }).map((part) => ({ numerator: BigInt(part), denominator: 1_000_000n })),
})

const amounts = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
const someAmounts = fc.bigInt({ min: 1n, max: 10n ** 30n })

export const positionsIn = (market: PerpMarket): fc.Arbitrary<PerpPosition> =>
  fc
    .record({ sizeRaw: amounts, paidRaw: fc.bigInt({ min: 0n, max: 10n ** 30n }), pendingFundingRaw: amounts, mark: ratio(10n ** 24n) })
    .map(({ sizeRaw, paidRaw, ...rest }) => ({
      market,
      sizeRaw,
      openNotionalRaw: sizeRaw === 0n ? 0n : sizeRaw > 0n ? -paidRaw : paidRaw,
      unrealizedProfitRaw: 0n,
      ...rest,
    }))

export const accounts: fc.Arbitrary<PerpAccount> = fc.record({
  decimals,
  valueRaw: amounts,
  freeCollateralRaw: amounts,
  collateralRaw: amounts,
  initialMarginRaw: someAmounts,
  maintenanceMarginRaw: someAmounts,
  notionalRaw: someAmounts,
})

export const quotesIn = (market: PerpMarket): fc.Arbitrary<PerpQuote> =>
  fc
    .record({
      side: fc.constantFrom('LONG' as const, 'SHORT' as const),
      sizeRaw: someAmounts,
      quoteRaw: someAmounts,
      mark: ratio(10n ** 24n),
    })
    .map(({ side, sizeRaw, quoteRaw, mark }) => ({
      order: { market, side, sizeRaw },
      market,
      quoteRaw,
      feeRaw: 0n,
      prices: { mark, index: mark, indexTwap: mark },
      gasUnits: 1n,
      head: { number: 1n, timestamp: 1, hash: '0x' },
    }))

/** One of 18 decimals each, as exchanges on EVM have them. */
export const ethUsd: PerpMarket = {
  id: '0xETH',
  base: 'ETH',
  quote: 'USD',
  baseDecimals: 18,
  quoteDecimals: 18,
  status: 'open',
  maxLeverage: { numerator: 10n, denominator: 1n },
  maintenanceRatio: { numerator: 625n, denominator: 10_000n },
}
