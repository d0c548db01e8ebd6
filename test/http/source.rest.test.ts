import { expect } from 'chai'
import { ContractFactory, Interface, toQuantity } from 'ethers'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import plugin from '../fixtures/algebra/TestPoolPlugin.json' with { type: 'json' }
import { local, outcome } from './shared-server.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { countedTrips } from './trouble/counted-trips.ts'

interface Plugin {
  name: string
  trading_type: string[]
  available_networks: { chain: string; networks: string[] }[]
}

const abi = new Interface([
  'function setPlugin(address plugin)',
  'function setPluginConfig(uint8 config)',
  'function set(uint8 mode, uint24 fee)',
])
const setsFeeByAmount = 5
/** BEFORE_SWAP_FLAG and DYNAMIC_FEE of the library Plugins, @cryptoalgebra/integral-core@1.2.10. */
const setsFees = 1 + 128
/** The first that a connector has. */
const pairs = ['WETH:USDC', 'USDC:DAI', 'DAI:USDC'] as const
const algebra = ['camelot-v4', 'quickswap-v3', 'quickswap-v4']
const count = 20

describe('source of a price, by what a proxy sees of the calls to the node', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let trips: Awaited<ReturnType<typeof countedTrips>>
  let names: string[]
  before(async () => {
    // Samples are compared apart.
    stage = await startBehindProxy({ 'market.checkSeconds': 3_600 })
    await stage.rpc('evm_setIntervalMining', 0)
    const { body } = await stage.server.client.get('/plugins')
    const isHere = ({ trading_type, available_networks }: Plugin) =>
      trading_type.includes('AMM') && available_networks.some(({ chain, networks }) => chain === 'ethereum' && networks.includes('local'))
    names = body.filter(isHere).map(({ name }: Plugin) => name)
    expect(names).to.include.members(['uniswap', 'curve', 'balancer', 'camelot-v4', 'quickswap-v3', 'quickswap-v4'])
    trips = await countedTrips(stage.proxy)
  })
  after(() => stage?.stop())

  const price = (fields: object) => stage.server.client.get('/amm/price', { ...local, ...fields })

  /** A new block, and the state after it in memory. */
  async function mined(question: object): Promise<void> {
    await stage.rpc('evm_mine')
    const newest = Number(await stage.rpc('eth_blockNumber'))
    for (;;) {
      const both = await Promise.all(['SELL', 'BUY'].map((side) => price({ ...question, side, amount: '1' })))
      if (both.every(({ body }) => body.blockNumber >= newest && body.source === 'memory')) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function questionTo(connector: string): Promise<object> {
    for (const pair of pairs) {
      const [base, quote] = pair.split(':')
      const question = { connector, base, quote, side: 'SELL' }
      if (outcome(await price({ ...question, amount: '1' })) === '200') return question
    }
    throw new Error(`${connector} has none of these pairs.`)
  }

  /** Pools that were quoted a moment ago are read with a block, those of other connectors too. */
  async function settled(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 200))
    while (trips.take().length > 0 || trips.open > 0)
  }

  /** Of an amount that nobody asked for. */
  async function expectMemory(question: object, amount: string): Promise<void> {
    for (let digit = 1; ; digit += 1) {
      const answer = await price({ ...question, amount: `${amount}${digit}` })
      const asked = methods()
      // A head that comes late is waited for, on a busy machine. What asks for heads is not counted.
      const waitedForHead = answer.body.source === 'rpc' && asked.length === 0
      if (waitedForHead && digit < 4) {
        await settled()
        continue
      }
      expect([outcome(answer), answer.body.source, asked], answer.text).to.deep.equal(['200', 'memory', []])
      return
    }
  }

  const methods = () => trips.take().flatMap((trip) => trip.methods)

  it('is rpc for the first price of all, and memory for each new amount, for which no node is asked', async () => {
    for (const connector of names) {
      const question = await questionTo(connector)
      await mined(question)
      await settled()
      for (const side of ['SELL', 'BUY'])
        for (let index = 0; index < count; index += 1) await expectMemory({ ...question, side }, `0.${10 + index}7`)
    }
  })

  it('is rpc of the best of all where a node is asked for the price of the coin, or for one that is left out, alone', async () => {
    // Curve's pools are in memory. Nobody has a pool of its last token but curve, and nobody was asked for one yet: first the other connector is, then
    // all are, for the price of the coin in it.
    const { body: listed } = await stage.server.client.get('/amm/pools', { ...local, connector: 'curve', base: 'DAI', quote: 'USDT' })
    const rare = listed.pools[0].tokens[3]
    await price({ connector: 'any', connectors: 'curve', base: 'DAI', quote: 'USDT', side: 'SELL', amount: '1' })
    const cases = [
      { base: rare, quote: 'USDT', connectors: 'curve,camelot-v4' },
      { base: 'DAI', quote: rare, connectors: 'curve' },
    ]
    for (const { connectors, ...tokens } of cases) {
      const best = { ...tokens, connector: 'any', connectors, side: 'SELL' }
      await mined({ ...tokens, connector: 'curve' })
      await settled()
      const sources: string[] = []
      for (let index = 0; index < 3; index += 1) {
        const { body, text } = await price({ ...best, amount: `0.${20 + index}3` })
        expect(body.connector, text).to.equal('curve')
        expect(body.source, `${connectors} ${index}`).to.equal(methods().length === 0 ? 'memory' : 'rpc')
        sources.push(body.source)
        await settled()
      }
      expect(sources, connectors).to.deep.equal(['rpc', 'memory', 'memory'])
    }
  })

  it('is memory of the best of all for each new amount, for which no node is asked', async () => {
    for (const [base, quote] of [
      ['WETH', 'USDC'],
      ['USDC', 'DAI'],
    ]) {
      const best = { connector: 'any', base, quote, side: 'SELL' }
      await mined(best)
      await settled()
      for (const side of ['SELL', 'BUY']) {
        await price({ ...best, side, amount: '1' })
        await settled()
        for (let index = 0; index < count; index += 1) await expectMemory({ ...best, side }, `0.${10 + index}9`)
      }
    }
  })

  it('is rpc with the allowances of a wallet, which a node is asked for', async () => {
    const question = await questionTo('uniswap')
    await mined(question)
    await settled()
    const address = deployerAddress('uniswap')
    for (const connector of ['uniswap', 'any']) {
      const answer = await price({ ...question, connector, amount: '0.17', address })
      expect([outcome(answer), answer.body.source]).to.deep.equal(['200', 'rpc'])
      expect(methods()).to.include('eth_call')
    }
  })

  it('stays memory from block to block where the fee depends on the block: a node is asked for each exchange once a block', async () => {
    for (const connector of algebra) {
      const question = await questionTo(connector)
      await mined(question)
      trips.take()
      for (let block = 0; block < 5; block += 1) {
        await mined(question)
        expect(methods().filter((method) => method === 'eth_call')).to.have.length.within(1, algebra.length)
        await settled()
        for (let index = 0; index < count; index += 1)
          expect((await price({ ...question, amount: `0.${index}${block}1` })).body.source, connector).to.equal('memory')
        expect(methods(), connector).to.deep.equal([])
      }
    }
  })

  it('is rpc for each new amount through a pool whose plugin is not a published one', async () => {
    const { rpc, server } = stage
    const question = { connector: 'camelot-v4', base: 'WETH', quote: 'USDC', side: 'SELL' }
    const [hop] = (await price({ ...question, amount: '1' })).body.route
    const owner = deployerAddress('camelot-v4')
    await rpc('anvil_impersonateAccount', owner)
    await rpc('anvil_setBalance', owner, toQuantity(10n ** 20n))
    const send = async (to: string | undefined, data: string) => {
      const hash = await rpc('eth_sendTransaction', { from: owner, ...(to !== undefined && { to }), data, gas: toQuantity(5_000_000) })
      await rpc('evm_mine')
      return (await rpc('eth_getTransactionReceipt', hash)) as { status: string; contractAddress: string }
    }
    const made = await send(undefined, (await new ContractFactory(plugin.abi, plugin.bytecode).getDeployTransaction()).data)
    expect(made.status).to.equal('0x1')
    await send(made.contractAddress, abi.encodeFunctionData('set', [setsFeeByAmount, 3_000]))
    await send(hop.pool, abi.encodeFunctionData('setPlugin', [made.contractAddress]))
    expect((await send(hop.pool, abi.encodeFunctionData('setPluginConfig', [setsFees]))).status).to.equal('0x1')
    const newest = Number(await rpc('eth_blockNumber'))
    while ((await price({ ...question, amount: '1' })).body.blockNumber < newest) await new Promise((resolve) => setTimeout(resolve, 20))
    trips.take()
    for (let index = 0; index < 5; index += 1) {
      const { body, text } = await price({ ...question, amount: `0.0${index}3` })
      expect(body.source, text).to.equal('rpc')
      expect(methods().filter((method) => method === 'eth_call')).to.have.length.above(0)
      // The same again is in memory.
      const again = (await server.client.get('/amm/price', { ...local, ...question, amount: `0.0${index}3` })).body
      expect([again.source, again.expectedAmount, methods()]).to.deep.equal(['memory', body.expectedAmount, []])
    }
  })
})
