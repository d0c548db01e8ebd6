import { expect } from 'chai'
import { Contract } from 'ethers'
import type { TickPool } from '../../../../../kits/amm/v3/range-prices.ts'
import { priceAtTick } from '../../../../../kits/amm/v3/range-prices.ts'
import { at, tokens } from '../../devnet-fixture.ts'
import { openRangeFixture, type RangeFixture } from './range-fixture.ts'

const { WETH, USDC, DAI, WBTC } = tokens
const abi = [
  'function observe(uint32[] secondsAgos) view returns (int56[], uint160[])',
  'function increaseObservationCardinalityNext(uint16)',
]

describe('past prices of a pool', () => {
  let fixture: RangeFixture
  let pool: TickPool
  /** Its ticks are below 0. */
  let negative: TickPool

  before(async function () {
    // The devnet is built first.
    this.timeout(400_000)
    fixture = await openRangeFixture()
    pool = await fixture.pool(WETH, USDC, 500)
    negative = await fixture.pool(WETH, WBTC, 3000)
    await later(40)
    await fixture.swap(WETH, USDC, 500, 10n ** 20n)
    await fixture.swap(WETH, WBTC, 3000, 10n ** 19n)
    await later(25)
    await fixture.swap(USDC, WETH, 500, 10n ** 12n)
    await later(10)
    await fixture.swap(WETH, USDC, 500, 10n ** 18n)
    await fixture.swap(WBTC, WETH, 3000, 10n ** 8n)
  })
  after(() => fixture.close())

  /** Moves the chain's clock forward. */
  async function later(seconds: number): Promise<void> {
    await fixture.provider.send('evm_increaseTime', [seconds])
    await fixture.provider.send('evm_mine', [])
  }

  it("equal the mean ticks of the pool's own oracle, rounded down, oldest first", async () => {
    const secondsAgo = [70, 61, 40, 13, 7, 1, 0]
    for (const each of [pool, negative]) {
      fixture.counted.rpc = 0
      const past = await fixture.range.history(each, secondsAgo, at())
      expect(fixture.counted.rpc).to.equal(1)
      if (past.is !== 'prices') throw new Error('beyond')
      const contract = new Contract(each.address, abi, fixture.provider)
      const [cumulatives] = await contract.getFunction('observe').staticCall(secondsAgo, { blockTag: past.head.number })
      const means = secondsAgo.slice(1).map((ago, index) => {
        const [sum, seconds] = [BigInt(cumulatives[index + 1] - cumulatives[index]), BigInt((secondsAgo[index] ?? 0) - ago)]
        return Number(sum >= 0n ? sum / seconds : -((-sum + seconds - 1n) / seconds))
      })
      expect(past.prices).to.deep.equal(means.map(priceAtTick))
      expect(new Set(means).size).to.be.greaterThan(2)
    }
  })

  it('end in a refusal beyond the oracle’s history, with its length to the second', async () => {
    const beyond = await fixture.range.history(pool, [1_000_000, 0], at())
    if (beyond.is !== 'beyond') throw new Error('prices')
    expect(beyond.holdsSeconds).to.be.within(70, 999_999)
    const contract = new Contract(pool.address, abi, fixture.provider)
    const asks = (seconds: number) => contract.getFunction('observe').staticCall([seconds, 0], { blockTag: beyond.head.number })
    await asks(beyond.holdsSeconds)
    expect(await asks(beyond.holdsSeconds + 1).catch(() => 'refused')).to.equal('refused')

    expect((await fixture.range.history(pool, [2 ** 40, 0], at())).is).to.equal('beyond')
  })

  it('reach back to the last trade where the oracle holds one observation, and to the first where its ring is not full', async () => {
    const { small, madeAt } = await newPool()
    const [, reason] = [await later(30), await fixture.range.history(small, [1000, 0], at())]
    if (reason.is !== 'beyond') throw new Error('prices')
    expect(reason.holdsSeconds)
      .to.equal(reason.head.timestamp - madeAt)
      .and.be.at.least(30)

    const contract = new Contract(small.address, abi, fixture.trader)
    await fixture.mined((await contract.getFunction('increaseObservationCardinalityNext')(50)).hash)
    for (let count = 0; count < 3; count += 1) {
      await fixture.minted(small, fixture.about(small, -3, 3), { amount0Raw: 10n ** 16n, amount1Raw: 10n ** 16n })
      await later(20)
    }
    const more = await fixture.range.history(small, [1000, 0], at())
    if (more.is !== 'beyond') throw new Error('prices')
    expect(more.holdsSeconds)
      .to.equal(more.head.timestamp - madeAt)
      .and.be.at.least(90)
    expect((await fixture.range.history(small, [more.holdsSeconds, 0], at())).is).to.equal('prices')
  })

  /** With the chain's time of the trade. */
  async function newPool(): Promise<{ small: TickPool; madeAt: number }> {
    const manager = new Contract(
      fixture.range.positionManager,
      ['function createAndInitializePoolIfNecessary(address,address,uint24,uint160) payable'],
      fixture.trader,
    )
    const [token0, token1] = [WETH, DAI].toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
    const { blockNumber } = await fixture.mined(
      (await manager.getFunction('createAndInitializePoolIfNecessary')(token0?.address, token1?.address, 10_000, 2n ** 96n)).hash,
    )
    const block = await fixture.provider.getBlock(blockNumber)
    if (!block) throw new Error('It is in no block.')
    return { small: await fixture.pool(WETH, DAI, 10_000), madeAt: block.timestamp }
  }
})
