import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { createNetworks, type HummingbotConfig } from '../../../plugins/hummingbot/networks.ts'

const plugins = new URL('../../../plugins/', import.meta.url)
const config: HummingbotConfig = parse(readFileSync(new URL('hummingbot/defaults.yml', plugins), 'utf8'))
const networks = createNetworks(config)

describe('networks by the names of Hummingbot', () => {
  it('have one name of two words, or a chain and a network, in both generations of its clients', () => {
    for (const [chainNetwork, chain, network, own] of [
      ['ethereum-base', 'ethereum', 'base', { chain: 'base', network: 'mainnet' }],
      ['ethereum-bsc', 'ethereum', 'bsc', { chain: 'binance-smart-chain', network: 'mainnet' }],
      ['ethereum-arbitrum', 'ethereum', 'arbitrum', { chain: 'arbitrum', network: 'mainnet' }],
      ['solana-mainnet-beta', 'solana', 'mainnet-beta', { chain: 'solana', network: 'mainnet' }],
    ] as const)
      for (const asked of [{ chainNetwork }, { chain, network }])
        expect(networks.of(asked)).to.deep.equal({ chainNetwork, chain, network, own })
    expect(networks.of({ chain: 'solana' }).network).to.equal('mainnet-beta')
    expect(() => networks.of({ chainNetwork: 'base-mainnet' })).to.throw('ethereum-base')
  })

  it('may be named alone where clients do so: of several chains that have one of that name it is that of ethereum', () => {
    for (const [network, chainNetwork] of [
      ['mainnet-beta', 'solana-mainnet-beta'],
      ['base', 'ethereum-base'],
      ['local', 'ethereum-local'],
    ] as const)
      expect(networks.ofNetworkAlone({ network }).chainNetwork).to.equal(chainNetwork)
    expect(networks.ofNetworkAlone({ chainNetwork: 'solana-mainnet-beta', network: 'base' }).chainNetwork).to.equal('solana-mainnet-beta')
    expect(() => networks.ofNetworkAlone({ network: 'nowhere' })).to.throw('"ethereum-nowhere" is no network here')
  })

  it('are networks that a chain of this server has, and no two are one', async () => {
    const manifests = await Promise.all(
      readdirSync(plugins).map(async (name) => (await import(new URL(`${name}/index.ts`, plugins).href)).default.manifest),
    )
    const served = new Set<string>()
    for (const { trading_type, available_networks } of manifests)
      if (trading_type.length === 0)
        for (const { chain, networks: names } of available_networks) for (const name of names) served.add(`${chain}/${name}`)
    const named = Object.values(config.networks)
    expect(named.filter((each) => !served.has(each))).to.deep.equal([])
    expect(new Set(named)).to.have.length(named.length)
  })
})
