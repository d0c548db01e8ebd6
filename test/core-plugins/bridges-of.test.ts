import { expect } from 'chai'
import type { Bridge, Manifest } from '../../core/contracts/index.ts'
import { bridgesOf, checkNetworkKeys, unusedBridges } from '../../core/plugins/configuration.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { goodPlugins, load } from './fixtures.ts'

const manifest: Manifest = {
  name: 'book',
  apiVersion: '1.0',
  version: '0.1.0',
  trading_type: ['CLOB'],
  available_networks: [
    { chain: 'ethereum', networks: ['mainnet', 'sepolia'] },
    { chain: 'binance-smart-chain', networks: ['mainnet'] },
  ],
  schema: {},
}
const bridge: Bridge = { network: 'mainnet', token: '0xAA01', recipient: '0xBB02' }
type Bridges = Readonly<Record<string, Readonly<Record<string, Bridge>>>>

describe("a network's bridges", () => {
  const of = (bridges: Bridges, chain: string, network: string) => bridgesOf('book', { bridges }, { chain, network }, manifest, [])

  it('stand under the same keys as its contracts, and stay absent without configuration', () => {
    expect(of({ sepolia: { base: bridge } }, 'ethereum', 'sepolia')).to.deep.equal({ base: bridge })
    expect(of({ binance_smart_chain_mainnet: { base: bridge } }, 'binance-smart-chain', 'mainnet')).to.deep.equal({ base: bridge })
    expect(of({ ethereum_mainnet: { base: bridge } }, 'binance-smart-chain', 'mainnet')).to.deep.equal({})
    expect(bridgesOf('book', {}, { chain: 'ethereum', network: 'sepolia' }, manifest, [])).to.deep.equal({})
  })

  it("fail under an ambiguous or unknown network, and from the connector's own chain", () => {
    expect(() => of({ mainnet: { base: bridge } }, 'ethereum', 'mainnet')).to.throw(
      'bridges.mainnet is ambiguous, it may be any of ethereum_mainnet',
    )
    expect(() => checkNetworkKeys('book', { config: { bridges: { mainet: {} } } }, manifest, [])).to.throw('bridges has mainet')
    expect(() => of({ sepolia: { ethereum: bridge } }, 'ethereum', 'sepolia')).to.throw("'ethereum' is the connector's own chain")
  })

  it("have addresses in the other chain's spelling, and an invalid address is refused", async () => {
    const { loaded } = await load([goodPlugins])
    const chains = loaded.filter((each) => each.kind === 'chain')
    const from = (changes: Partial<Bridge>) =>
      bridgesOf(
        'book',
        { bridges: { sepolia: { 'fixture-chain': { ...bridge, ...changes } } } },
        { chain: 'ethereum', network: 'sepolia' },
        manifest,
        chains,
      )
    expect(from({})).to.deep.equal({ 'fixture-chain': { network: 'mainnet', token: '0xaa01', recipient: '0xbb02' } })
    expect(() => from({ recipient: 'bridge.eth' })).to.throw("recipient 'bridge.eth' is not an address on fixture-chain mainnet")
    expect(from({ network: 'elsewhere' })).to.deep.equal({ 'fixture-chain': { ...bridge, network: 'elsewhere' } })
  })

  it('have no effect for a plugin that is contained or data alone, which is said with the file that has them', () => {
    const [found] = findPlugins([goodPlugins], []).found
    if (!found) throw new Error('there is no plugin')
    const configuration = {
      config: { bridges: { sepolia: { base: { ...bridge } } } },
      places: { '/bridges/sepolia': 'own/defaults.yml:7' },
    }
    const said = (tier: typeof found.tier) => unusedBridges({ ...found, builtIn: tier === 'built in', tier }, configuration)
    for (const tier of ['contained', 'data'] as const)
      expect(said(tier).join()).to.match(/^bridges in own\/defaults\.yml has no effect: .*built in or trusted alone/)
    expect([...said('trusted'), ...said('built in'), ...unusedBridges(found, { config: {} })]).to.deep.equal([])
  })
})
