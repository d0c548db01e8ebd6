import { expect } from 'chai'
import fc from 'fast-check'
import { formatUnits, type Wallet } from 'ethers'
import type { PerpAccount, PerpPosition } from '../../../core/contracts/index.ts'
import { at, tokens } from '../amm/v2/trading-floor.ts'
import { openPerpFloor, type PerpFloor } from './perp-floor.ts'

const ether = 10n ** 18n

describe('what a wallet has in the exchange, by the kit', () => {
  let floor: PerpFloor
  let trader: Wallet
  before(async () => {
    floor = await openPerpFloor()
    trader = await floor.newTrader(10n ** 12n)
  })
  after(() => floor.end())

  const inSettlement = (raw: bigint) => formatUnits(raw, 18)
  const shown = ({ sizeRaw, openNotionalRaw, unrealizedProfitRaw, pendingFundingRaw, mark }: PerpPosition, account: PerpAccount) => ({
    size: formatUnits(sizeRaw, 18),
    openNotional: formatUnits(openNotionalRaw, 18),
    unrealizedProfit: formatUnits(unrealizedProfitRaw, 18),
    pendingFunding: formatUnits(pendingFundingRaw, 18),
    markPrice: formatUnits(mark.numerator, 18),
    accountValue: inSettlement(account.valueRaw),
    freeCollateral: inSettlement(account.freeCollateralRaw),
    collateral: inSettlement(account.collateralRaw),
    initialMargin: inSettlement(account.initialMarginRaw),
    maintenanceMargin: inSettlement(account.maintenanceMarginRaw),
    notional: inSettlement(account.notionalRaw),
  })
  const step = fc.record({
    base: fc.constantFrom('ETH', 'BTC'),
    side: fc.constantFrom('LONG' as const, 'SHORT' as const),
    dollars: fc.bigInt(100n, 60_000n),
    seconds: fc.nat(7200),
    index: fc.integer({ min: 970, max: 1030 }),
  })
  const prices = { ETH: 3000n, BTC: 60_000n }

  it('is what the views of the exchange say, to the unit, in both markets, whatever was traded and however time and index went', async () => {
    const step10 = fc.sample(step, { numRuns: 12, seed: 20 })
    for (const { base, side, dollars, seconds, index } of step10) {
      const price = prices[base === 'ETH' ? 'ETH' : 'BTC']
      await floor.operator.moveIndex(`${base}USD`, String((Number(price) * index) / 1000))
      await floor.wait(seconds + 20)
      await floor.open(trader, { market: floor.named(base), side, sizeRaw: (dollars * ether) / price })
      await floor.wait(seconds + 1)
      for (const each of ['ETH', 'BTC']) {
        const { head, position, account } = await floor.exchange.position(trader.address, floor.named(each), at())
        const { indexPrice: _, ...views } = await floor.operator.views(trader.address, `${each}USD`, Number(head.number))
        expect(shown(position, account)).to.deep.equal(views)
        // Of a block of its own: the mark price is a mean, and may be another one by then.
        const alone = await floor.exchange.account(trader.address, at())
        const { notional } = await floor.operator.views(trader.address, `${each}USD`, Number(alone.head.number))
        expect(inSettlement(alone.account.notionalRaw)).to.equal(notional)
      }
    }
  })

  it('has the prices of its markets, at one block', async () => {
    await floor.operator.moveIndex('ETHUSD', '3010')
    const { head, prices } = await floor.exchange.prices(floor.named('ETH'), at())
    const views = await floor.operator.views(trader.address, 'ETHUSD', Number(head.number))
    expect({ mark: formatUnits(prices.mark.numerator, 18), index: formatUnits(prices.index.numerator, 18) }).to.deep.equal({
      mark: views.markPrice,
      index: views.indexPrice,
    })
    expect(prices.index).to.deep.equal({ numerator: 3010n * ether, denominator: ether })
  })

  it('counts other collateral beside the dollars, and lets out what is free of either', async () => {
    const two = 2n * ether
    await floor.provider.send('anvil_setBalance', [trader.address, '0x3635c9adc5dea00000'])
    const weth = { to: tokens.WETH.address, value: two.toString(), data: '0xd0e30db0' }
    await floor.executeBy(trader, { steps: [weth], needs: [], memo: null })
    await floor.approveBy(trader, tokens.WETH.address)
    const plan = floor.exchange.move(tokens.WETH, two, 'deposit', trader.address)
    expect(plan.needs.map(({ is }) => is)).to.deep.equal(['balance', 'allowance'])
    expect((await floor.executeBy(trader, plan)).status).to.equal(1)

    const { head, position, account } = await floor.exchange.position(trader.address, floor.named('ETH'), at())
    const { indexPrice: _, ...views } = await floor.operator.views(trader.address, 'ETHUSD', Number(head.number))
    expect(shown(position, account)).to.deep.equal(views)

    const held = await floor.exchange.collateral(trader.address, tokens.WETH, at())
    expect(held).to.deep.include({ depositedRaw: two, withdrawableRaw: two })
    const dollars = await floor.exchange.collateral(trader.address, tokens.USDC, at())
    const [out] = floor.exchange.move(tokens.USDC, dollars.withdrawableRaw, 'withdraw', trader.address).steps
    // At that very block: funding goes on by the second.
    const asked = { from: trader.address, to: out.to, data: out.data, blockTag: Number(dollars.head.number) }
    expect(await floor.provider.call(asked)).to.equal('0x')
  })

  it('is read in one round trip, each time', async () => {
    const market = floor.named('ETH')
    for (const read of [
      () => floor.exchange.position(trader.address, market, at()),
      () => floor.exchange.account(trader.address, at()),
      () => floor.exchange.funding(trader.address, at()),
      () => floor.exchange.prices(market, at()),
      () => floor.exchange.closing(trader.address, market, at()),
      () => floor.exchange.collateral(trader.address, tokens.USDC, at()),
    ]) {
      floor.counted.rpc = 0
      await read()
      expect(floor.counted.rpc).to.equal(1)
    }
    floor.counted.rpc = 0
    await floor.exchange.listed(at())
    expect(floor.counted.rpc).to.equal(0)
  })

  it('is read by the terms that hold now, though others held at the start', async () => {
    const config = await floor.contract('ClearingHouseConfig')
    await floor.operator.moveIndex('BTCUSD', '60500')
    await floor.wait(300)
    await (await config.getFunction('setTwapInterval').send(900)).wait()
    const { prices, head } = await floor.exchange.prices(floor.named('BTC'), at())
    const token = await floor.contractAt('BaseToken', floor.named('BTC').id)
    expect(prices.indexTwap.numerator).to.equal(await token.getFunction('getIndexPrice').staticCall(900, { blockTag: Number(head.number) }))
    floor.counted.rpc = 0
    await floor.exchange.prices(floor.named('BTC'), at())
    expect(floor.counted.rpc).to.equal(1)
    await (await config.getFunction('setTwapInterval').send(60)).wait()
  })

  it('is nothing where the exchange does not take the token', async () => {
    for (const token of [tokens.DAI, floor.chain.nativeCurrency])
      await floor.exchange.collateral(trader.address, token, at()).then(
        () => expect.fail(`${token.symbol} was taken`),
        (error: unknown) => expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' }),
      )
  })
})
