import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'
import { poolPaths } from '../../../plugins/hummingbot/pools.ts'

const networks = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } })

/** The answer for a pool's address, by what each connector says of it. */
async function poolFrom(said: Readonly<Record<string, object | Error>>): Promise<unknown> {
  const plugin = {
    kind: 'connector',
    state: 'loaded',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }],
  }
  const call = {
    async call(endpoint: string, { connector = '' }: { connector?: string }) {
      if (endpoint === 'Plugins') return Object.keys(said).map((name) => ({ ...plugin, name }))
      if (endpoint === 'NetworkTokens') return [{ symbol: 'B' }, { symbol: 'Q' }]
      const found = said[connector]
      if (found instanceof Error) throw found
      return { ...found, connector }
    },
  } as unknown as InterfaceCall
  const path = poolPaths(networks).find((each) => each.path === '/pools/find/:address')
  try {
    return await path?.answer({ chainNetwork: 'ethereum-local', address: '0xpool' }, call)
  } catch (thrown) {
    return thrown
  }
}

const pool = { pool: '0xpool', version: 'v2', base: '0xb', quote: '0xq', fee: '0.003' }
const none = new SluiceError('PAIR_NOT_FOUND', 'none')

describe('a pool by its address, of whichever connector has it', () => {
  it('may be behind connectors that do not have it, or list no pools', async () => {
    const unlisted = new SluiceError('UNSUPPORTED', 'does not list its pools')
    expect(await poolFrom({ one: none, two: unlisted, three: pool })).to.include({ connector: 'three', feePct: '0.3' })
    expect(await poolFrom({ one: none, two: unlisted })).to.include({ name: 'PAIR_NOT_FOUND' })
  })

  it('stays open where one of them cannot tell now', async () => {
    for (const name of ['NETWORK', 'RATE_LIMIT'] as const)
      expect(await poolFrom({ one: new SluiceError(name, 'later'), two: none })).to.include({ name })
  })
})
