import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Answer } from '../../../testkit/client.ts'
import { admins } from '../../http/shared-server.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { chainNetwork, decimals, numbers } from './bot.ts'
import { converse, folder, scriptOf, startEnds, type Ends } from './own-ends.ts'

/** Its HTTP client, unmodified, over plain HTTP and the proxy, as it is set up by default. */
describe('the HTTP client of Hummingbot 2.16', function () {
  this.timeout(300_000)
  let ends: Ends
  let seen: Answer['body']

  before(async function () {
    if (folder === undefined) return this.skip()
    ends = await startEnds(['WETH'], ['uniswap', 'pancakeswap'])
    const args = [scriptOf('own-client.py'), folder, String(ends.proxy.port), admins]
    const { stdout } = await promisify(execFile)('python3', args, { maxBuffer: 10_000_000 })
    seen = JSON.parse(stdout)
  })
  after(() => ends?.stop())

  it('goes online, and registers its networks', () => {
    expect(seen.start.chains).to.deep.equal(['ethereum'])
    expect(seen.start.dexs).to.include.members(['sluice/router', 'uniswap/router', chainNetwork])
    expect(seen.start.registered).to.include(chainNetwork)
    expect(seen.start.namespaces).to.include(chainNetwork)
    expect(seen.start.keys).to.be.above(0)
  })

  it('finds wallet, coin, provider and tokens, without which it never becomes ready', () => {
    expect(seen.wallets[0]).to.deep.include({ chain: 'ethereum' })
    expect(seen.wallets[0].walletAddresses).to.include(admins)
    expect(seen).to.include({ default_wallet: admins, native: 'ETH', provider: 'sluice/router' })
    for (const token of seen.tokens.tokens) {
      expect(token.symbol).to.be.a('string')
      numbers(token, 'decimals')
    }
    expect(seen.gas).to.include.keys('fee', 'feeAsset')
    numbers(seen.balances.balances, 'ETH', 'WETH', 'USDC')
  })

  it('reads prices of both sides', () => {
    // Of a BUY the cheapest exchange, of a SELL the dearest: with several of them the prices of the two may cross.
    for (const side of [seen.sell, seen.buy]) expect(Number(side.price)).to.be.within(2_900, 3_100)
  })

  it('swaps, polls the transaction, and swaps the same again', () => {
    for (const swap of [seen.swap, seen.again]) {
      expect(swap, JSON.stringify(swap)).to.include({ status: 1 })
      decimals(swap.data, 'amountIn', 'amountOut', 'fee')
      expect(Number(swap.data.amountIn)).to.equal(0.125)
    }
    expect(seen.again.signature).not.to.equal(seen.swap.signature)
    expect(seen.poll).to.include({ signature: seen.swap.signature, txStatus: 1, error: null })
    numbers(seen.poll, 'fee')
  })

  it('sends neither a swap nor what is refused again, in the loop of its connector', () => {
    expect(seen.loop_of_a_swap).to.deep.include({ sent: 1 })
    expect(seen.loop_of_a_swap.outcome).to.include({ status: 1 })
    expect(seen.loop_of_a_refusal).to.deep.include({ sent: 1 })
    expect(seen.loop_of_a_refusal.outcome.raised).to.match(/INSUFFICIENT_BALANCE/)
  })

  it('is told why not in words that it shows, with the code that it looks for', () => {
    expect(seen.poor.raised).to.match(/\[code: INSUFFICIENT_BALANCE\]/)
    expect(seen.unknown.raised).to.match(/\[code: INVALID_PARAMS\]/)
    expect(seen.key.raised).to.include('sluice wallet add')
    for (const name of ['poor', 'unknown', 'key']) expect(seen[name].raised).not.to.match(/TRANSACTION_TIMEOUT/)
  })
})

