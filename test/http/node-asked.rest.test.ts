import { expect } from 'chai'
import { Interface, parseUnits, toQuantity } from 'ethers'
import { addresses } from '../devnet/addresses.ts'
import { openManyPairs, type ManyPairs } from '../live-state/many-pairs.ts'
import { outcome, uniswap } from './shared-server.ts'
import { countedTrips } from './trouble/counted-trips.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'

const amounts = new Interface(['function getAmountsOut(uint256, address[]) view returns (uint256[] amounts)'])
const router = addresses.exchanges.uniswap.router
const sale = { base: 'WETH', quote: 'USDC', side: 'SELL' }
/** The first is more than pools of v3 have within the first look around their prices. */
const cold = { uniswap: '15000', sushiswap: '300', pancakeswap: '300' }
const blocks = 5

describe('requests to the node for prices, counted by a proxy', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let proxy: BehindProxy['proxy']
  let server: BehindProxy['server']
  let rpc: BehindProxy['rpc']
  let trips: Awaited<ReturnType<typeof countedTrips>>
  let market: ManyPairs
  before(async () => {
    // Samples are compared apart.
    stage = await startBehindProxy({ 'market.checkSeconds': 3_600 })
    ;({ proxy, server, rpc } = stage)
    market = await openManyPairs(rpc, 100)
    trips = await countedTrips(proxy)
    // Nodes are asked for their chain when they are met anew.
    expect(outcome(await server.client.get('/network/status', { chain: 'ethereum', network: 'local' }))).to.equal('200')
  })
  after(() => stage?.stop())

  const price = async (question: object) => {
    const answer = await server.client.get('/amm/price', { ...uniswap, version: 'v2', ...question })
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body
  }
  const priceOf = (place: number, amount: string) => {
    const [base, quote] = market.pairs[place] ?? []
    return price({ base, quote, side: 'SELL', amount })
  }
  const methods = () => trips.take().map((trip) => trip.methods.join())

  for (const [version, most] of [
    ['v2', 2],
    ['v3', 4],
  ] as const) {
    it(`make at most ${most} round trips one after the other for pools of ${version} that are not loaded`, async () => {
      for (const [connector, amount] of Object.entries(cold)) {
        trips.take()
        expect((await price({ ...sale, connector, version, amount })).source).to.equal('rpc')
        const steps = trips.take().map(({ step }) => step)
        expect(Math.max(...steps), connector).to.be.within(1, most)
      }
    })
  }

  for (const count of [10, 100]) {
    it(`make one query a block for ${count} pools, and none for any price by them`, async () => {
      const places = Array.from({ length: count }, (_, place) => place)
      await Promise.all(places.map((place) => priceOf(place, '1')))
      const traded = places.filter((place) => place % Math.ceil(count / 10) === 0)
      trips.take()
      for (let made = 0; made < blocks; made += 1) {
        const number = await market.trade(traded)
        while ((await priceOf(0, '1')).blockNumber < number) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(methods()).to.deep.equal(['eth_getBlockTransactionCountByHash,eth_getLogs'])
        for (const place of traded) {
          const { blockNumber, expectedAmount, source } = await priceOf(place, `1.${made}${place}`)
          expect(source).to.equal('memory')
          const given = parseUnits(expectedAmount, 18)
          expect([blockNumber, given]).to.deep.equal([number, await ownAmount(place, `1.${made}${place}`, number)])
        }
      }
      await Promise.all(places.map((place) => priceOf(place, '2.5')))
      expect(methods()).to.deep.equal([])
    })
  }

  async function ownAmount(place: number, amount: string, number: number): Promise<bigint> {
    const data = amounts.encodeFunctionData('getAmountsOut', [parseUnits(amount, 18), market.pairs[place]])
    const answer = await rpc('eth_call', { to: router, data }, toQuantity(number))
    return [...amounts.decodeFunctionResult('getAmountsOut', String(answer)).getValue('amounts')].at(-1)
  }
})
