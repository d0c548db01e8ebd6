// Trades of clients without the permission thin, held against the market of the devnet's real pools.
import { expect } from 'chai'
import { heldAgainstMarket } from '../../core/handlers/market-check.ts'
import type { Client } from '../../testkit/client.ts'
import { addresses } from '../devnet/addresses.ts'
import { scrape } from '../http/scrape.ts'
import { admins, local, mined, outcome, swap, traders, uniswap } from '../http/shared-server.ts'
import { marketServer, windowSeconds, type MarketServer } from './market-server.ts'

const clients = {
  bot: { permissions: ['read', 'trade'], wallets: 'all' },
  limited: { permissions: ['read', 'trade'], wallets: 'all', limits: { maxDailyLoss: '20' } },
  fresh: { permissions: ['read', 'trade'], wallets: [traders] },
}

type CallerContext = Parameters<typeof heldAgainstMarket>[1]

describe('a client without the permission thin', () => {
  const started = marketServer(clients)
  let server: MarketServer['server']
  let rpc: MarketServer['rpc']
  let holdings: MarketServer['holdings']
  let as: MarketServer['as']
  let pass: MarketServer['pass']
  let bot: Client

  before(async function () {
    this.timeout(300_000)
    ;({ server, rpc, holdings, as, pass } = await started())
    bot = as('bot')
    // The pool has the depth of a market with that.
    const deeper = await share(server.client, { address: admins, amounts: ['20000', '15000000'], minShares: '1' })
    await mined(server.client, deeper.body.txHash)
    // The first request has its tokens read.
    await share(bot, { amounts: ['1', '0'] })
  })

  const sell = (client: Client, fields: object = {}) => client.post('/amm/trade', { ...swap, address: traders, ...fields })
  const share = (client: Client, fields: object) =>
    client.post('/amm/shares/add', { ...local, connector: 'balancer', address: traders, tokens: ['WETH', 'USDT'], ...fields })

  it('trades only once the market has been read for a quarter of its minutes', async () => {
    const first = await sell(bot)
    const seconds = windowSeconds / 4
    expect(outcome(first), first.text).to.equal('403 FORBIDDEN')
    expect(first.body.details).to.deep.equal({ reason: 'market too short', seconds })
    expect(first.headers['retry-after']).to.equal(String(seconds))
    // Nothing was read since.
    expect((await sell(bot)).body.details).to.deep.equal({ reason: 'market too short', seconds })
    await pass(seconds - 10)
    expect(outcome(await sell(bot))).to.equal('403 FORBIDDEN')
    // The first reading counts for nothing.
    await pass(120)
    const traded = await sell(bot)
    expect(outcome(traded), traded.text).to.equal('200')
  })

  it('cannot sell far below the market, whatever limitPrice says', async () => {
    for (const limitPrice of [undefined, '0.0001']) {
      const answer = await sell(bot, { amount: '9000', ...(limitPrice !== undefined && { limitPrice }) })
      expect(outcome(answer), answer.text).to.equal('403 LIMIT_EXCEEDED')
      expect(answer.body.details.limit).to.equal('maxPriceImpact')
    }
  })

  it('cannot place orders far below the market, and loses no other order of their batch', async () => {
    const oasis = { ...local, connector: 'oasis', address: traders } as const
    const order = { market: 'WETH-USDC', orderType: 'LIMIT', amount: '0.1' } as const
    const place = (fields: object) => bot.post('/clob/orders', { ...oasis, ...order, ...fields })
    for (const far of [
      { side: 'SELL', price: '100' },
      { side: 'BUY', price: '5000' },
    ]) {
      const answer = await place(far)
      expect(outcome(answer), answer.text).to.equal('403 LIMIT_EXCEEDED')
    }
    for (const near of [
      { side: 'SELL', price: '9000' },
      { side: 'BUY', price: '100' },
      { side: 'SELL', price: '2950' },
    ]) {
      const answer = await place(near)
      expect(outcome(answer), answer.text).to.equal('200')
    }
    const create = [
      { ...order, side: 'SELL', price: '100' },
      { ...order, side: 'SELL', price: '8000' },
    ]
    const batch = await bot.post('/clob/batchOrders', { ...oasis, create })
    expect(outcome(batch), batch.text).to.equal('200')
    const [far, near] = batch.body.created
    expect(far.error.name).to.equal('LIMIT_EXCEEDED')
    expect(near.state).to.equal('PENDING_OPEN')
  })

  it('adds liquidity to pools with depth alone', async () => {
    const range = { token0: 'WETH', token1: 'USDC', amount0: '0.1', amount1: '300', lowerPrice: '2500', upperPrice: '3500', version: 'v3' }
    const add = (client: Client, fee: string) => client.post('/amm/liquidity/add', { ...uniswap, address: traders, ...range, fee })
    expect(outcome(await add(bot, 'LOW'))).to.equal('200')
    const thin = await add(bot, 'HIGH')
    expect(outcome(thin), thin.text).to.equal('403 FORBIDDEN')
    expect(thin.body.details.reason).to.equal('thin pool')
    expect(outcome(await add(server.client, 'HIGH'))).to.equal('200')
  })

  it('adds shares of one token alone only where the least shares are worth what is given', async () => {
    await holdings.read()
    const alone = await share(bot, { amounts: ['0', '7000000'], minShares: '0.000001' })
    expect(outcome(alone), alone.text).to.equal('403 LIMIT_EXCEEDED')
    expect(alone.body.details.limit).to.equal('maxPriceImpact')
    for (const amounts of [['1'], ['1', '0'], ['0', '3000']]) {
      const added = await share(bot, { amounts })
      expect(outcome(added), added.text).to.equal('200')
    }
  })

  it('loses no more in a day than maxDailyLoss, however small each loss is, and only what it lost', async () => {
    const limited = as('limited')
    const added = await share(limited, { amounts: ['1', '0'] })
    expect(outcome(added), added.text).to.equal('403 LIMIT_EXCEEDED')
    expect(added.body.details.limit).to.equal('maxDailyLoss')
    // Slippage alone lets each lose one percent.
    const sales = await Promise.all(Array.from({ length: 8 }, () => sell(limited, { amount: '0.3' })))
    const outcomes = sales.map(outcome)
    expect(new Set(outcomes)).to.deep.equal(new Set(['200', '403 LIMIT_EXCEEDED']))
    expect(outcomes.filter((each) => each === '200').length).to.be.within(1, 3)
    const body = sales.find(({ status }) => status === 403)?.body
    expect(body.details.limit).to.equal('maxDailyLoss')
    expect(Number(body.details.left)).to.be.within(0, 20)
    const shown = await limited.get('/limits')
    const loss = shown.body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss')
    expect(loss).to.include({ limit: 'maxDailyLoss', allowed: '20', window: 'day', unit: 'reference token' })
    expect(Number(loss.used) + Number(loss.left)).to.be.closeTo(20, 0.000001)
    expect(outcome(await limited.get('/limits', { client: 'bot' }))).to.equal('403 FORBIDDEN')
    const limitsOf = (await server.client.get('/limits', { client: 'limited' })).body.limits
    // What a liquidation takes is bounded by the leverage.
    expect(limitsOf.map(({ limit }: { limit: string }) => limit)).to.deep.equal(['maxFee', 'maxDailyLoss', 'maxDailyGas', 'maxLeverage'])
    expect((await server.client.get('/limits', { client: 'limitd' })).text).to.contain('limited')
    // What was traded near the market is settled to that: more is left then.
    await rpc('anvil_mine', '0x4')
    const until = Date.now() + 180_000
    while (Date.now() < until && outcome(await sell(limited, { amount: '0.2' })) !== '200')
      await new Promise((resolve) => setTimeout(resolve, 200))
    expect(Date.now()).to.be.below(until)
  })

  it('has defaults: of the loss of a day, by what its wallets hold once that is read, of the fee and of the gas', async () => {
    const fresh = as('fresh')
    // The first request has its wallets read.
    expect(outcome(await sell(fresh, { amount: '0.1' }))).to.equal('200')
    await holdings.read()
    const sold = await sell(fresh, { amount: '2' })
    expect(outcome(sold), sold.text).to.equal('200')
    const wrap = { ...local, address: traders, amount: '0.01' }
    const dear = await fresh.post('/evm/wrap', { ...wrap, maxFeePerGas: '299' })
    expect(dear.body.details, dear.text).to.include({ limit: 'maxFee', allowed: '0.003' })
    expect((await scrape(server.client)).text).to.contain('sluice_limit_refusals_total{client="fresh",limit="maxFee"} 1')
    expect(outcome(await fresh.post('/evm/wrap', wrap))).to.equal('200')
    const shown = await fresh.get('/limits')
    const [fee, loss, gas] = shown.body.limits
    expect(fee).to.deep.include({ limit: 'maxFee', default: true, allowed: '0.003', chain: 'ethereum', network: 'local' })
    expect(loss).to.deep.include({ limit: 'maxDailyLoss', default: true })
    // Two percent of ten thousand coins and as much of tokens.
    expect(Number(loss.allowed)).to.be.within(600_000, 2_000_000)
    expect(gas).to.deep.include({ limit: 'maxDailyGas', default: true, allowed: '0.3', chain: 'ethereum', network: 'local' })
    expect((await server.client.get('/limits')).body.limits).to.deep.equal([])
  })

  it('is settled by prices of now and by their median', () => {
    const { services } = server.kernel
    const network = services.registry.network(local.chain, local.network)
    const { WETH, USDC } = addresses.tokens
    const caller = { id: 'bot', permissions: new Set(['trade']) } as unknown as CallerContext['caller']
    const held = heldAgainstMarket({ gives: { [WETH.address]: 10n ** 18n }, gets: { [USDC.address]: 3000n * 10n ** 6n } }, {
      network,
      services,
      caller,
    } as CallerContext)
    const { prices = {}, medianPrices = {} } = held.market ?? {}
    expect(medianPrices).to.have.all.keys(Object.keys(prices))
    expect(prices).to.include.keys(WETH.address, USDC.address, network.impl.nativeCurrency.address)
    // A coin that comes counts at least, not at most as the coin of fees.
    const coin = network.impl.nativeCurrency.address
    const bought = { gives: { [USDC.address]: 3000n * 10n ** 6n }, gets: { [coin]: 10n ** 18n } }
    const { market } = heldAgainstMarket(bought, { network, services, caller } as CallerContext)
    const [low, high] = (['lowX', 'highX'] as const).map((bound) => services.market.valuesNow(network, [coin], bound)[coin])
    expect(low).to.not.equal(high)
    expect(market?.prices[coin]).to.equal(low)
  })
})
