import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/rpc-to.ts'
import { startServer, type TestServer } from '../../core/testing/server.ts'
import { admins, local, toldSeconds, uniswap } from './shared-server.ts'

const ttl = 3

describe('a trade that is valid for seconds only', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ conf: { 'connectors/uniswap.yml': { ttl, versions: { v2: { ttl } } } } })
  })
  after(() => server?.stop())

  it('has all of its time, though the price was asked for longer ago than that', async () => {
    const question = { ...uniswap, base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.0123' }
    const { status, text } = await server.client.get('/amm/price', question)
    expect(status, text).to.equal(200)
    await new Promise((resolve) => setTimeout(resolve, (ttl + 1) * 1_000))
    const before = await toldSeconds(server.client, rpcTo(server.rpcUrl))
    const traded = await server.client.post('/amm/trade', { ...question, address: admins })
    expect(traded.status, traded.text).to.equal(200)
    expect(traded.body.deadline).to.be.at.least(before + ttl)
    const poll = await server.client.get('/network/poll', { ...local, txHash: traded.body.txHash })
    expect(poll.status, poll.text).to.equal(200)
  })
})
