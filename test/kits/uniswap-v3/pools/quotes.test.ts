import { expect } from 'chai'
import { getSqrtRatioAtTick, maxSqrtRatioX96, minSqrtRatioX96 } from '../../../../core/kits/uniswap-v3/math/index.ts'
import type { RangePoolState } from '../../../../core/kits/uniswap-v3/pools/range-pool-state.ts'
import { v3Protocol } from '../../../../core/kits/uniswap-v3/pools/v3-protocol.ts'
import type { Passed, Pool, PoolProtocol } from '../../../../core/kits/pools/index.ts'
import { at } from '../../evm/test-chain.ts'
import { randomBits } from '../math/random-bits.ts'
import { openRangeMarket, type Asked, type RangeMarket } from './range-market.ts'

// UniswapV3Pool of @uniswap/v3-core@1.0.1.
const initCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'
const spacings = { 100: 1, 500: 10, 3000: 60, 10000: 200 } as const
const fees = [100, 500, 3000, 10000] as const
type FeeTier = (typeof fees)[number]

const trades = Number(process.env['SLUICE_V3_TRADES'] ?? 500)
const seed = 7
const ether = 10n ** 18n

describe('quotes of concentrated liquidity', () => {
  let market: RangeMarket
  let protocol: PoolProtocol<RangePoolState>
  let furtherReadings = 0
  before(async () => {
    market = await openRangeMarket()
    protocol = v3Protocol({ version: 'v3', factory: market.factory, initCodeHash, fees })
  })
  after(() => market.stop())

  const read = async (missing: readonly unknown[] = []): Promise<readonly Pool<RangePoolState>[]> => {
    const reading = protocol.read([market.tokens], missing)
    const { results } = await market.reader.read(reading.calls, at)
    return reading.pools(results)
  }

  /** As the exchange's own: what comes of it, after as many readings as it takes. */
  const quote = async (fee: FeeTier, { zeroForOne, exact, amountRaw }: Asked): Promise<Passed | undefined> => {
    const [tokenIn, tokenOut] = zeroForOne ? market.tokens : market.tokens.toReversed()
    const missing: unknown[] = []
    const promised: bigint[] = []
    for (let readings = 0; readings < 4; readings += 1) {
      const pool = (await read(missing)).find(({ state }) => state.fee === fee)
      if (!pool) throw new Error(`no pool of ${fee}`)
      const passed = protocol.pass(pool, { tokenIn: tokenIn ?? '', tokenOut: tokenOut ?? '' }, exact, amountRaw)
      if (!passed || 'amountRaw' in passed) {
        for (const bestRaw of promised)
          if (passed) expect(exact === 'in' ? passed.amountRaw <= bestRaw : passed.amountRaw >= bestRaw).to.equal(true)
        return passed
      }
      missing.push(passed.missing)
      promised.push(passed.atBestRaw ?? 0n)
      furtherReadings += 1
    }
    throw new Error('never read enough')
  }

  const expectSame = async (fee: FeeTier, asked: Asked): Promise<bigint | undefined> => {
    const [mine, theirs] = [await quote(fee, asked), await market.quote(fee, asked)]
    const ranOut = theirs && [minSqrtRatioX96 + 1n, maxSqrtRatioX96 - 1n].includes(theirs.sqrtPriceX96)
    const expected = ranOut && asked.exact === 'in' ? undefined : theirs?.amountRaw
    expect(mine?.amountRaw, `${fee} ${JSON.stringify({ ...asked, amountRaw: String(asked.amountRaw) })}`).to.equal(expected)
    return expected
  }

  it('equal the exchange’s own over a random walk through several tiers, with gaps in the liquidity and prices on ticks', async function () {
    this.timeout(300_000)
    const { below, bits } = randomBits(seed)
    const edges = new Map<FeeTier, number[]>()
    for (const fee of fees) {
      const spacing = spacings[fee]
      await market.open(fee, below(2000) - 1000)
      const bounds: number[] = []
      for (let count = 0; count < 14; count += 1) {
        const lower = (below(120) - 60) * spacing * (1 + below(4) * 8)
        const upper = lower + (1 + below(50)) * spacing
        await market.provide(fee, lower, upper, ether * BigInt(1 + below(1000)))
        bounds.push(lower, upper)
      }
      edges.set(fee, bounds)
    }
    let filled = 0
    for (let count = 0; count < trades; count += 1) {
      const fee = fees[below(fees.length)] ?? 500
      const asked: Asked = { zeroForOne: below(2) === 0, exact: below(2) === 0 ? 'in' : 'out', amountRaw: 1n + bits(74) }
      if ((await expectSame(fee, asked)) !== undefined) filled += 1
      const zeroForOne = below(2) === 0
      const bounds = edges.get(fee) ?? []
      const [edge = 0] = [bounds[below(bounds.length)]]
      const price = (await read()).find(({ state }) => state.fee === fee)?.state.sqrtPriceX96 ?? 0n
      const limitX96 = getSqrtRatioAtTick(edge)
      // Some stop exactly at a tick: from above it is the tick below then, with the same price.
      if (below(3) === 0 && limitX96 !== price) await market.trade(fee, limitX96 < price, 2n ** 90n, limitX96)
      else if ((await expectSame(fee, { zeroForOne, exact: 'in', amountRaw: 1n + (asked.amountRaw >> 3n) })) !== undefined)
        await market.trade(fee, zeroForOne, 1n + (asked.amountRaw >> 3n))
    }
    expect(filled).to.be.above(trades / 4)
    expect(furtherReadings).to.be.above(trades / 20)
  })
})
