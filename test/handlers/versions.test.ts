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

  it('serve the transactions that they planned, and the one that runs now by all others', () => {
    const registry = createRegistry(entries('1.0.0', first))
    const before = registry.replace('riverswap', entries('2.0.0', second))!
    expect(registry.venuesOn(on.chain, on.network).map((each) => each.plugin)).to.deep.equal([pluginVersionOf(second)])
    expect(registry.plugins).to.have.length(1)
    expect(registry.plugins[0]).to.deep.include({ version: '2.0.0', earlier: [{ version: '1.0.0', sha256: first }] })
    expect(versionFor(registry, first)).to.equal(pluginVersionOf(first))
    expect(versionFor(registry, second)).to.equal(pluginVersionOf(second))
    // Of the journal of an older server.
    expect(versionFor(registry, undefined)).to.equal(pluginVersionOf(second))
    registry.forget(before)
    expect(versionFor(registry, first)).to.equal(pluginVersionOf(second))
    expect(registry.plugins[0]).not.to.have.property('earlier')
  })

  it('still serve their transactions after the connector was removed, and no request', () => {
    const registry = createRegistry(entries('1.0.0', first))
    let changes = 0
    registry.onChange(() => (changes += 1))
    const before = registry.replace('riverswap')!
    expect(changes).to.equal(1)
    expect(registry.hasConnector('riverswap')).to.equal(false)
    expect(() => registry.connector('riverswap')).to.throw('There is no connector')
    expect(registry.venuesOn(on.chain, on.network)).to.deep.equal([])
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([true, pluginVersionOf(first)])
    registry.forget(before)
    expect([registry.isLeaving('riverswap'), versionFor(registry, first)]).to.deep.equal([false, undefined])
    expect(registry.plugins).to.deep.equal([])
  })

  it('count as two where they have the same bytes: what is forgotten of one stays of the other', () => {
    const registry = createRegistry(entries('1.0.0', first))
    const oldest = registry.replace('riverswap', entries('2.0.0', second))!
    const between = registry.replace('riverswap', entries('1.0.0', first))!
    registry.forget(oldest)
    expect(registry.plugins[0]?.earlier).to.deep.equal([{ version: '2.0.0', sha256: second }])
    const again = registry.replace('riverswap')!
    registry.add(entries('1.0.0', first))
    expect(registry.plugins.map(({ state, earlier }) => [state, earlier])).to.deep.equal([['loaded', [between, again]]])
    registry.forget(again)
    expect([versionFor(registry, first), versionFor(registry, second)]).to.deep.equal([first, second].map(pluginVersionOf))
    expect(registry.plugins[0]?.earlier).to.deep.equal([between])
  })

  it('go on counting the quotes of the connector', () => {
    const registry = createRegistry(entries('1.0.0', first))
    registry.venuesOn(on.chain, on.network)[0]!.recentQuotes.counts.memory += 3
    registry.replace('riverswap', entries('2.0.0', second))
    registry.venuesOn(on.chain, on.network)[0]!.recentQuotes.counts.memory += 1
    registry.replace('riverswap')
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
