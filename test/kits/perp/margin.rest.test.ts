import { expect } from 'chai'
import { MaxUint256, ZeroHash, type Wallet } from 'ethers'
import { at, tokens } from '../amm/devnet-fixture.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'
import { refusalOf } from './refusal-of.ts'

const ether = 10n ** 18n

describe('the free collateral that an order needs', () => {
  let fixture: PerpFixture
  before(async () => {
    fixture = await createPerpFixture()
  })
  after(() => fixture.end())

  const tries = async (trader: Wallet, side: 'LONG' | 'SHORT', sizeRaw: bigint, base = 'ETH') => {
    const market = fixture.named(base)
    const quote = await fixture.exchange.quote({ market, side, sizeRaw }, trader.address, at())
    const house = (await fixture.contract('ClearingHouse')).connect(trader)
    const isShort = side === 'SHORT'
    const params = [market.id, isShort, isShort, sizeRaw, 0n, MaxUint256, 0n, ZeroHash]
    const answer = await refusalOf(house.getFunction('openPosition').staticCall(params, { blockTag: Number(quote.head.number) }))
    return { missingRaw: quote.missingRaw ?? 0n, answer }
  }

  /** The largest size that is accepted, by bisection, asking both the kit and the exchange. */
  const limit = async (trader: Wallet, side: 'LONG' | 'SHORT', most: bigint, { base = 'ETH', unit = 1n } = {}) => {
    let [taken, refused] = [0n, most]
    while (refused - taken > unit) {
      const middle = (taken + refused) / 2n
      const { missingRaw, answer } = await tries(trader, side, middle, base)
      expect(answer, `${side} ${middle}: ${missingRaw} missing`).to.equal(missingRaw > 0n ? 'CH_NEFCI' : 'it was not refused')
      if (missingRaw > 0n) refused = middle
      else taken = middle
    }
    return taken
  }

  it('equals what the exchange requires, to the last unit of size, on either side', async () => {
    const trader = await fixture.newTrader(1_000_000_000n)
    for (const side of ['LONG', 'SHORT'] as const) expect(Number(await limit(trader, side, 10n * ether))).to.be.above(3e18)
  })

  it('equals what it requires with positions in both markets that are increased, turned and hedged', async () => {
    const trader = await fixture.newTrader(3_000_000_000n)
    await fixture.open(trader, { market: fixture.named('ETH'), side: 'LONG', sizeRaw: 4n * ether })
    await fixture.open(trader, { market: fixture.named('BTC'), side: 'SHORT', sizeRaw: ether / 10n })
    const unit = 10n ** 9n
    expect(Number(await limit(trader, 'LONG', 20n * ether, { unit }))).to.be.above(2e18)
    expect(Number(await limit(trader, 'SHORT', 30n * ether, { unit }))).to.be.above(4e18)
    expect(Number(await limit(trader, 'LONG', ether, { unit, base: 'BTC' }))).to.be.above(1e17)
  })

  it('drops for an order that only reduces a position, which is still refused where too little is left', async () => {
    const trader = await fixture.newTrader(1_000_000_000n)
    const market = fixture.named('ETH')
    await fixture.open(trader, { market, side: 'LONG', sizeRaw: 3n * ether })
    // Enough to reduce the position, which needs the maintenance margin only.
    await fixture.setCollateral(trader.address, 500_000_000n)
    expect(await tries(trader, 'LONG', ether / 1000n)).to.deep.include({ answer: 'CH_NEFCI' })
    expect(await tries(trader, 'SHORT', ether)).to.deep.equal({ missingRaw: 0n, answer: 'it was not refused' })
    await fixture.setCollateral(trader.address, 380_000_000n)
    const { missingRaw, answer } = await tries(trader, 'SHORT', ether)
    expect(answer).to.equal('CH_NEFCM')
    expect(Number(missingRaw)).to.be.above(0)
    const closing = await fixture.exchange.quoteClose(trader.address, market, at())
    expect(closing?.missingRaw ?? 0n).to.equal(0n)
  })
})

describe('a withdrawal', () => {
  let fixture: PerpFixture
  before(async () => {
    fixture = await createPerpFixture()
  })
  after(() => fixture.end())

  it('has gas for a market in which a transaction before it opens a position', async () => {
    const trader = await fixture.newTrader()
    await fixture.open(trader, { market: fixture.named('ETH'), side: 'LONG', sizeRaw: ether })
    const [step] = fixture.exchange.transferCollateral(tokens.USDC, 1_000_000n, 'withdraw', trader.address).steps
    const { to, data } = step
    const estimate = await fixture.provider.estimateGas({ from: trader.address, to, data })
    const margin = (estimate * 5n) / 4n
    await fixture.open(trader, { market: fixture.named('BTC'), side: 'LONG', sizeRaw: ether / 10n })
    await fixture.wait(60)
    const gasLimit = margin + BigInt(step.spareGas ?? '0')
    const { status, gasUsed } = await fixture.mined((await trader.sendTransaction({ to, data, gasLimit })).hash)
    expect([status, BigInt(gasUsed) > margin]).to.deep.equal([1, true])
  })
})
