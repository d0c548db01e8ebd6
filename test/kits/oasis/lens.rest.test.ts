import { expect } from 'chai'
import { deploymentOf, type Deployment } from '../../../kits/oasis/contract.ts'
import { offerLens, readLens, type PairOffers } from '../../../kits/oasis/lens.ts'
import { markets } from '../../../plugins/oasis/markets.ts'
import { at } from '../amm/devnet-fixture.ts'
import { createOasisFixture, type OasisFixture } from './fixture.ts'

const count = 60

describe('the offer lens', function () {
  this.timeout(300_000)
  let fixture: OasisFixture
  let place: Deployment
  let read: (most: number, gas?: number) => Promise<PairOffers>

  before(async () => {
    fixture = await createOasisFixture()
    const { exchange, provider, address } = fixture
    const { reader } = fixture.venue({ routerAddress: address })
    place = deploymentOf(fixture.venue({ routerAddress: address }), { markets })
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
    const maker = await fixture.newTrader()
    const market = await fixture.named('WETH-DAI')
    const actions = Array.from(
      { length: count },
      (_, index) => ({ do: 'create', market, order: fixture.limit('SELL', `${3100 + index}`, '0.01') }) as const,
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
  after(() => fixture?.end())

  it('reads the whole book or the requested number of offers, best first', async () => {
    const own = await fixture.operator.book('WETH-DAI')
    const whole = await read(1000)
    expect([whole.sells.isComplete, whole.buys.isComplete]).to.deep.equal([true, true])
    expect(whole.sells.offers).to.have.length(own.sells.length)
    const part = await read(7)
    expect(part).to.deep.equal({ sells: { isComplete: false, offers: whole.sells.offers.slice(0, 7) }, buys: whole.buys })
  })

  it('gives new offers their position, so that they need no more gas behind all others than before them', async () => {
    const maker = await fixture.newTrader()
    const gasOf = async (price: string) =>
      BigInt((await fixture.place(maker, 'WETH-DAI', fixture.limit('SELL', price, '0.01'))).receipt.gasUsed)
    const [first, second] = [await gasOf('3200'), await gasOf('3000')]
    expect(first - second < 40_000n && second - first < 40_000n, `${first} and ${second}`).to.equal(true)
  })

  it('reads the best part of a book where a call may not use more gas, and says that it is not complete', async () => {
    const whole = await read(1000)
    for (const gas of [500_000, 1_000_000, 2_000_000]) {
      const { sells } = await read(1000, gas)
      expect(sells.isComplete).to.equal(false)
      expect(sells.offers).to.deep.equal(whole.sells.offers.slice(0, sells.offers.length))
      expect(sells.offers.length).to.be.within(4, count)
    }
  })
})
