import { expect } from 'chai'
import { createRegistry, pluginVersionOf, type PluginEntry, type RegistryEntries } from '../../core/plugins/registry.ts'

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
  requests: 0,
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

describe('the versions of a connector', () => {
  const madeBy = (sha256: string | undefined) => ({ connector: 'riverswap', ...(sha256 && { plugin: pluginVersionOf(sha256) }) })
  const versionFor = (registry: ReturnType<typeof createRegistry>, sha256: string | undefined) =>
    registry.venueOf(madeBy(sha256), on)?.plugin

  it('serve the transactions that they planned until the next one is there, and no request', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.leave('riverswap', true)
    expect(registry.venuesOn(on.chain, on.network)).to.deep.equal([])
    expect(registry.plugins.map(({ version, state }) => [version, state])).to.deep.equal([['1.0.0', 'leaving']])
    expect(() => registry.venue('riverswap', on.chain, on.network))
      .to.throw()
      .with.property('name', 'SERVICE_UNINITIALIZED')
    expect(registry.plannedBy(madeBy(first), on)?.plugin).to.equal(pluginVersionOf(first))
    registry.add(entries('2.0.0', second))
    expect(registry.plugins.map(({ version, state }) => [version, state])).to.deep.equal([['2.0.0', 'loaded']])
    expect(registry.venue('riverswap', on.chain, on.network).plugin).to.equal(pluginVersionOf(second))
    expect(registry.plannedBy(madeBy(first), on)).to.equal(undefined)
    // Of the journal of an older server.
    expect([registry.plannedBy(madeBy(undefined), on)?.plugin, versionFor(registry, first)]).to.deep.equal(
      [second, second].map(pluginVersionOf),
    )
  })

  it('still serve their transactions after the connector was removed, and no request', () => {
    const registry = createRegistry(entries('1.0.0', first))
    let changes = 0
    registry.onChange(() => (changes += 1))
    registry.leave('riverswap', false)
    expect(changes).to.equal(1)
    expect(registry.hasConnector('riverswap')).to.equal(false)
    expect(() => registry.connector('riverswap')).to.throw('There is no connector')
    expect(registry.venuesOn(on.chain, on.network)).to.deep.equal([])
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([true, pluginVersionOf(first)])
    registry.forget('riverswap')
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([false, undefined])
    expect(registry.plugins).to.deep.equal([])
  })

  it('go on counting the quotes of the connector', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.venuesOn(on.chain, on.network)[0]!.recentQuotes.counts.memory += 3
    registry.leave('riverswap', true)
    registry.add(entries('2.0.0', second))
    registry.venuesOn(on.chain, on.network)[0]!.recentQuotes.counts.memory += 1
    registry.leave('riverswap', false)
    registry.add(entries('3.0.0', first))
    expect(registry.venuesOn(on.chain, on.network)[0]?.recentQuotes.counts).to.deep.equal({ memory: 4, rpc: 0 })
  })

  it('stay what they are where a change is not in force, which is said', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.note('riverswap', 'import: it throws. Correct it.')
    expect(registry.plugins[0]).to.include({ version: '1.0.0', notTakenUp: 'import: it throws. Correct it.' })
    registry.note('riverswap', undefined)
    expect(registry.plugins[0]).not.to.have.property('notTakenUp')
  })
})
