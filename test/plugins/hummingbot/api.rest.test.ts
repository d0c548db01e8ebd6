import { expect } from 'chai'
import type { Rpc } from '../../../core/devnet/anvil.ts'
import { admins, local, withoutBlocks } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { chainNetwork, cuttablePost, type Bot } from './bot.ts'
import { HummingbotApi } from './hummingbot-api.ts'
import { tradingServer, type TradingServer } from './trading-server.ts'

const order = { connector: 'uniswap', baseToken: 'WETH', quoteToken: 'USDC', amount: '0.05', side: 'SELL', slippagePct: '1' } as const

describe('hummingbot-api, for itself, for Condor and for agents', function () {
  this.timeout(300_000)
  let server: TradingServer
  let bot: Bot
  let api: HummingbotApi
  let rpc: Rpc

  before(async () => {
    server = await tradingServer()
    ;({ bot, rpc } = server)
    api = new HummingbotApi(bot)
  })

  const trades = async (): Promise<{ txHash: string | null }[]> =>
    (await server.client.get('/transactions', { kind: 'trade', limit: '100' })).body.transactions

  it('finds networks, wallet and the type of a bare connector', async () => {
    const { chains } = await bot.get('/config/chains')
    expect(chains[0]).to.deep.include({ chain: 'ethereum' })
    expect(await api.wallet()).to.equal(admins)
    expect(await bot.get('/config', { namespace: 'apiKeys' })).to.deep.equal({})
    for (const connector of ['uniswap', 'uniswap/clmm', 'uniswap/amm', 'sluice']) {
      const { amountOut, minAmountOut } = await api.quote({ ...order, connector })
      expect(Number(amountOut), connector).to.be.above(100).and.at.least(Number(minAmountOut))
    }
  })

  it('saves a token before an agent trades its pool, which changes nothing where it is listed', async () => {
    const { tokens } = await bot.get('/tokens', { chainNetwork, search: 'USDC' })
    const path = `/tokens/save/${tokens[0].address}?chainNetwork=${chainNetwork}`
    expect((await bot.post(path)).token).to.include({ symbol: 'USDC', address: tokens[0].address })
    expect((await bot.get('/tokens', { chainNetwork, search: 'USDC' })).tokens).to.deep.equal(tokens)
  })

  it('books swaps as confirmed by their answer, with amounts as text or numbers, of a bare or a typed connector, and of a quote', async () => {
    for (const [connector, amounts] of [
      ['uniswap', 'number'],
      ['uniswap/router', 'text'],
      ['uniswap/clmm', 'number'],
      ['sluice', 'text'],
    ] as const)
      expect((await api.swap({ ...order, connector }, amounts)).state, connector).to.equal('CONFIRMED')
    const { quoteId } = await api.quote(order)
    const first = await api.executeQuote('uniswap', quoteId)
    expect(first.state).to.equal('CONFIRMED')
    // An agent that repeats it has the same swap.
    expect(await api.executeQuote('uniswap', quoteId)).to.deep.equal(first)
  })

  it('quotes and swaps as it did until July 2026: the connector in the path, the network alone, amounts as text', async () => {
    const network = 'local'
    const { baseToken, quoteToken, side } = order
    // As Python writes a small number.
    const asked = { network, baseToken, quoteToken, amount: '5e-05', side, slippagePct: '1.0' }
    const quote = await bot.get('/connectors/uniswap/router/quote-swap', asked)
    expect(quote.amountIn).to.equal(0.00005)
    expect(quote.amountOut).to.be.above(0.1)
    const before = (await trades()).length
    const swapped = await bot.post('/connectors/uniswap/router/execute-swap', { ...asked, walletAddress: admins, slippagePct: 1 })
    expect(swapped.status).to.equal(1)
    expect(Number(swapped.data.amountIn)).to.equal(0.00005)
    expect(await trades()).to.have.length(before + 1)
    const quoted = { network, address: admins, quoteId: quote.quoteId }
    expect((await bot.post('/connectors/uniswap/router/execute-quote', quoted)).status).to.equal(1)
    const nowhere = await bot.refusal('GET', '/connectors/uniswap/router/quote-swap', { ...asked, network: 'nowhere' })
    expect([nowhere.status, nowhere.body.message]).to.deep.equal([400, nowhere.body.message])
    expect(nowhere.body.message).to.contain('"ethereum-nowhere" is no network here')
  })

  it('books a swap that is not mined in time as submitted, and as confirmed by its poll', async () => {
    const swap = await withoutBlocks(rpc, async () => {
      const slow = await api.swap({ ...order, amount: '0.06' })
      expect(slow.state).to.equal('SUBMITTED')
      await api.pollSwaps()
      expect(slow.state).to.equal('SUBMITTED')
      return slow
    })
    await until('it is confirmed', async () => {
      await api.pollSwaps()
      return swap.state !== 'SUBMITTED'
    })
    expect(swap.state).to.equal('CONFIRMED')
  })

  it('has one swap where its connection broke and an agent repeats the call', async () => {
    const before = (await trades()).length
    const amount = 0.07
    const body = { chainNetwork, walletAddress: admins, ...order, slippagePct: order.slippagePct, amount }
    const url = new URL('/trading/router/execute-swap', server.kernel.interfaceUrls['hummingbot'])
    await withoutBlocks(rpc, async () => {
      const lost = cuttablePost(url, server.certsDir, body)
      await until('it is signed', async () => (await trades()).filter(({ txHash }) => txHash !== null).length === before + 1)
      lost.cut()
      await lost.answer
      const { signature } = await api.swap({ ...order, amount: String(amount) })
      expect(signature).to.equal((await trades())[0]?.txHash)
    })
    expect(await trades()).to.have.length(before + 1)
  })

  it('finds positions, and closes them in its books only once they are gone for good', async () => {
    const { body } = await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version: 'v3' })
    const poolAddress = body.pools[0].pool
    const venue = { connector: 'uniswap', chainNetwork }
    const { price } = await bot.get('/trading/clmm/pool-info', { ...venue, poolAddress })
    const range = { lowerPrice: Number(price) * 0.9, upperPrice: Number(price) * 1.1 }
    const amounts = Number(price) < 1 ? [300, 0.1] : [0.1, 300]
    const [baseTokenAmount, quoteTokenAmount] = amounts
    const open = { ...venue, walletAddress: admins, poolAddress, ...range, baseTokenAmount, quoteTokenAmount, slippagePct: 1 }
    const { data } = await bot.post('/trading/clmm/open', open)
    await api.pollPositions('uniswap')
    expect(api.positions.get(data.positionAddress)).to.deep.equal({ connector: 'uniswap', isOpen: true })

    const of = { ...venue, walletAddress: admins, positionAddress: data.positionAddress }
    await bot.post('/trading/clmm/collect-fees', of)
    // No block by the clock makes the close final meanwhile.
    await rpc('evm_setIntervalMining', 0)
    try {
      const closing = bot.post('/trading/clmm/close', of)
      await until('it is sent', async () => Number(Reflect.get(Object(await rpc('txpool_status')), 'pending')) > 0)
      await rpc('evm_mine')
      await closing
      // Absent, but not for good yet.
      await api.pollPositions('uniswap')
      expect(api.positions.get(data.positionAddress)?.isOpen).to.equal(true)
      await rpc('anvil_mine', 3)
      await api.pollPositions('uniswap')
      expect(api.positions.get(data.positionAddress)?.isOpen).to.equal(false)
    } finally {
      await rpc('evm_setIntervalMining', 1)
    }
  })
})
