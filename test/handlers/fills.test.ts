import { expect } from 'chai'
import { outcomeToJournal, readFill } from '../../core/handlers/fills.ts'
import { createRegistry, pluginVersionOf, type NetworkEntry, type RegistryEntries } from '../../core/plugins/registry.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const [first, second] = ['a1', 'b2'].map((byte) => byte.repeat(32)) as [string, string]
const on = { chain: 'ethereum', network: 'local' }
const network = { ...on, impl: {} } as NetworkEntry
const receipt = { logs: [] }

describe('what a transaction brought', () => {
  /** Versions whose memo was read. */
  let asked: (string | undefined)[]
  beforeEach(() => {
    asked = []
  })
  const entries = (sha256: string | undefined, more: object = {}): RegistryEntries => {
    const version = sha256 && pluginVersionOf(sha256)
    const rangeFill = async () => {
      asked.push(version)
      return { tokenId: '1', liquidity: 2n, amount0Raw: 3n, amount1Raw: 4n }
    }
    const plugin = { name: 'riverswap', kind: 'connector', folder: '/plugins/riverswap', version: '1', ...(sha256 && { sha256 }) } as const
    const venue = {
      ...on,
      connector: 'riverswap',
      builtIn: false,
      ...(version && { plugin: version }),
      impl: { AMM_RANGE: { rangeFill } },
      recentQuotes: { counts: { memory: 0, rpc: 0 } },
      ...more,
    } as unknown as RegistryEntries['venues'][number]
    return { plugins: [{ ...plugin, trading_type: [], available_networks: [], state: 'loaded' }], networks: [network], venues: [venue] }
  }
  const about = { reversed: false, decimals: [0, 0] }
  const planned = (sha256: string | undefined): Entry =>
    ({
      ...on,
      kind: 'liquidity',
      connector: 'riverswap',
      memo: {},
      about,
      address: '0x',
      ...(sha256 && { plugin: pluginVersionOf(sha256) }),
      landed: { id: '0x1', ok: true, blockNumber: 1, receipt },
    }) as unknown as Entry

  it('comes from the version that planned it, and never from another one', async () => {
    const registry = createRegistry(entries(first))
    registry.leave('riverswap', true)
    await readFill(planned(first), receipt, network, registry)
    registry.add({ ...entries(second), networks: [] })
    await readFill(planned(second), receipt, network, registry)
    expect(asked).to.deep.equal([first, second].map(pluginVersionOf))
    expect(await readFill(planned(first), receipt, network, registry)).to.deep.equal({ is: 'gone' })
    expect(asked).to.have.length(2)
  })

  it('comes from what runs where the journal of an older server does not say the version', async () => {
    await readFill(planned(undefined), receipt, network, createRegistry(entries(second)))
    expect(asked).to.deep.equal([pluginVersionOf(second)])
  })

  it('goes into the journal, of a plugin of the release, too', async () => {
    const registry = createRegistry(entries(first))
    expect(await outcomeToJournal(planned(first), registry)?.()).to.be.an('object')
    expect(await outcomeToJournal(planned(second), registry)?.().catch(({ message }: Error) => message)).to.match(/does not tell.+: gone$/)
    const released = createRegistry(entries(undefined, { builtIn: true }))
    expect(await outcomeToJournal(planned(undefined), released)?.()).to.be.an('object')
    const swap = { ...planned(first), kind: 'trade' as const, about: { moves: { in: '0x1', out: '0x2', sentRaw: '0' } } }
    // Read by core, without the plugin: what cannot be told keeps nothing from being final.
    const asks = asked.length
    expect(await outcomeToJournal(swap, registry)?.()).to.equal(undefined)
    expect(asked).to.have.length(asks)
    expect(outcomeToJournal({ ...planned(first), kind: 'approve' }, registry)).to.equal(undefined)
    const none = createRegistry({ plugins: [], networks: [network], venues: [] })
    expect(outcomeToJournal(planned(undefined), none)).to.equal(undefined)
  })
})
