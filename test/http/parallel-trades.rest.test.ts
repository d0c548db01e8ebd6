import { expect } from 'chai'
import { admins, mined, sharedServer, type SharedServer } from './shared-server.ts'

const venue = { chain: 'ethereum', network: 'local', connector: 'uniswap' }

describe('a hundred concurrent trades of one wallet', function () {
  this.timeout(300_000)
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  it('get a hundred consecutive nonces and are all mined', async () => {
    const { client } = server
    const { nonce: next } = (await client.get('/evm/nonce', { chain: venue.chain, network: venue.network, address: admins })).body
    const trade = { ...venue, address: admins, base: 'ETH', quote: 'USDC', amount: '0.001', side: 'SELL' }
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.post('/amm/trade', trade)))
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).to.deep.equal([])

    const nonces = answers.map(({ body }) => Number(body.nonce)).toSorted((a, b) => a - b)
    expect(nonces).to.deep.equal(Array.from({ length: 100 }, (_, i) => next + i))
    const outcomes = await Promise.all(answers.map(({ body }) => mined(server.client, body.txHash)))
    expect(new Set(outcomes.map(({ body }) => body.txReceipt.status))).to.deep.equal(new Set([1]))
  })
})
