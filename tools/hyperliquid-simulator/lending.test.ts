import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { newTrader } from './client.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

type Trader = ReturnType<typeof newTrader>

const [usdc, hype, hypeUsdc] = [0, 150, 10_107]
const other = '0x00000000000000000000000000000000000000aa'
const hour = 3_600_000
const { health } = JSON.parse(readFileSync(new URL('../../test/fixtures/hyperliquid/lending.json', import.meta.url), 'utf8'))

describe('portfolio margin on the simulator of Hyperliquid', () => {
  let exchange: HyperliquidExchange
  let trader: Trader

  beforeEach(async () => {
    exchange = await startExchange({ borrowCap: '10000' })
    // A full hour has just begun: none passes but those that a test lets pass.
    exchange.clock.advance(hour - (exchange.clock.now() % hour))
    trader = newTrader(exchange)
    exchange.lend('USDC', '100000')
    exchange.credit(trader.address, 'HYPE', '100')
  })
  afterEach(() => exchange.stop())

  const lend = (operation: 'supply' | 'withdraw' | 'borrow' | 'repay', token: number, amount: string | null) =>
    trader.exchange.borrowLend({ operation, token, amount }).then(() => 'done', String)
  const enable = () => trader.exchange.userPortfolioMargin({ user: trader.address, enabled: true })
  const loans = async () => new Map((await trader.info.borrowLendUserState({ user: trader.address })).tokenToState)
  const balance = async (coin: string) => {
    const { balances } = await trader.info.spotClearinghouseState({ user: trader.address })
    return balances.find((each) => each.coin === coin)?.total
  }
  /** Beyond what the client library knows. */
  const ask = async (type: string): Promise<Record<string, unknown>> => {
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type, user: trader.address }) }
    return (await (await fetch(`${exchange.apiUrl}/info`, asked)).json()) as Record<string, unknown>
  }

  it('is off until the wallet itself switches it on', async () => {
    expect(await ask('userAbstraction')).to.equal('default')
    expect(await lend('borrow', usdc, '10')).to.contain('Portfolio margin is not enabled.')
    await enable()
    expect(await ask('userAbstraction')).to.equal('portfolioMargin')
    expect(await ask('spotClearinghouseState')).to.include({ portfolioMarginEnabled: true, portfolioMarginRatio: '0.0066666667' })
  })

  it('asks for a volume that was traded, where a test wants it so', async () => {
    exchange.engine.rules.volumeForPortfolioMargin = '5000000'
    expect(await enable().catch(String)).to.contain('Insufficient volume traded')
  })

  it('borrows up to the worth of the collateral, up to the cap, and up to what is there', async () => {
    await enable()
    // 100 HYPE of 40 dollars, half of it.
    expect(await lend('borrow', usdc, '2000.00000001')).to.contain('Borrow exceeds')
    expect(await lend('borrow', usdc, '2000')).to.equal('done')
    expect(await lend('borrow', usdc, '0.00000001')).to.contain('Borrow exceeds')
    exchange.credit(trader.address, 'HYPE', '900')
    expect(await lend('borrow', usdc, '8000.00000001')).to.contain('Borrow exceeds')
    expect(await lend('borrow', usdc, null)).to.equal('done')
    expect((await loans()).get(usdc)?.borrow).to.deep.equal({ basis: '10000.0', value: '10000.0' })
    expect(await lend('borrow', hype, '1')).to.contain('Borrow exceeds')
    expect(await lend('supply', 1, '1')).to.contain('Token is not borrowable or suppliable.')
  })

  it('counts no more of a collateral, and takes no more of what is lent, than its cap', async () => {
    await enable()
    exchange.engine.rules.borrowCap = '100000000'
    exchange.credit(trader.address, 'UBTC', '25')
    // 20 of 100000 dollars and 100 of 40, half of both; but for what is there.
    exchange.lend('USDC', '10000000')
    expect(await lend('borrow', usdc, '1002000.00000001')).to.contain('Borrow exceeds')
    expect(await lend('borrow', usdc, '1002000')).to.equal('done')
    exchange.credit(trader.address, 'USDC', '5000000')
    expect(await lend('supply', usdc, '5000000.00000001')).to.contain('more than the cap')
    expect(await lend('supply', usdc, '5000000')).to.equal('done')
  })

  it('takes interest for every full hour, and what is owed with it can be repaid to the unit', async () => {
    await enable()
    await lend('borrow', usdc, '1000')
    exchange.clock.advance(24 * hour)
    // 5 % a year: a day of it, hour upon hour and each rounded up.
    const { borrow } = (await loans()).get(usdc)!
    expect(borrow.basis).to.equal('1000.0')
    expect(Number(borrow.value)).to.be.within(1000.13698, 1000.137)
    expect(await lend('repay', usdc, '1000')).to.equal('done')
    exchange.credit(trader.address, 'USDC', '1')
    expect(await lend('repay', usdc, null)).to.equal('done')
    expect(await loans()).to.deep.equal(new Map())
    const interest = await trader.info.userBorrowLendInterest({ user: trader.address, startTime: 0 })
    expect(interest.map(({ borrow: part }) => part)).to.have.length(24)
    const updates = await trader.info.userNonFundingLedgerUpdates({ user: trader.address })
    expect(updates.map(({ delta }) => (delta.type === 'borrowLend' ? delta.operation : delta.type))).to.deep.equal([
      'borrow',
      'repay',
      'repay',
    ])
  })

  it('gives nine tenths of the interest to who lends', async () => {
    const lender = newTrader(exchange)
    exchange.credit(lender.address, 'USDC', '100000')
    await lender.exchange.borrowLend({ operation: 'supply', token: usdc, amount: '100000' })
    await enable()
    await lend('borrow', usdc, '2000')
    exchange.clock.advance(hour)
    const state = await lender.info.borrowLendUserState({ user: lender.address })
    // An hour of 5 % a year of 2000 is 0.01141553; the half of nine tenths of it.
    expect(state.tokenToState).to.deep.equal([
      [usdc, { borrow: { basis: '0.0', value: '0.0' }, supply: { basis: '100000.0', value: '100000.00513698' } }],
    ])
    await lender.exchange.borrowLend({ operation: 'withdraw', token: usdc, amount: null })
    expect((await lender.info.spotClearinghouseState({ user: lender.address })).balances[0]?.total).to.equal('100000.00513698')
  })

  it('borrows by itself what an order pays with', async () => {
    await enable()
    exchange.credit(trader.address, 'USDC', '100')
    exchange.place(other, { coin: '@107', side: 'SELL', price: '40', size: '50' })
    await trader.exchange.order({ orders: [{ a: hypeUsdc, b: true, p: '40', s: '50', r: false, t: { limit: { tif: 'Ioc' } } }] })
    expect((await loans()).get(usdc)?.borrow.value).to.equal('1900.0')
    expect(await balance('USDC')).to.equal('0.0')
    const more = trader.exchange.order({ orders: [{ a: hypeUsdc, b: true, p: '40', s: '60', r: false, t: { limit: { tif: 'Gtc' } } }] })
    expect(await more.catch(String)).to.contain('Insufficient spot balance asset=10107')
  })

  it('has one balance for everything: perpetuals are of it, and may stand on what is borrowed', async () => {
    await enable()
    exchange.place(other, { coin: 'ETH', side: 'SELL', price: '4000', size: '1' })
    await trader.exchange.order({ orders: [{ a: 1, b: true, p: '4000', s: '1', r: false, t: { limit: { tif: 'Ioc' } } }] })
    // A twentieth of 4000 and the fee of 1.8.
    expect((await loans()).get(usdc)?.borrow.value).to.equal('201.8')
    expect(await trader.info.spotClearinghouseState({ user: trader.address }).then(({ balances }) => balances[0])).to.include({
      total: '200.0',
      hold: '200.0',
    })
    expect((await trader.info.clearinghouseState({ user: trader.address })).withdrawable).to.equal('0.0')
  })

  it('is unhealthy in the words of later client libraries, and then sold, where the collateral falls', async () => {
    await enable()
    await lend('borrow', usdc, '2000')
    await trader.exchange.spotSend({ destination: other, token: 'USDC:0x6d1e7cde53ba9467b783cb7c530ce054', amount: '1990' })
    const seen: unknown[] = []
    // A dollar is the price of sending to who never had anything; 2020 are asked for, against 9 and three quarters of the collateral.
    for (const price of ['40', '29', '28']) {
      for (const coin of ['HYPE', '@107']) {
        exchange.setOracle(coin, price)
        if (coin === '@107') seen.push(await ask('borrowLendUserState').then((told) => [told['health'], told['healthFactor']]))
      }
    }
    expect(seen).to.deep.equal([
      ['healthy', null],
      ['atRisk', '1.0271'],
      ['marketLiquidatable', '0.992'],
    ])
    for (const [word] of seen as [string][]) expect(health).to.include(word)
    exchange.place(other, { coin: '@107', side: 'BUY', price: '27', size: '100' })
    exchange.setOracle('HYPE', '27')
    expect(await loans()).to.deep.equal(new Map())
    expect(await ask('borrowLendUserState')).to.include({ health: 'healthy' })
  })
})
