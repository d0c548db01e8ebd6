import { expect } from 'chai'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { configPaths } from '../../../plugins/hummingbot/config.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'
import { defaultWallet, walletOf } from '../../../plugins/hummingbot/wallets.ts'

const networks = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } })

describe('the whole configuration for a bot of Hummingbot', () => {
  it('lists plugins twice, whatever there is', async () => {
    const available_networks = [{ chain: 'ethereum', networks: ['local'] }]
    const connectors = ['one', 'two', 'three'].map((name) => ({
      name,
      kind: 'connector',
      state: 'loaded',
      trading_type: ['AMM'],
      available_networks,
    }))
    const plugins = [{ name: 'ethereum', kind: 'chain', state: 'loaded', trading_type: [], available_networks }, ...connectors]
    let lists = 0
    const call = {
      preferences: { read: async () => ({}) },
      async call(endpoint: string) {
        if (endpoint === 'Plugins') lists++
        return endpoint === 'Plugins' ? plugins : endpoint === 'Wallet' ? [] : { allowedSlippage: '1/100' }
      },
    } as unknown as InterfaceCall
    const answer: unknown = await configPaths(networks)
      .find(({ path }) => path === '/config')
      ?.answer({}, call)
    expect(answer).to.deep.equal({
      ethereum: { defaultNetwork: 'local', defaultWallet: '', rpcProvider: 'url' },
      'ethereum-local': { swapProvider: 'sluice/router' },
      sluice: {},
      one: { slippagePct: 1 },
      two: { slippagePct: 1 },
      three: { slippagePct: 1 },
      apiKeys: {},
    })
    expect(lists).to.equal(2)
  })
})

describe('the wallet that a bot of Hummingbot has set', () => {
  it('is not replaced by another one where it is gone: swaps would come from that', async () => {
    const set = { 'ethereum.defaultWallet': '0xB0' }
    const call = {
      preferences: { read: async () => set },
      call: async () => [
        { chain: 'ethereum', address: '0xA0' },
        { chain: 'ethereum', address: '0xB1' },
      ],
    } as unknown as InterfaceCall
    expect(await defaultWallet('ethereum', networks, call)).to.equal(undefined)
    const refusal: unknown = await walletOf(undefined, 'ethereum', networks, call).catch((error: unknown) => error)
    expect(String(refusal)).to.contain('0xB0, the default wallet of this client on ethereum, is not among its wallets any more')
    expect(await walletOf('0xA0', 'ethereum', networks, call)).to.equal('0xA0')
    set['ethereum.defaultWallet'] = '0xb1'
    expect(await walletOf(undefined, 'ethereum', networks, call)).to.equal('0xB1')
  })
})
