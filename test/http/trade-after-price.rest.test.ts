import { expect } from 'chai'
import { roundTripsTo } from '../../testkit/round-trips.ts'
import { admins, sharedServer, type SharedServer } from './shared-server.ts'

const priced = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL' }

describe('a trade after a price from memory', () => {
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  it('sends the node only the transaction, once wallet and pools are in memory', async () => {
    const question = { ...priced, amount: '0.0123' }
    const steps: number[] = []
    // The first is simulated, and the chain is followed beside some of them: the shortest is the trade's own.
    for (let round = 0; round < 30 && !steps.includes(1); round += 1) {
      await settled(server)
      await server.client.get('/amm/price', question)
      const trips = roundTripsTo(server.rpcUrl)
      trips.record()
      const { status, text } = await server.client.post('/amm/trade', { ...question, address: admins })
      const seen = trips.take()
      expect(status, text).to.equal(200)
      expect(seen.filter(({ methods }) => methods.includes('eth_sendRawTransaction'))).to.have.length(1)
      steps.push(Math.max(...seen.map(({ step }) => step)))
    }
    expect(Math.min(...steps)).to.equal(1)
  })

  it('uses the new price if it has moved', async () => {
    const question = { ...priced, amount: '0.0321' }
    const { price: before } = (await server.client.get('/amm/price', question)).body
    const moving = await server.client.post('/amm/trade', { ...priced, amount: '2', address: admins })
    expect(moving.status, moving.text).to.equal(200)
    await settled(server)
    const { body } = await server.client.post('/amm/trade', { ...question, address: admins })
    expect(Number(body.price)).to.be.below(Number(before))
  })

  it('goes by the new price: it fails, although the old one was within the limit', async () => {
    const question = { ...priced, amount: '0.0231' }
    const { price: before } = (await server.client.get('/amm/price', question)).body
    await server.client.post('/amm/trade', { ...priced, amount: '2', address: admins })
    await settled(server)
    const { status, body } = await server.client.post('/amm/trade', { ...question, address: admins, limitPrice: before })
    expect([status, body.name]).to.deep.equal([422, 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'])
  })
})

/** Nothing of the wallet waits to be mined, and no price is of a block before. */
async function settled({ client }: SharedServer): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const { body } = await client.get('/transactions', { address: admins, limit: '1' })
    const [newest] = body.transactions
    if (!newest || newest.txBlock > 0) {
      // Whoever was told of a block gets nothing from before it.
      if (newest) await client.get('/network/poll', { chain: priced.chain, network: priced.network, txHash: newest.txHash })
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('The trade was not mined.')
}
