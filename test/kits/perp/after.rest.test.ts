import { expect } from 'chai'
import fc from 'fast-check'
import type { Wallet } from 'ethers'
import { at } from '../amm/devnet-fixture.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'

const ether = 10n ** 18n

describe('the expected position after an order', () => {
  let fixture: PerpFixture
  let trader: Wallet
  before(async () => {
    fixture = await createPerpFixture()
    trader = await fixture.newTrader(10n ** 12n)
  })
  after(() => fixture.end())

  const orderOf = async (sizeRaw: bigint, { base = 'ETH' } = {}) => {
    const market = fixture.named(base)
    await fixture.wait(20)
    const side = sizeRaw > 0n ? 'LONG' : 'SHORT'
    const { quote, receipt } = await fixture.open(trader, { market, side, sizeRaw: sizeRaw > 0n ? sizeRaw : -sizeRaw })
    expect(receipt.status).to.equal(1)
    const { position } = await fixture.exchange.position(trader.address, market, at())
    return { after: quote.after, is: { sizeRaw: position.sizeRaw, openNotionalRaw: position.openNotionalRaw } }
  }

  it('equals the position on chain to the unit, for random trades that open, increase, reduce and turn it', async () => {
    const sizes = fc.bigInt(-4n * ether, 4n * ether).filter((raw) => raw !== 0n)
    for (const sizeRaw of fc.sample(sizes, { numRuns: 15, seed: 3 })) {
      const { after, is } = await orderOf(sizeRaw)
      expect(after).to.deep.equal(is)
    }
  })

  it('has nothing in it after a full close, or where less is left than the exchange counts', async () => {
    const base = 'BTC'
    await orderOf(ether / 3n, { base })
    expect((await orderOf(-ether / 3n, { base })).after).to.deep.equal({ sizeRaw: 0n, openNotionalRaw: 0n })
    await orderOf(ether / 3n, { base })
    const { after, is } = await orderOf(9n - ether / 3n, { base })
    expect(after).to.deep.equal(is)
    expect(is.sizeRaw).to.equal(0n)
  })
})
