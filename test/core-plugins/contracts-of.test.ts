import { expect } from 'chai'
import type { Manifest } from '../../core/contracts/index.ts'
import { checkNetworkKeys, contractsOf } from '../../core/plugins/configuration.ts'

const manifest: Manifest = {
  name: 'swap',
  apiVersion: '1.0',
  version: '0.1.0',
  trading_type: ['AMM'],
  available_networks: [
    { chain: 'ethereum', networks: ['mainnet', 'sepolia'] },
    { chain: 'binance-smart-chain', networks: ['mainnet'] },
  ],
  schema: {},
}
const addresses = (contractAddresses: object) => ({ contractAddresses })
const of = (config: unknown, chain: string, network: string) => contractsOf('swap', config, { chain, network }, manifest)

describe("a network's contract addresses", () => {
  it("stand under the network's name or under chain_network, which wins", () => {
    expect(of(addresses({ sepolia: { a: '1' } }), 'ethereum', 'sepolia')).to.deep.equal({ a: '1' })
    expect(of(addresses({ sepolia: { a: '1' }, ethereum_sepolia: { a: '2' } }), 'ethereum', 'sepolia')).to.deep.equal({ a: '2' })
    expect(of(addresses({ binance_smart_chain_mainnet: { a: '3' } }), 'binance-smart-chain', 'mainnet')).to.deep.equal({ a: '3' })
  })

  it('stay empty for an exchange without contracts', () => {
    expect(of(addresses({}), 'ethereum', 'sepolia')).to.deep.equal({})
    expect(of({}, 'ethereum', 'sepolia')).to.deep.equal({})
  })

  it('stay undefined where only other networks have entries', () => {
    expect(of(addresses({ sepolia: {} }), 'ethereum', 'mainnet')).to.equal(undefined)
  })

  it('fail under a network name of several chains, naming the candidates', () => {
    expect(() => of(addresses({ mainnet: {} }), 'ethereum', 'mainnet')).to.throw(
      'contractAddresses.mainnet is ambiguous, it may be any of ethereum_mainnet, binance_smart_chain_mainnet',
    )
  })

  it('fail under such a name also beside defaults, which would hide it', () => {
    const config = addresses({ ethereum_mainnet: { a: '1' }, binance_smart_chain_mainnet: { a: '2' }, mainnet: { a: '3' } })
    for (const chain of ['ethereum', 'binance-smart-chain']) {
      expect(() => of(config, chain, 'mainnet')).to.throw('may be any of ethereum_mainnet, binance_smart_chain_mainnet')
    }
  })

  it('fail under an unknown network, and where they are not a mapping of addresses', () => {
    expect(() => checkNetworkKeys('swap', { config: addresses({ mainet: {}, sepolia: {} }) }, manifest, [])).to.throw(
      'contractAddresses has mainet',
    )
    expect(() => of(addresses({ sepolia: { a: 1 } }), 'ethereum', 'sepolia')).to.throw('contractAddresses.sepolia is not a mapping')
    expect(of(addresses({ sepolia: {} }), 'ethereum', 'constructor')).to.equal(undefined)
  })
})
