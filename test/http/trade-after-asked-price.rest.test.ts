import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { roundTripsTo } from '../../testkit/round-trips.ts'
import { admins, local, mined, toldSeconds, uniswap, withoutBlocks } from './shared-server.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { refusing } from './trouble/faulty-proxy.ts'

const ttl = 60
const priced = { ...uniswap, base: 'ETH', quote: 'USDC', side: 'SELL' }

describe('a trade after a price from the chain', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  before(async () => {
    stage = await startBehindProxy({}, { 'connectors/uniswap.yml': { ttl, versions: { v2: { ttl }, v3: { ttl } } } })
    await stage.proxy.become(refusing(({ method }) => method === 'eth_getLogs', { code: -32601, message: 'the method is not available' }))
    // The first price of all waits for a node, too.
    for (let asked = 0; asked < 3; asked = (await price('1')).source === 'rpc' ? asked + 1 : 0) await sleep(50)
  })
  after(() => stage?.stop())

  async function price(amount: string) {
    const { status, body, text } = await stage.server.client.get('/amm/price', { ...priced, amount })
    expect(status, text).to.equal(200)
    return body
  }
  async function trade(amount: string, more: object = {}) {
    const answer = await stage.server.client.post('/amm/trade', { ...priced, amount, address: admins, ...more })
    if (answer.status === 200) await mined(stage.server.client, answer.body.txHash)
    return answer
  }
  /** How many round trips one after the other it takes; others go on beside it, so the fewest of a few count. */
  async function steps(isAsked: boolean): Promise<number> {
    const seen: number[] = []
    for (let round = 0; round < 9; round += 1) {
      const amount = `0.01${round}${Number(isAsked)}`
      if (isAsked) await price(amount)
      const trips = roundTripsTo(`http://127.0.0.1:${stage.proxy.port}`)
      trips.record()
      const { status, text } = await stage.server.client.post('/amm/trade', { ...priced, amount, address: admins })
      const sent = trips.take().find(({ methods }) => methods.includes('eth_sendRawTransaction'))
      expect(status, text).to.equal(200)
      seen.push(sent?.step ?? Infinity)
    }
    return Math.min(...seen)
  }

  it('takes one round trip less, as price and plan are checked together', async () => {
    // The server reads from the node with each block, too: none comes while this counts.
    const [asked, unasked] = await withoutBlocks(stage.rpc, async () => [await steps(true), await steps(false)])
    expect(asked).to.equal((unasked ?? 0) - 1)
  })

  it('uses the new price if it has moved', async () => {
    const { price: before } = await price('0.0321')
    await trade('2')
    const { status, body, text } = await trade('0.0321')
    expect(status, text).to.equal(200)
    expect(Number(body.price)).to.be.below(Number(before))
  })

  it('goes by the new price: it fails, although the old one was within the limit', async () => {
    const { price: before } = await price('0.0231')
    await trade('2')
    const { status, body } = await trade('0.0231', { limitPrice: before })
    expect([status, body.name]).to.deep.equal([422, 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'])
  })

  it('gets its full ttl, although the price is older than a tenth of it', async () => {
    await price('0.0123')
    await sleep((ttl / 10) * 1_000 + 1_000)
    const before = await toldSeconds(stage.server.client, stage.rpc)
    const { status, body, text } = await trade('0.0123')
    expect(status, text).to.equal(200)
    expect(body.deadline).to.be.at.least(before + ttl)
    const poll = await stage.server.client.get('/network/poll', { ...local, txHash: body.txHash })
    expect(poll.body.txStatus, poll.text).to.equal(1)
  })
})
