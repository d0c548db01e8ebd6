import { expect } from 'chai'
import fc from 'fast-check'
import type { Wallet } from 'ethers'
import { fundingRate } from '../../../kits/perp/state.ts'
import { at } from '../amm/devnet-fixture.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'

const ether = 10n ** 18n
const day = 86_400n

describe('funding', () => {
  let fixture: PerpFixture
  let long: Wallet
  let short: Wallet
  before(async () => {
    fixture = await createPerpFixture()
    long = await fixture.newTrader()
    short = await fixture.newTrader()
    await fixture.open(long, { market: fixture.named('ETH'), side: 'LONG', sizeRaw: 5n * ether })
    await fixture.open(short, { market: fixture.named('ETH'), side: 'SHORT', sizeRaw: 2n * ether })
  })
  after(() => fixture.end())

  const of = async ({ address }: Wallet) => {
    const { funding, head } = await fixture.exchange.funding(address, at())
    expect(funding).to.have.lengthOf(1)
    const [only] = funding
    if (!only) throw new Error('There is no funding.')
    return { ...only, head }
  }

  for (const [index, who] of [
    ['2900', 'longs pay'],
    ['3100', 'shorts pay'],
  ] as const) {
    it(`accrues at its rate while the index price is ${index}: ${who}`, async () => {
      await fixture.operator.moveIndex('ETHUSD', index)
      // The mean does not contain older prices any more.
      await fixture.wait(200)
      const before = { long: await of(long), short: await of(short) }
      await fixture.wait(3600)
      const after = { long: await of(long), short: await of(short) }
      const { rate } = after.long
      expect(Math.sign(Number(rate.numerator))).to.equal(index === '2900' ? 1 : -1)
      for (const [side, sizeRaw] of [
        ['long', 5n * ether],
        ['short', -2n * ether],
      ] as const) {
        // Each at its own block, since the next block may come between two reads.
        const seconds = BigInt(after[side].head.timestamp - before[side].head.timestamp)
        const paid = before[side].pendingRaw - after[side].pendingRaw
        const indexRaw = BigInt(index) * ether
        const expected = (sizeRaw * indexRaw * rate.numerator * seconds) / (ether * rate.denominator * day)
        expect(Number(paid)).to.be.closeTo(Number(expected), Math.abs(Number(expected)) * 1e-12)
        expect(after[side].pendingRaw > before[side].pendingRaw).to.equal(index === '2900' ? side === 'short' : side === 'long')
      }
    })
  }

  it('settles with the next trade, and belongs to the collateral then', async () => {
    const { pendingRaw, rate, index, head } = await of(long)
    const before = (await fixture.exchange.account(long.address, at())).account
    const { fill, receipt } = await fixture.open(long, { market: fixture.named('ETH'), side: 'LONG', sizeRaw: ether / 100n })
    expect(fill?.realizedProfitRaw).to.equal(0n)
    const { account } = await fixture.exchange.account(long.address, at())
    // It accrues every second: what was pending before the trade was settled, the rest accrued since.
    const flows = (sizeRaw: bigint, seconds: number) =>
      -Number((sizeRaw * index.numerator * rate.numerator * BigInt(seconds)) / (index.denominator * rate.denominator * day))
    const tradedAt = (await fixture.provider.getBlock(receipt.blockNumber))?.timestamp ?? expect.fail('It is in no block.')
    const taken = Number(pendingRaw) + flows(5n * ether, tradedAt - head.timestamp)
    expect(Number(account.collateralRaw - before.collateralRaw)).to.be.closeTo(taken, Math.abs(taken) * 1e-12)
    expect(fill?.fundingRaw).to.equal(account.collateralRaw - before.collateralRaw)
    const after = await of(long)
    const since = flows(5n * ether + ether / 100n, after.head.timestamp - tradedAt)
    expect(Number(after.pendingRaw)).to.be.closeTo(since, Math.abs(since) * 0.01)
  })

  it('stops with its market', async () => {
    await fixture.operator.moveIndex('ETHUSD', '3000')
    const token = await fixture.contractAt('BaseToken', fixture.named('ETH').id)
    await (await token.getFunction('pause').send()).wait()
    const before = await of(short)
    await fixture.wait(3600)
    const after = await of(short)
    expect(after.rate.numerator).to.equal(0n)
    expect(after.pendingRaw).to.equal(before.pendingRaw)
    expect(after.market.status).to.equal('paused')
  })

  it("has a rate within the exchange's limit for all prices", () => {
    fc.assert(
      fc.property(fc.bigInt(2n ** 60n, 2n ** 120n), fc.bigInt(1n, 10n ** 30n), fc.bigInt(0n, 1_000_000n), (sqrtX96, index, most) => {
        const indexX96 = (index * 2n ** 96n) / ether
        fc.pre(indexX96 > 0n)
        const { numerator, denominator } = fundingRate(sqrtX96, index, most)
        const size = numerator < 0n ? -numerator : numerator
        expect(size * 1_000_000n <= denominator * most).to.equal(true)
      }),
    )
  })
})
