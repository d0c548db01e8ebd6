import { expect } from 'chai'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { configPaths } from '../../../plugins/hummingbot/config.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'

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
