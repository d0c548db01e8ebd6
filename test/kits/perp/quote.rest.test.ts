import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { ContractFactory, MaxUint256, ZeroHash, type Wallet } from 'ethers'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import type { PerpMarketName, PerpOrder } from '../../../core/contracts/index.ts'
import { at } from '../amm/devnet-fixture.ts'
import { addRange } from './makers.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'
import { refusalOf } from './refusal-of.ts'
import { rejection } from '../amm/v2/rejection.ts'

const ether = 10n ** 18n
const side = fc.constantFrom('LONG' as const, 'SHORT' as const)

describe('the quote of an order', () => {
  let fixture: PerpFixture
  let trader: Wallet
  before(async () => {
    fixture = await createPerpFixture()
    trader = await fixture.newTrader(10n ** 15n)
    // Ticks to cross, near the price and further away.
    for (const [base, price, depth] of [
      ['ETH', 3000, 300],
      ['BTC', 60_000, 5],
    ] as const)
      for (const [below, above] of [
        [0.98, 1.02],
        [0.96, 1.0],
        [1.0, 1.04],
        [0.94, 1.07],
      ] as const)
        await addRange(fixture, base, { lower: price * below, upper: price * above, depth })
  })
  after(() => fixture.end())

  /** The exchange's own answer to the order, from a trader with collateral. */
  const exchanges = async ({ market, side, sizeRaw }: PerpOrder, blockTag: bigint) => {
    const house = (await fixture.contract('ClearingHouse')).connect(trader)
    const isShort = side === 'SHORT'
    const params = [market.id, isShort, isShort, sizeRaw, 0n, MaxUint256, 0n, ZeroHash]
    const [base, quote] = await house.getFunction('openPosition').staticCall(params, { blockTag })
    return { base: BigInt(base), quote: BigInt(quote) }
  }

  for (const base of ['ETH', 'BTC']) {
    it(`equals the exchange's answer to the unit for every size of ${base} that it accepts, and its refusal for every other`, async () => {
      const market = fixture.named(base)
      const most = base === 'ETH' ? 400n * ether : 20n * ether
      let taken = 0
      await fc.assert(
        fc.asyncProperty(side, fc.bigInt(1n, most), fc.constantFrom(1n, 10n ** 6n, 10n ** 12n), async (side, size, cut) => {
          const order = { market, side, sizeRaw: size / cut || 1n }
          const quote = await fixture.exchange.quote(order, undefined, at()).catch((error: unknown) => error)
          if (quote instanceof Error) {
            const reason = (quote as { details?: { reason?: string } }).details?.reason ?? quote.message
            expect(await refusalOf(exchanges(order, BigInt(await fixture.provider.getBlockNumber())))).to.equal(reason)
            return
          }
          taken += 1
          const { quoteRaw, head } = quote as Awaited<ReturnType<PerpFixture['exchange']['quote']>>
          expect(await exchanges(order, head.number)).to.deep.equal({ base: order.sizeRaw, quote: quoteRaw })
        }),
        { numRuns: 60 },
      )
      expect(taken).to.be.above(20)
    })
  }

  it("equals the exchange's Quoter, except for the fee, which the Quoter rounds once instead of in each step", async () => {
    const { abi, bytecode } = JSON.parse(readFileSync(new URL('../../fixtures/perp/Quoter.json', import.meta.url), 'utf8'))
    const contract = await new ContractFactory(abi, bytecode, trader).deploy(fixture.placed.exchange('MarketRegistry'))
    const quoter = (await contract.waitForDeployment()).getFunction('swap')
    for (const base of ['ETH', 'BTC'])
      for (const [side, sizeRaw] of [
        ['LONG', ether / 10n],
        ['SHORT', ether / 10n],
        ['LONG', 2n * ether],
        ['SHORT', 2n * ether],
      ] as const) {
        const market = fixture.named(base)
        const { quoteRaw, head } = await fixture.exchange.quote({ market, side, sizeRaw }, undefined, at())
        const isShort = side === 'SHORT'
        const [baseRaw, netRaw] = await quoter.staticCall([market.id, isShort, isShort, sizeRaw, 0n], { blockTag: Number(head.number) })
        expect(BigInt(baseRaw)).to.equal(sizeRaw)
        expect(Number(quoteRaw - BigInt(netRaw)), `${side} ${sizeRaw} ${base}`).to.be.within(-8, 8)
      }
  })

  it('equals the fill, fee included, with the bound at the quote itself', async () => {
    const market = fixture.named('ETH')
    for (const [side, sizeRaw] of [
      ['LONG', 25n * ether],
      ['SHORT', 70n * ether],
      ['LONG', 12_345_678_901_234_567n],
    ] as const) {
      const { quote, fill } = await fixture.open(trader, { market, side, sizeRaw })
      expect(fill).to.deep.include({ sizeRaw, quoteRaw: quote.quoteRaw, feeRaw: quote.feeRaw })
    }
  })

  it("has a trader's discounted fee, and the full fee for every other trader", async () => {
    const registry = await fixture.contract('MarketRegistry')
    await (await registry.getFunction('setFeeManager').send(deployerAddress('perp'), true)).wait()
    await (await registry.getFunction('setFeeDiscountRatio').send(trader.address, 500_000)).wait()
    const order = { market: fixture.named('ETH'), side: 'LONG', sizeRaw: ether } as const
    const { feeRaw } = await fixture.exchange.quote(order, undefined, at())
    const { quote, fill } = await fixture.open(trader, order)
    expect(fill).to.deep.include({ quoteRaw: quote.quoteRaw, feeRaw: quote.feeRaw })
    expect(Number(quote.feeRaw) / Number(feeRaw)).to.be.closeTo(0.5, 1e-3)
    await (await registry.getFunction('setFeeDiscountRatio').send(trader.address, 0)).wait()
  })

  it('reverts on chain one unit past the bound', async () => {
    const market: PerpMarketName = fixture.named('ETH')
    for (const [side, unit, code] of [
      ['LONG', -1n, 'CH_TMRL'],
      ['SHORT', 1n, 'CH_TLRS'],
    ] as const) {
      const quote = await fixture.exchange.quote({ market, side, sizeRaw: ether }, trader.address, at())
      const terms = { owner: trader.address, boundRaw: quote.quoteRaw + unit, deadline: await fixture.deadline() }
      const { steps } = fixture.exchange.open(quote, terms)
      expect(await refusalOf(fixture.provider.call({ from: trader.address, ...steps[0] }))).to.equal(code)
    }
  })

  it('costs one round trip, with and without a wallet', async () => {
    const order = { market: fixture.named('BTC'), side: 'LONG', sizeRaw: ether / 100n } as const
    for (const owner of [undefined, trader.address]) {
      fixture.counted.rpc = 0
      await fixture.exchange.quote(order, owner, at())
      expect(fixture.counted.rpc).to.equal(1)
    }
  })

  it('ends in a refusal for more than any pool can hold', async () => {
    const order = { market: fixture.named('ETH'), side: 'SHORT', sizeRaw: 2n ** 250n } as const
    expect(await rejection(fixture.exchange.quote(order, undefined, at()))).to.include({ name: 'PRICE_FAILED' })
  })
})
