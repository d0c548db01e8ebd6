import { expect } from 'chai'
import { createRegistry, pluginVersionOf, type PluginEntry, type RegistryEntries } from '../../core/handlers/registry.ts'

const [first, second] = ['a1', 'b2'].map((byte) => byte.repeat(32)) as [string, string]
const on = { chain: 'ethereum', network: 'local' }

const plugin = (version: string, sha256: string): PluginEntry => ({
  name: 'riverswap',
  kind: 'connector',
  folder: `/plugins/riverswap`,
  version,
  sha256,
  trading_type: ['AMM'],
  available_networks: [],
  state: 'loaded',
})
const venue = (sha256: string): RegistryEntries['venues'][number] => ({
  ...on,
  connector: 'riverswap',
  builtIn: false,
  plugin: pluginVersionOf(sha256),
  impl: {},
  config: { allowedSlippage: '1/100', ttl: 300 } as RegistryEntries['venues'][number]['config'],
  contracts: [],
  bridges: {},
  recentQuotes: { put: () => {}, get: () => undefined, counts: { memory: 0, rpc: 0 } },
  notReady: () => undefined,
  trouble: () => undefined,
  wake: async () => {},
})
const entries = (version: string, sha256: string): RegistryEntries => ({
  plugins: [plugin(version, sha256)],
  networks: [],
  venues: [venue(sha256)],
})
const none = { plugins: [], networks: [], venues: [] }

describe('the versions of a connector', () => {
  const madeBy = (sha256: string | undefined) => ({ connector: 'riverswap', ...(sha256 && { plugin: pluginVersionOf(sha256) }) })
  const versionFor = (registry: ReturnType<typeof createRegistry>, sha256: string | undefined) =>
    registry.venueOf(madeBy(sha256), on)?.plugin

  it('are found by the transactions that they planned, and the one that runs now by all others', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.replace('riverswap', entries('2.0.0', second))
    expect(registry.venuesOn(on.chain, on.network).map((each) => each.plugin)).to.deep.equal([pluginVersionOf(second)])
    expect(registry.plugins).to.have.length(1)
    expect(registry.plugins[0]).to.deep.include({ version: '2.0.0', earlier: [{ version: '1.0.0', sha256: first }] })
    expect(versionFor(registry, first)).to.equal(pluginVersionOf(first))
    expect(versionFor(registry, second)).to.equal(pluginVersionOf(second))
    // Of the journal of an older server.
    expect(versionFor(registry, undefined)).to.equal(pluginVersionOf(second))
    registry.forget('riverswap', { sha256: first })
    expect(versionFor(registry, first)).to.equal(pluginVersionOf(second))
    expect(registry.plugins[0]?.earlier).to.deep.equal([])
  })

  it('are still found by their transactions after the connector was removed, and by no request', () => {
    const registry = createRegistry(entries('1.0.0', first))
    let changes = 0
    registry.onChange(() => (changes += 1))
    registry.replace('riverswap', { ...none, plugins: [{ ...plugin('1.0.0', first), state: 'leaving' }] })
    expect(changes).to.equal(1)
    expect(registry.hasConnector('riverswap')).to.equal(false)
    expect(() => registry.connector('riverswap')).to.throw('There is no connector')
    expect(registry.venuesOn(on.chain, on.network)).to.deep.equal([])
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([true, pluginVersionOf(first)])
    registry.forget('riverswap', { sha256: first })
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([false, undefined])
    expect(registry.plugins).to.deep.equal([])
  })

  it('stay what they are where a change is not in force, which is said', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.note('riverswap', 'import: it throws. Correct it.')
    expect(registry.plugins[0]).to.include({ version: '1.0.0', notTakenUp: 'import: it throws. Correct it.' })
    registry.note('riverswap', undefined)
    expect(registry.plugins[0]).not.to.have.property('notTakenUp')
  })
})
