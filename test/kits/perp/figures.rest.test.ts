import { expect } from 'chai'
import fc from 'fast-check'
import { formatUnits, type Wallet } from 'ethers'
import type { PerpAccount, PerpPosition } from '../../../core/contracts/index.ts'
import { at, tokens } from '../amm/devnet-fixture.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'

const ether = 10n ** 18n

describe("a wallet's figures", () => {
  let fixture: PerpFixture
  let trader: Wallet
  before(async () => {
    fixture = await createPerpFixture()
    trader = await fixture.newTrader(10n ** 12n)
  })
  after(() => fixture.end())

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

  it('equal the views of the exchange to the unit, in both markets, after random trades and changes of time and index', async () => {
    const step10 = fc.sample(step, { numRuns: 12, seed: 20 })
    for (const { base, side, dollars, seconds, index } of step10) {
      const price = prices[base === 'ETH' ? 'ETH' : 'BTC']
      await fixture.operator.moveIndex(`${base}USD`, String((Number(price) * index) / 1000))
      await fixture.wait(seconds + 20)
      await fixture.open(trader, { market: fixture.named(base), side, sizeRaw: (dollars * ether) / price })
      await fixture.wait(seconds + 1)
      for (const each of ['ETH', 'BTC']) {
        const { head, position, account } = await fixture.exchange.position(trader.address, fixture.named(each), at())
        const { indexPrice: _, ...views } = await fixture.operator.views(trader.address, `${each}USD`, Number(head.number))
        expect(shown(position, account)).to.deep.equal(views)
        // Read at its own block: the mark price is a mean over time.
        const alone = await fixture.exchange.account(trader.address, at())
        const { notional } = await fixture.operator.views(trader.address, `${each}USD`, Number(alone.head.number))
        expect(inSettlement(alone.account.notionalRaw)).to.equal(notional)
      }
    }
  })

  it('say what the exchange shows of free collateral, which is never below 0 there, and leave funding out of the collateral', async () => {
    const poor = await fixture.newTrader(1_000_000_000n)
    await fixture.open(poor, { market: fixture.named('ETH'), side: 'LONG', sizeRaw: 3n * ether })
    await fixture.wait(7200)
    const vault = await fixture.contract('Vault')
    const balances = await fixture.contract('AccountBalance')
    const settlement = 10n ** 12n
    const signs = new Set<boolean>()
    for (const collateralRaw of [1_000_000_000n, 500_000_000n]) {
      await fixture.setCollateral(poor.address, collateralRaw)
      const { head, account, position } = await fixture.exchange.position(poor.address, fixture.named('ETH'), at())
      const blockTag = Number(head.number)
      const shown = BigInt(String(await vault.getFunction('getFreeCollateral').staticCall(poor.address, { blockTag }))) * settlement
      const { freeCollateralRaw } = account
      expect(freeCollateralRaw > 0n ? freeCollateralRaw : 0n).to.equal(shown)
      signs.add(freeCollateralRaw > 0n)
      const [, unrealized, pendingFee]: readonly bigint[] = await balances
        .getFunction('getPnlAndPendingFee')
        .staticCall(poor.address, { blockTag })
      expect(position.pendingFundingRaw).to.not.equal(0n)
      const valueRaw = account.collateralRaw + (unrealized ?? 0n) + (pendingFee ?? 0n) + position.pendingFundingRaw
      // The exchange shows the value in whole units of the settlement token.
      expect(valueRaw - account.valueRaw >= -settlement && valueRaw - account.valueRaw <= settlement).to.equal(true)
    }
    expect(signs.size).to.equal(2)
  })

  it('include the prices of its markets, at one block', async () => {
    await fixture.operator.moveIndex('ETHUSD', '3010')
    const { head, prices } = await fixture.exchange.prices(fixture.named('ETH'), at())
    const views = await fixture.operator.views(trader.address, 'ETHUSD', Number(head.number))
    expect({ mark: formatUnits(prices.mark.numerator, 18), index: formatUnits(prices.index.numerator, 18) }).to.deep.equal({
      mark: views.markPrice,
      index: views.indexPrice,
    })
    expect(prices.index).to.deep.equal({ numerator: 3010n * ether, denominator: ether })
  })

  it('count other collateral beside the dollars, and what can be withdrawn of each', async () => {
    const two = 2n * ether
    await fixture.provider.send('anvil_setBalance', [trader.address, '0x3635c9adc5dea00000'])
    const weth = { to: tokens.WETH.address, value: two.toString(), data: '0xd0e30db0' }
    await fixture.executeBy(trader, { steps: [weth], needs: [], memo: null })
    await fixture.approveBy(trader, tokens.WETH.address)
    const plan = fixture.exchange.transferCollateral(tokens.WETH, two, 'deposit', trader.address)
    expect(plan.needs.map(({ is }) => is)).to.deep.equal(['balance', 'allowance'])
    expect((await fixture.executeBy(trader, plan)).status).to.equal(1)

    const { head, position, account } = await fixture.exchange.position(trader.address, fixture.named('ETH'), at())
    const { indexPrice: _, ...views } = await fixture.operator.views(trader.address, 'ETHUSD', Number(head.number))
    expect(shown(position, account)).to.deep.equal(views)

    const held = await fixture.exchange.collateral(trader.address, tokens.WETH, at())
    expect(held).to.deep.include({ depositedRaw: two, withdrawableRaw: two })
    const dollars = await fixture.exchange.collateral(trader.address, tokens.USDC, at())
    const [out] = fixture.exchange.transferCollateral(tokens.USDC, dollars.withdrawableRaw, 'withdraw', trader.address).steps
    // At exactly that block, since funding accrues every second.
    const asked = { from: trader.address, to: out.to, data: out.data, blockTag: Number(dollars.head.number) }
    expect(await fixture.provider.call(asked)).to.equal('0x')
  })

  it('take one round trip each', async () => {
    const market = fixture.named('ETH')
    for (const read of [
      () => fixture.exchange.position(trader.address, market, at()),
      () => fixture.exchange.account(trader.address, at()),
      () => fixture.exchange.funding(trader.address, at()),
      () => fixture.exchange.prices(market, at()),
      () => fixture.exchange.quoteClose(trader.address, market, at()),
      () => fixture.exchange.collateral(trader.address, tokens.USDC, at()),
    ]) {
      fixture.counted.rpc = 0
      await read()
      expect(fixture.counted.rpc).to.equal(1)
    }
    fixture.counted.rpc = 0
    await fixture.exchange.listMarkets(at())
    expect(fixture.counted.rpc).to.equal(0)
  })

  it('use the current parameters, although they have changed since the start', async () => {
    const config = await fixture.contract('ClearingHouseConfig')
    await fixture.operator.moveIndex('BTCUSD', '60500')
    await fixture.wait(300)
    await (await config.getFunction('setTwapInterval').send(900)).wait()
    const { prices, head } = await fixture.exchange.prices(fixture.named('BTC'), at())
    const token = await fixture.contractAt('BaseToken', fixture.named('BTC').id)
    expect(prices.indexTwap.numerator).to.equal(await token.getFunction('getIndexPrice').staticCall(900, { blockTag: Number(head.number) }))
    fixture.counted.rpc = 0
    await fixture.exchange.prices(fixture.named('BTC'), at())
    expect(fixture.counted.rpc).to.equal(1)
    await (await config.getFunction('setTwapInterval').send(60)).wait()
  })

  it('refuse a token that is no collateral', async () => {
    for (const token of [tokens.DAI, fixture.chain.nativeCurrency])
      await fixture.exchange.collateral(trader.address, token, at()).then(
        () => expect.fail(`${token.symbol} was taken`),
        (error: unknown) => expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' }),
      )
  })
})
