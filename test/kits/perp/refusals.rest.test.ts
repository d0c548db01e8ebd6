import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { PerpOrder } from '../../../core/contracts/index.ts'
import { meaningOf, perpRefusals } from '../../../kits/perp/abi.ts'
import { at, tokens } from '../amm/devnet-fixture.ts'
import { rejection } from '../amm/v2/rejection.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'
import { refusalOf } from './refusal-of.ts'

const ether = 10n ** 18n
const folders = ['perp', 'amm/v3'].map((kit) => new URL(`../../../kits/${kit}/artifacts/`, import.meta.url))

describe('the refusals of the exchange', () => {
  let fixture: PerpFixture
  before(async () => {
    fixture = await createPerpFixture()
  })
  after(() => fixture.end())

  it('match codes in the bytecode of its contracts, each with its meaning and what to do', () => {
    const codes = folders.flatMap((folder) => readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))).join('')
    // UniswapV3Pool is part of the factory's code. Solidity shifts short strings into place, so that their last bits may be left out.
    const isThere = (code: string) => {
      let bits = BigInt(`0x${Buffer.from(code).toString('hex')}`)
      if (codes.includes(bits.toString(16))) return true
      while (bits % 2n === 0n) bits /= 2n
      return codes.includes(bits.toString(16))
    }
    expect(Object.keys(perpRefusals).filter((code) => !isThere(code))).to.deep.equal([])
    for (const [code, means] of Object.entries(perpRefusals)) {
      expect(means, code).to.match(/^[a-z].*[a-z]$/)
      expect(meaningOf(code)).to.equal(`${means} (${code})`)
    }
    expect(meaningOf('XX_NEW')).to.equal('XX_NEW')
  })

  const quoted = async (order: PerpOrder) => {
    const error = await rejection(fixture.exchange.quote(order, undefined, at()))
    return { name: error.name, details: error.details, says: error.message }
  }

  it('come before signing: too large for the pool, for the moment, or too far from the index price', async () => {
    const market = fixture.named('BTC')
    const reason = async (order: PerpOrder) => {
      const { name, details, says } = await quoted(order)
      expect(name).to.equal('PRICE_FAILED')
      const code = (details as { reason: string }).reason
      expect(says).to.contain(perpRefusals[code] ?? 'nothing')
      return code
    }
    expect(await reason({ market, side: 'LONG', sizeRaw: 10_000n * ether })).to.equal('UB_UOA')
    expect(await reason({ market, side: 'SHORT', sizeRaw: 30n * ether })).to.equal('EX_OPLAS')
    await fixture.operator.moveIndex('BTCUSD', '54600')
    expect(await reason({ market, side: 'LONG', sizeRaw: ether })).to.equal('EX_OPB')
    expect((await fixture.exchange.quote({ market, side: 'SHORT', sizeRaw: ether }, undefined, at())).order.side).to.equal('SHORT')
    await fixture.operator.moveIndex('BTCUSD', '60000')
  })

  it('come for the transaction itself, too: deadline, collateral, market, withdrawal', async () => {
    const market = fixture.named('ETH')
    const [trader, poor] = [await fixture.newTrader(), await fixture.newTrader(0n)]
    const quote = await fixture.exchange.quote({ market, side: 'LONG', sizeRaw: ether }, trader.address, at())
    const call = ({ steps: [step] }: { steps: readonly [{ to: string; data: string }, ...unknown[]] }, from = trader.address) =>
      refusalOf(fixture.provider.call({ from, to: step.to, data: step.data }))
    const terms = { owner: trader.address, boundRaw: quote.quoteRaw * 2n, deadline: await fixture.deadline() }
    expect(await call(fixture.exchange.open(quote, { ...terms, deadline: 1 }))).to.equal('CH_TE')
    expect(await call(fixture.exchange.open(quote, terms), poor.address)).to.equal('CH_NEFCI')
    const { withdrawableRaw } = await fixture.exchange.collateral(trader.address, tokens.USDC, at())
    const out = (raw: bigint) => fixture.exchange.transferCollateral(tokens.USDC, raw, 'withdraw', trader.address)
    expect(await call(out(withdrawableRaw))).to.equal('it was not refused')
    expect(await call(out(withdrawableRaw + 1n))).to.equal('V_NEFC')
    expect(await call(fixture.exchange.transferCollateral(tokens.DAI, 1n, 'deposit', trader.address))).to.equal('V_OSCT')
    await fixture.operator.setStatus('ETHUSD', 'paused')
    expect(await call(fixture.exchange.open(quote, terms))).to.equal('EX_MIP')
    expect((await fixture.exchange.prices(market, at())).market.status).to.equal('paused')
    await fixture.operator.setStatus('ETHUSD', 'closed')
    expect(await call(fixture.exchange.open(quote, terms))).to.equal('CH_MNO')
  })

  it('make every market a paused one while the whole exchange is paused', async () => {
    const house = await fixture.contract('ClearingHouse')
    await (await house.getFunction('pause').send()).wait()
    expect((await fixture.exchange.prices(fixture.named('BTC'), at())).market.status).to.equal('paused')
    await (await house.getFunction('unpause').send()).wait()
    expect((await fixture.exchange.prices(fixture.named('BTC'), at())).market.status).to.equal('open')
  })
})
