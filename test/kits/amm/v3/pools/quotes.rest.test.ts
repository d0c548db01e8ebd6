import { expect } from 'chai'
import { getSqrtRatioAtTick, maxTick, minTick } from '../../../../../kits/amm/v3/math.ts'
import { randomBits } from '../../../../../testkit/random-bits.ts'
import { fees, v3QuoteChecker, spacings, type FeeTier, type V3QuoteChecker } from './quote-checker.ts'
import { openV3Exchange, type SwapQuery, type V3Exchange } from './v3-exchange.ts'

const trades = Number(process.env['SLUICE_V3_TRADES'] ?? 500)
const positions = 14
const seed = 7
const ether = 10n ** 18n

describe('quotes of concentrated liquidity', () => {
  let exchange: V3Exchange
  let checker: V3QuoteChecker
  before(async () => {
    exchange = await openV3Exchange()
    checker = v3QuoteChecker(exchange)
  })
  after(() => exchange.stop())

  it('equal the exchange’s own over a random walk through several tiers, with gaps in the liquidity and prices on ticks', async function () {
    this.timeout(180_000 + trades * 200)
    const { below, bits } = randomBits(seed)
    const bounds = new Map<FeeTier, number[]>()
    for (const fee of fees) {
      await exchange.open(fee, below(2000) - 1000)
      const ranges = Array.from({ length: positions }, () => {
        const lower = (below(120) - 60) * spacings[fee] * (1 + below(4) * 8)
        return [lower, lower + (1 + below(50)) * spacings[fee]] as const
      })
      for (const range of ranges) await exchange.provide(fee, ...range, ether * BigInt(1 + below(1000)))
      bounds.set(fee, ranges.flat())
    }

    let filled = 0
    for (let count = 0; count < trades; count += 1) {
      const fee = fees[below(fees.length)] ?? 500
      const asked: SwapQuery = { zeroForOne: below(2) === 0, exact: below(2) === 0 ? 'in' : 'out', amountRaw: 1n + bits(74) }
      if ((await checker.quoteAlike(fee, asked)) !== undefined) filled += 1

      const trade: SwapQuery = { zeroForOne: below(2) === 0, exact: 'in', amountRaw: 1n + bits(71) }
      const atBound = getSqrtRatioAtTick(bounds.get(fee)?.[below(2 * positions)] ?? 0)
      const { sqrtPriceX96 } = (await checker.poolOf(fee)).state
      // Some stop exactly at a tick: from above, the pool is then at the tick below, with the same price.
      if (below(3) === 0 && atBound !== sqrtPriceX96) await exchange.trade(fee, atBound < sqrtPriceX96, 2n ** 90n, atBound)
      else if ((await checker.quoteAlike(fee, trade)) !== undefined) await exchange.trade(fee, trade.zeroForOne, trade.amountRaw)
    }
    expect(filled).to.be.above(trades / 4)
    expect(checker.counted.furtherReadings).to.be.above(trades / 40)
  })
  it('equal the exchange’s own at any price, tier and tick spacing, from minimal to extreme liquidity', async function () {
    this.timeout(400_000)
    const { below, bits } = randomBits(seed)
    const tickSpacings = [1, 2, 7, 10, 60, 199, 200, 1000, 16_383]
    const tiers = Array.from({ length: 27 }, (_, index) => (index === 0 ? 1 : index === 1 ? 999_999 : 1 + below(999_999)))
    for (const [index, fee] of tiers.entries()) {
      const spacing = tickSpacings[index % tickSpacings.length] ?? 1
      const ends = Math.floor(maxTick / spacing) * spacing
      const tick = [minTick, minTick + 1, maxTick - 1, -ends, ends - 1, -1, 0, 1][index] ?? below(2 * maxTick) - maxTick
      const price = getSqrtRatioAtTick(tick)
      const strange = v3QuoteChecker(exchange, [fee])
      await exchange.allow(fee, spacing)
      await exchange.open(fee, tick)
      const near = Math.min(Math.max(Math.floor(tick / spacing) * spacing, -ends), ends - spacing)
      await exchange.provideLiquidity(fee, price, -ends, ends, 1n + bits(60))
      await exchange.provideLiquidity(fee, price, near, near + spacing, 1n + bits(100))
      for (let count = 0; count < 3; count += 1) {
        const lower = Math.max(-ends, near - (1 + below(300)) * spacing)
        await exchange.provideLiquidity(fee, price, lower, Math.min(ends, near + (1 + below(300)) * spacing), 1n + bits(100))
      }
      for (let count = 0; count < 6; count += 1)
        await strange.quoteAlike(fee, { zeroForOne: below(2) === 0, exact: below(2) === 0 ? 'in' : 'out', amountRaw: 1n + bits(120) })
    }
  })
})
