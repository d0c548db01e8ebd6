import { expect } from 'chai'
import { compare, fromRaw, multiply } from '../../core/base/decimal.ts'
import { journalView, showTransaction } from '../../core/handlers/journaled.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import { admins, local, overtaken, traders, sharedServer, swap, type SharedServer } from './shared-server.ts'

/** What the journal tells of a transaction: what was asked for, what it was quoted by, what it brought and what it cost. */
describe('a journaled transaction', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client

  before(async () => {
    server = await sharedServer()
    client = server.client
    await final(await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap', token: 'WETH' }))
  })

  /** As the journal has it once it is final. */
  async function final(answer: Answer) {
    expect(answer.status, answer.text).to.equal(200)
    let listed: Answer | undefined
    await until('it is final', async () => {
      listed = await client.get('/transactions', { txHash: answer.body.txHash })
      return listed.body.transactions[0].final
    })
    return listed?.body.transactions[0]
  }

  const receiptOf = async (txHash: string) => (await client.get('/network/poll', { ...local, txHash })).body.txReceipt

  for (const side of ['SELL', 'BUY'] as const)
    it(`tells of a trade (${side}) its request, quote, bound, fill, cost and slippage`, async () => {
      if (side === 'BUY') await final(await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap', token: 'USDC' }))
      const body = { ...swap, amount: '0.25', side, address: admins, allowedSlippage: '1/100' }
      const answer = await client.post('/amm/trade', body, { headers: { 'Idempotency-Key': `journaled-${side}` } })
      const shown = await final(answer)
      expect(shown.client).to.equal('client')
      expect(shown.request).to.deep.equal({ path: '/amm/trade', fields: body })
      const { base, quote, amount, expectedAmount, price, limitPrice, deadline, gasCost } = answer.body
      expect(shown.planned).to.include({ base, quote, amount, expectedAmount, price, limitPrice, deadline, gasCost })
      expect(shown.planned).to.not.have.any.keys('txHash', 'nonce', 'gasPrice', 'gasLimit', 'latency')
      expect(shown.quote.route).to.have.length.above(0)
      expect(shown.quote.blockNumber).to.be.within(1, shown.txBlock)
      const { fill } = (await client.get('/network/poll', { ...local, txHash: answer.body.txHash })).body
      expect(shown.fill).to.deep.equal(fill)
      expect(fill).to.have.keys('amountIn', 'amountOut', 'price')
      // Nobody traded in between.
      expect(shown.slippage).to.deep.equal({ quote: '0' })
      const { gasUsed, effectiveGasPrice } = await receiptOf(answer.body.txHash)
      const feeRaw = BigInt(gasUsed) * BigInt(effectiveGasPrice)
      // The base is the coin: its price is that of the trade.
      expect(shown.quote.coinPrice).to.equal(price)
      expect(shown.cost).to.deep.equal({
        rawFee: feeRaw.toString(),
        fee: fromRaw(feeRaw, 18),
        feeToken: 'ETH',
        feeInQuote: multiply(fromRaw(feeRaw, 18), price),
        gasUsed: BigInt(gasUsed).toString(),
      })
    })

  it('tells of a trade on any connector the best price of all that were asked, and how much worse its own was', async () => {
    const shown = await final(await client.post('/amm/trade', { ...swap, connector: 'any', amount: '0.03', address: admins }))
    const { marketPrice, coinPrice } = shown.quote
    expect(compare(marketPrice, shown.planned.price)).to.be.at.least(0)
    expect(compare(shown.slippage.market, '0')).to.be.at.least(0)
    expect(compare(coinPrice, '0')).to.equal(1)
    expect(shown.cost.feeInQuote).to.equal(multiply(shown.cost.fee, coinPrice))
  })

  it('tells it in its last event, too, and the fill in no earlier one', async () => {
    const answer = await client.post('/amm/trade', { ...swap, amount: '0.125', address: admins })
    const listed = await final(answer)
    const events = server.kernel.services.transactions.events
    const all = await events.after(0, { limit: 10_000 })
    const shown = all
      .filter(({ entry }) => entry.requestId === listed.requestId)
      .map(({ entry }) => showTransaction(entry, journalView(server.kernel.services.transactions, server.kernel.services.registry)))
    expect(shown.at(-1)).to.deep.equal(listed)
    expect(shown.length).to.be.above(2)
    for (const each of shown.slice(0, -1)) expect(each).to.not.have.any.keys('fill', 'cost', 'slippage')
    for (const each of shown) expect(each).to.deep.include({ request: listed.request, quote: listed.quote })
  })

  it('tells of a trade that failed what it cost, and no fill', async () => {
    const own = await overtaken(server, traders)
    const shown = await final(own)
    expect(shown).to.include({ txState: 'REVERTED' })
    expect(shown).to.not.have.any.keys('fill', 'slippage')
    const { gasUsed, effectiveGasPrice } = await receiptOf(own.body.txHash)
    expect(shown.cost.rawFee).to.equal((BigInt(gasUsed) * BigInt(effectiveGasPrice)).toString())
  })

  it('is found by client, kind, connector, pair and time, and says what is wrong with these', async () => {
    const since = new Date(Date.now() - 1).toISOString()
    const trade = await final(await client.post('/amm/trade', { ...swap, amount: '0.0625', address: admins }))
    const listed = async (query: Record<string, string>) =>
      (await client.get('/transactions', query)).body.transactions.map(({ txHash }: { txHash: string }) => txHash)
    const query = { client: 'client', kind: 'trade', connector: 'uniswap', pair: 'usdc-WETH', since, chain: 'ethereum' }
    expect(await listed(query)).to.deep.equal([trade.txHash])
    expect(await listed({ ...query, until: new Date(Date.now() + 60_000).toISOString() })).to.deep.equal([trade.txHash])
    const others: readonly Record<string, string>[] = [
      { client: 'trader' },
      { kind: 'approve' },
      { connector: 'curve' },
      { pair: 'WETH-DAI' },
      { until: since, since: '2026-01-01' },
    ]
    for (const other of others) expect(await listed({ ...query, ...other }), JSON.stringify(other)).to.not.include(trade.txHash)
    for (const [wrong, problem] of [
      [{ since: 'yesterday' }, 'since: is "yesterday", but must be a date such as 2026-03-01 (UTC)'],
      [{ until: '2026-02-30' }, 'until: is "2026-02-30"'],
      [{ since: '2026-03-02', until: '2026-03-01' }, 'which is not before until'],
      [{ kind: 'swap' }, 'kind'],
      [{ pair: 'WETH' }, 'pair'],
    ] as const) {
      const { body, status } = await client.get('/transactions', wrong)
      expect(status).to.equal(400)
      expect(body.message).to.include(problem)
    }
  })

  it('is found by its pair whatever the request called the tokens, also where it named none', async () => {
    const [weth, usdc] = await Promise.all(
      ['WETH', 'USDC'].map(async (tokenSymbols) => (await client.get('/network/tokens', { ...local, tokenSymbols })).body[0].address),
    )
    for (const token of ['WETH', 'USDC'])
      await final(await client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap/positions', token }))
    const of = { ...local, connector: 'uniswap', address: traders }
    const range = { token0: weth, token1: usdc, fee: 'LOW', amount0: '1', amount1: '3000' }
    const added = await final(await client.post('/amm/liquidity/add', { ...of, ...range, lowerPrice: '2500', upperPrice: '3500' }))
    const { positions } = (await client.get('/amm/liquidity/positions', of)).body
    const removed = await final(await client.post('/amm/liquidity/remove', { ...of, tokenId: positions[0].tokenId, decreasePercent: 100 }))
    const query = { pair: 'WETH-USDC', kind: 'liquidity', address: traders }
    const { transactions } = (await client.get('/transactions', query)).body
    expect(transactions.map(({ txHash }: { txHash: string }) => txHash)).to.include.members([added.txHash, removed.txHash])
  })

  it('tells of each kind what was asked for', async () => {
    const wrapped = await final(await client.post('/evm/wrap', { ...local, address: admins, amount: '0.5' }))
    expect(wrapped.request).to.deep.equal({ path: '/evm/wrap', fields: { ...local, address: admins, amount: '0.5' } })
    expect(wrapped.planned).to.include({ amount: '0.500000000000000000' })
    expect(wrapped).to.not.have.any.keys('quote', 'slippage')
    const approved = await final(await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap', token: 'DAI' }))
    expect(approved.request.path).to.equal('/evm/approve')
  })
})
