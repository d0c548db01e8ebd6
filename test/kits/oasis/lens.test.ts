import { expect } from 'chai'
import { deploymentOf, type Deployment } from '../../../kits/oasis/contract.ts'
import { offerLens, readLens, type PairOffers } from '../../../kits/oasis/lens.ts'
import { markets } from '../../../plugins/oasis/markets.ts'
import { at } from '../amm/v2/trading-floor.ts'
import { openOasisFloor, type OasisFloor } from './oasis-floor.ts'

const count = 60

describe('the lens on offers', function () {
  this.timeout(180_000)
  let floor: OasisFloor
  let place: Deployment
  let read: (most: number, gas?: number) => Promise<PairOffers>

  before(async () => {
    floor = await openOasisFloor()
    const { exchange, provider, address } = floor
    const { reader } = floor.venue({ routerAddress: address })
    place = deploymentOf(floor.venue({ routerAddress: address }), { markets })
    const pairs = place.pairs.slice(0, 1)
    read = async (most, gas) => {
      const probe = offerLens(address, pairs, undefined, most)
      if (gas === undefined) {
        const { results } = await reader.read([probe], at())
        return readLens(results[0] ?? { ok: false, data: '0x' }, pairs)[0] ?? expect.fail('There is one pair.')
      }
      const call = { data: `${probe.code}${probe.args?.slice(2) ?? ''}`, gas: `0x${gas.toString(16)}` }
      const answer: unknown = await provider.send('eth_call', [call, 'latest']).catch(({ info }) => info.error.data)
      return readLens({ ok: true, data: String(answer) }, pairs)[0] ?? expect.fail('There is one pair.')
    }
    const maker = await floor.newTrader()
    const market = await floor.named('WETH-DAI')
    const actions = Array.from(
      { length: count },
      (_, index) => ({ do: 'create', market, order: floor.limit('SELL', `${3100 + index}`, '0.01') }) as const,
    )
    const plans = await exchange.act(maker.address, actions, at())
    await provider.send('evm_setAutomine', [false])
    let nonce = await provider.getTransactionCount(maker.address)
    for (const [index, { plan }] of plans.entries()) {
      if ('via' in plan) throw new Error('An order is a transaction.')
      const [{ to, data }] = plan.steps
      await maker.sendTransaction({ to, data, gasLimit: 1_000_000n, nonce: nonce + index })
      if (index % 20 === 19) await provider.send('evm_mine', [])
    }
    nonce += count
    await provider.send('evm_setAutomine', [true])
    expect(await provider.getTransactionCount(maker.address)).to.equal(nonce)
  })
  after(() => floor?.end())

  it('reads all of a book, and how many it is told to, best first', async () => {
    const own = await floor.operator.book('WETH-DAI')
    const whole = await read(1000)
    expect([whole.sells.whole, whole.buys.whole]).to.deep.equal([true, true])
    expect(whole.sells.offers).to.have.length(own.sells.length)
    const part = await read(7)
    expect(part).to.deep.equal({ sells: { whole: false, offers: whole.sells.offers.slice(0, 7) }, buys: whole.buys })
  })

  it('tells new offers their place, so that they need no more gas behind all others than before them', async () => {
    const maker = await floor.newTrader()
    const gasOf = async (price: string) =>
      BigInt((await floor.place(maker, 'WETH-DAI', floor.limit('SELL', price, '0.01'))).receipt.gasUsed)
    const [first, second] = [await gasOf('3200'), await gasOf('3000')]
    expect(first - second < 40_000n && second - first < 40_000n, `${first} and ${second}`).to.equal(true)
  })

  it('reads the best part of a book where a call may not use more gas, and says so', async () => {
    const whole = await read(1000)
    for (const gas of [500_000, 1_000_000, 2_000_000]) {
      const { sells } = await read(1000, gas)
      expect(sells.whole).to.equal(false)
      expect(sells.offers).to.deep.equal(whole.sells.offers.slice(0, sells.offers.length))
      expect(sells.offers.length).to.be.within(4, count)
    }
  })
})