/** Its connector, order tracker, data feed and arbitrage executor, unmodified, on the same server. */
describe('the connector of Hummingbot 2.16', function () {
  this.timeout(300_000)
  let ends: Ends
  let seen: Answer['body']

  before(async function () {
    if (folder === undefined) return this.skip()
    ends = await startEnds(['WETH', 'USDC'], ['uniswap', 'pancakeswap'])
    const rpc = rpcTo(ends.server.rpcUrl)
    const told = await converse('own-connector.py', [folder, String(ends.proxy.port)], {
      'no blocks': async () => {
        await rpc('evm_setAutomine', false)
        await rpc('evm_setIntervalMining', 0)
      },
      blocks: async () => {
        await rpc('evm_setAutomine', true)
        await rpc('evm_mine')
      },
    })
    seen = JSON.parse(told)
  })
  after(() => ends?.stop())

  const hashes = (orders: readonly { signature: string }[]) => new Set(orders.map(({ signature }) => signature)).size
  const filled = (order: Answer['body'], amount: string) => {
    expect(order.state, JSON.stringify(order)).to.equal('FILLED')
    expect(Number(order.filled)).to.equal(Number(amount))
    expect(Number(order.received)).to.be.above(Number(amount) * 2_800)
  }

  it('becomes ready, with wallet, provider and balances', () => {
    expect(seen.start).to.deep.include({ ready: true, chain: 'ethereum', network: 'local', address: admins, connected: 'CONNECTED' })
    expect(seen.start.provider).to.equal('sluice/router')
    expect(seen.start.balances).to.include.keys('WETH', 'USDC', 'ETH')
  })

  it('makes a round of orders on both sides, and its balances move by what was filled', () => {
    const { bid, ask, orders, before: had, after: has, cancelled } = seen.round
    for (const price of [bid, ask]) expect(Number(price)).to.be.within(2_900, 3_100)
    for (const order of orders) {
      filled(order, '0.11')
      for (const fee of order.fees) expect(Number(fee)).to.be.above(0)
    }
    expect(hashes(orders)).to.equal(2)
    expect(Number(has.WETH)).to.be.closeTo(Number(had.WETH), 1e-9)
    expect(Number(has.USDC) - Number(had.USDC)).to.be.closeTo(Number(orders[1].received) - Number(orders[0].received), 0.001)
    // Of what is on a chain it cancels nothing.
    expect(cancelled).to.deep.equal([])
  })

  it('has two hedges of the same size, placed at once, and one of a quote', () => {
    for (const order of seen.hedges) filled(order, '0.12')
    expect(hashes(seen.hedges)).to.equal(2)
    filled(seen.quoted[0], '0.13')
  })

  it('keeps an order open that is not mined in time, and fills it by its poll', () => {
    expect(seen.polled.open).to.equal(true)
    filled(seen.polled.orders[0], '0.14')
    expect(seen.polled.orders[0].signature).to.match(/^0x[0-9a-f]{64}$/)
  })

  it('books a refusal as a failure, once', () => {
    expect(seen.refused[0]).to.include({ state: 'FAILED', signature: null })
    expect(seen.refusal.filter((name: string) => name === 'OrderFailure')).to.have.length(1)
  })

  it('places an arbitrage leg again whose answer was lost, and both legs are on the chain once', async () => {
    const { close, failures, sent, legs } = seen.arbitrage
    expect({ close, failures }).to.deep.equal({ close: 'COMPLETED', failures: 1 })
    expect(sent).to.have.length(3)
    for (const leg of legs) filled(leg, '0.15')
    const { transactions } = (await ends.server.client.get('/transactions', { kind: 'trade', limit: '200' })).body
    const ofLegs = transactions.filter(
      ({ request: { fields } }: { request: { fields: { amount: string } } }) => Number(fields.amount) === 0.15,
    )
    const sides: string[] = ofLegs.map(({ request: { fields } }: { request: { fields: { side: string } } }) => fields.side)
    expect(sides.toSorted()).to.deep.equal(['BUY', 'SELL'])
  })

  it('feeds prices of both sides from one exchange', () => {
    const price = seen.feed['WETH-USDC']
    expect(price.on).to.equal(chainNetwork)
    for (const side of [price.buy, price.sell]) expect(Number(side)).to.be.within(2_900, 3_100)
  })
})
