import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { lockOfStart } from '../../core/plugins/changes.ts'
import { createHotReload } from '../../core/plugins/hot-reload.ts'
import { readLock, writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { buildRegistry } from '../../core/plugins/registry-entries.ts'
import { createRegistry, pluginVersionOf, type GrowingRegistry } from '../../core/plugins/registry.ts'
import type { FoundPlugin } from '../../core/plugins/discover/find.ts'
import type { LoadedConnector, LoadedVenue } from '../../core/plugins/loaded-plugin.ts'
import { keepPlugin, keptFolder, readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import type { Refusal } from '../../core/plugins/refusal.ts'
import { startVenues, type Venues } from '../../core/plugins/start-venue.ts'
import { createRunningPlugins, type RunningPlugins } from '../../core/plugins/running.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { eachWithHome } from '../config/home.ts'

const on = { chain: 'ethereum', network: 'local' }
const silent = { info: () => {}, warn: () => {}, error: () => {} }

describe('the loop that loads plugins while the server runs', () => {
  const home = eachWithHome()
  const folderOf = (name: string) => path.join(home.folder, 'plugins', name)
  let settings: Settings
  let registry: GrowingRegistry
  let venues: Venues
  let plugins: RunningPlugins
  let stop: () => void
  /** The names and files of what was loaded, in this order. */
  let tried: string[]
  /** What loading one does, instead of giving a connector. */
  let onLoad: Record<string, (found: FoundPlugin) => unknown>
  let startOf: () => Promise<void>
  let open: Entry[]
  let logged: string[]
  let warned: string[]

  /** Writes a plugin with this content. @returns its record */
  function plant(name: string, content: string, change: Partial<LockedPlugin> = {}): LockedPlugin {
    mkdirSync(folderOf(name), { recursive: true })
    writeFileSync(path.join(folderOf(name), change.tier === 'data' ? 'plugin.yml' : 'index.js'), content)
    const { sha256 } = readPluginFiles(folderOf(name))
    return { sha256, tier: 'contained', kind: 'connector', networks: {}, signs: [], hosts: [], allowedAt: `${tried.length}`, ...change }
  }
  const allow = async (records: Record<string, LockedPlugin>) => writeLock(home.confDir, { ...readLock(home.confDir), ...records })

  function connector({ name, folder, origin, builtIn, tier, allowedBy, sha256 }: FoundPlugin): LoadedConnector {
    const implementation = { start: () => startOf() }
    const venue = { ...on, plugin: name, implementation, contracts: {}, bridges: {}, tokens: [], log: silent } satisfies LoadedVenue<object>
    return {
      kind: 'connector',
      name,
      folder,
      origin,
      builtIn,
      tier,
      allowedBy,
      ...(sha256 && { sha256 }),
      family: 'evm',
      deprecated: [],
      unserved: [],
      venues: [venue],
      available_networks: [],
      manifest: { name, trading_type: ['AMM'], available_networks: [], schema: {} } as unknown as LoadedConnector['manifest'],
      configuration: { config: {}, shown: {}, networks: {} },
    }
  }

  async function more([found]: readonly FoundPlugin[]): Promise<{ loaded: readonly LoadedConnector[]; refused: readonly Refusal[] }> {
    if (!found) return { loaded: [], refused: [] }
    tried.push(found.name)
    const instead = await onLoad[found.name]?.(found)
    if (instead) return { loaded: [], refused: [{ name: found.name, folder: found.origin, ...instead } as Refusal] }
    return { loaded: [connector(found)], refused: [] }
  }

  const none = async () => ({ loaded: [], refused: [] })
  function begin(
    again: (refused: readonly Refusal[]) => ReturnType<typeof more> = none,
    others: Partial<Parameters<typeof createHotReload>[0]> = {},
  ): void {
    const log = {
      ...silent,
      warn: (_: unknown, text: string = String(_)) => void warned.push(text),
      error: (_: unknown, text: string = String(_)) => void logged.push(text),
    }
    const journal = { unfinished: async () => open }
    ;({ stop } = createHotReload({
      settings,
      plugins,
      loader: { interfaces: [], loadPending: more, retryRefused: again },
      registry,
      journal,
      isReadByPlugin: ({ kind }) => kind === 'liquidity',
      after: Promise.resolve(),
      log,
      lock: lockOfStart(settings),
      pauses: { lookMs: 5, firstAgainMs: 1, drainLookMs: 2, maxDrainMs: 60_000 },
      ...others,
    }))
  }
  const planned = (name: string, { sha256 }: LockedPlugin): Entry =>
    ({ connector: name, plugin: pluginVersionOf(sha256), kind: 'liquidity' }) as Entry
  const entry = (name: string) => registry.plugins.find((each) => each.name === name)
  const isLoaded = (name: string, sha256?: string) => entry(name)?.state === 'loaded' && (!sha256 || entry(name)?.sha256 === sha256)

  async function until(what: string, holds: () => boolean): Promise<void> {
    for (const end = performance.now() + 20_000; performance.now() < end; await new Promise((done) => setTimeout(done, 5)))
      if (holds()) return
    throw new Error(`It never came true that ${what}; said: ${logged.join('; ')}`)
  }
  /** Some rounds of the loop, seen by what it does of its own in each. */
  async function rounds(count: number): Promise<void> {
    await until('some rounds were made', () => looks >= count)
    looks = 0
  }
  let looks = 0

  beforeEach(() => {
    ;[tried, onLoad, open, logged, warned, looks] = [[], {}, [], [], [], 0]
    startOf = async () => {}
    mkdirSync(path.join(home.folder, 'plugins'))
    const flags = { 'plugins.folders': [path.join(home.folder, 'plugins')], 'devnet.enabled': false }
    const read = loadSettings({ confDir: home.confDir, env: {}, flags })
    settings = { ...read, server: { ...read.server, requestTimeoutSeconds: -1 } }
    registry = createRegistry({ plugins: [], networks: [], venues: [] })
    venues = startVenues([])
    const known = createRunningPlugins({
      loaded: [],
      refused: [],
      venues,
      registry,
      onTarget: () => {},
      onLeft: () => {},
      hosts: { close: async () => {} },
    })
    plugins = {
      ...known,
      get loaded() {
        return known.loaded
      },
      get refused() {
        looks += 1
        return known.refused
      },
    }
  })
  afterEach(() => stop())

  it('loads what was allowed, whatever becomes of another one', async () => {
    await allow({ riverswap: plant('riverswap', '1') })
    begin()
    onLoad['badswap'] = () => Promise.reject(new Error('broken in the loader'))
    await allow({ badswap: plant('badswap', '1'), lakeswap: plant('lakeswap', '1') })
    await until('it is loaded', () => isLoaded('lakeswap'))
    expect(tried).to.deep.equal(['badswap', 'lakeswap'])
    expect(logged).to.deep.equal(['a change of plugins could not be taken up; tried again'])
  })

  it('goes on with the version that ran where the new one does not load, and says why', async () => {
    begin()
    const first = plant('riverswap', '1')
    await allow({ riverswap: first })
    await until('it is loaded', () => isLoaded('riverswap'))
    onLoad['riverswap'] = () => ({ step: 'import', reason: 'it throws', remedy: 'Correct it.' })
    await allow({ riverswap: plant('riverswap', '2', { since: first.allowedAt }) })
    await until('it says so', () => entry('riverswap')?.notTakenUp !== undefined)
    const why =
      'import: it throws. Correct it. The version before goes on. The signer signs for it for one hour after the update was allowed, and refuses its trades then.'
    expect(entry('riverswap')?.notTakenUp).to.equal(why)
    expect(warned).to.deep.equal([`change of a plugin is not in force: ${why}`])
    expect(entry('riverswap')).to.include({ state: 'loaded', sha256: first.sha256 })
    await allow({ riverswap: plant('riverswap', '1') })
    await until('it was taken back', () => entry('riverswap')?.notTakenUp === undefined)
    expect(tried).to.have.length(2)
  })

  it('says of what it loads that its contracts are not on the devnet, until they are', async () => {
    const missing = 'Its contracts are not on the devnet: they are deployed when that starts. Restart the server.'
    let said: string | undefined = missing
    begin(none, { devnet: { whyNotDeployed: async () => said, deployAdded: async () => {} } })
    await allow({ riverswap: plant('riverswap', '1') })
    await until('it says so', () => isLoaded('riverswap') && entry('riverswap')?.notTakenUp === missing)
    const { length } = tried
    await allow({ riverswap: plant('riverswap', '1', { allowedAt: 'later' }) })
    await rounds(3)
    expect(entry('riverswap')).to.include({ state: 'loaded', notTakenUp: missing })
    expect(warned).to.deep.equal([`plugin is loaded, but its contracts may not be on the devnet: ${missing}`])
    said = undefined
    await allow({ riverswap: plant('riverswap', '1', { allowedAt: 'still later' }) })
    await until('it is said no more', () => entry('riverswap')?.notTakenUp === undefined)
    expect(tried).to.have.length(length)
  })

  it('tries an update again that could not be put in place', async () => {
    begin()
    await allow({ riverswap: plant('riverswap', '1') })
    await until('it is loaded', () => isLoaded('riverswap'))
    const add = venues.add.bind(venues)
    venues.add = () => {
      venues.add = add
      throw new Error('no more processes')
    }
    const second = plant('riverswap', '2')
    await allow({ riverswap: second })
    await until('it was tried', () => logged.length === 1)
    expect(isLoaded('riverswap', second.sha256)).to.equal(false)
    utimesSync(path.join(folderOf('riverswap'), 'index.js'), 1, 1)
    await until('the new one is loaded', () => isLoaded('riverswap', second.sha256))
  })

  it('changes nothing more once the server stops, even in the middle of an update', async () => {
    begin()
    const first = plant('riverswap', '1')
    await allow({ riverswap: first })
    await until('it is loaded', () => isLoaded('riverswap'))
    open = [planned('riverswap', first)]
    const { sha256: second } = plant('riverswap', '2')
    await allow({ riverswap: { ...first, sha256: second } })
    await until('the first takes nothing more', () => entry('riverswap')?.state === 'leaving')
    stop()
    open = []
    await new Promise((done) => setTimeout(done, 50))
    expect([isLoaded('riverswap', second), venues.running.size, logged]).to.deep.equal([false, 1, []])
  })

  it('takes up connectors that are data alone: added, updated and removed', async () => {
    begin()
    await allow({ rillswap: plant('rillswap', 'kit: one', { tier: 'data' }) })
    await until('it is loaded', () => isLoaded('rillswap'))
    const second = plant('rillswap', 'kit: other', { tier: 'data' })
    await allow({ rillswap: second })
    await until('the new one is loaded', () => isLoaded('rillswap', second.sha256))
    await writeLock(home.confDir, {})
    await until('it is gone', () => entry('rillswap') === undefined)
    expect(plugins.loaded).to.deep.equal([])
  })

  it('says why chains and trusted plugins wait for a restart', async () => {
    begin()
    await allow({
      tonic: plant('tonic', 'kind: chain', { tier: 'data', kind: 'chain' }),
      ownswap: plant('ownswap', '1', { tier: 'trusted' }),
    })
    await until('both are refused', () => entry('tonic')?.state === 'refused' && entry('ownswap')?.state === 'refused')
    expect(entry('tonic')?.reason).to.match(/^consent: A running server does not change its chains: nonces.+\. Restart the server\.$/)
    expect(entry('ownswap')?.reason).to.match(
      /^consent: A trusted plugin runs in the server, whose code cannot be changed.+\. Restart the server\.$/,
    )
    expect(tried).to.deep.equal([])
  })

  it('loads what is dropped into a server that only tries, and takes it out with its folder', async () => {
    settings = { ...settings, devnet: { ...settings.devnet, enabled: true } }
    begin()
    plant('riverswap', '1')
    onLoad['lakeswap'] = () => ({ step: 'create', reason: 'it throws', remedy: 'Correct it.' })
    plant('lakeswap', '1')
    await until('it is loaded', () => isLoaded('riverswap') && entry('lakeswap')?.state === 'refused')
    expect(entry('riverswap')).to.include({ allowedBy: 'nobody', tier: 'contained' })
    delete onLoad['lakeswap']
    plant('lakeswap', 'corrected')
    await until('the corrected one is loaded', () => isLoaded('lakeswap'))
    rmSync(folderOf('riverswap'), { recursive: true })
    await until('it is gone', () => entry('riverswap') === undefined)
    plant('badswap', '1')
    onLoad['badswap'] = () => ({ step: 'create', reason: 'it throws', remedy: 'Correct it.' })
    await until('it is refused', () => entry('badswap')?.state === 'refused')
    rmSync(folderOf('badswap'), { recursive: true })
    await until('nobody says so any more', () => entry('badswap') === undefined)
    const data = plant('tonic', 'kind: chain', { tier: 'data' })
    await until('the chain is refused', () => entry('tonic')?.state === 'refused')
    expect([data.tier, entry('tonic')?.reason]).to.deep.equal(['data', `${chainReason}. Restart the server.`])
  })
  const chainReason =
    'consent: A running server does not change its chains: nonces, open transactions and what the signer signs depend on them'

  it('does not take an interface of the start for one that was dropped in', async () => {
    settings = { ...settings, devnet: { ...settings.devnet, enabled: true } }
    plant('dialect', '1')
    begin(none, { loader: { interfaces: [{ origin: folderOf('dialect') }], loadPending: more, retryRefused: none } })
    plant('goodswap', '1')
    await until('the other one is loaded', () => isLoaded('goodswap'))
    expect(tried).to.deep.equal(['goodswap'])
  })

  it('says that a change of an interface that runs waits for a restart, and shows it as running', async () => {
    const first = plant('dialect', '1')
    await allow({ dialect: first })
    const of = { tier: 'contained', allowedBy: 'operator', sha256: first.sha256 } as const
    const served = { ...of, origin: folderOf('dialect'), builtIn: false }
    Object.assign(plugins, { interfaces: [served] })
    const shown = { name: 'dialect', kind: 'interface', version: '1', folder: served.origin, state: 'loaded', ...of } as const
    registry.add({ plugins: [{ ...shown, trading_type: [], available_networks: [] }], networks: [], venues: [] })
    begin()
    const note = () => entry('dialect')?.notTakenUp
    await allow({ dialect: plant('dialect', '2') })
    await until('the update waits', () => note() !== undefined)
    expect(note()).to.equal('The listeners of interfaces are opened when the server starts. Restart the server.')
    await writeLock(home.confDir, {})
    await until('so does its removal', () => note()?.startsWith('It was removed.') === true)
    await allow({ dialect: first })
    await until('nothing waits where it is allowed as it runs', () => note() === undefined)
    expect([entry('dialect')?.state, entry('dialect')?.reason, tried]).to.deep.equal(['loaded', undefined, []])
  })

  it('shows an interface that was allowed while the server runs as one that waits for a restart', async () => {
    begin()
    await allow({ dialect: plant('dialect', '1', { kind: 'interface' }) })
    await until('it is refused', () => entry('dialect') !== undefined)
    expect(entry('dialect')).to.include({ kind: 'interface', state: 'refused' })
    expect(entry('dialect')?.reason).to.equal('consent: The listeners of interfaces are opened when the server starts. Restart the server.')
  })

  it('shows a plugin whose process has not been started as what it was allowed as', () => {
    const found = { name: 'dialect', folder: '', origin: '', entry: '', builtIn: false, tier: 'contained', allowedBy: 'operator' } as const
    const kinds = (['interface', 'connector', undefined] as const).map((lockedKind) => {
      const pending = [{ ...found, ...(lockedKind && { lockedKind }) }]
      return buildRegistry({ loaded: [], refused: [], pending, running: new Map() }).plugins[0]?.kind
    })
    expect(kinds).to.deep.equal(['interface', 'connector', 'unknown'])
  })

  it('leaves alone what is dropped into a server with a real network', async () => {
    begin()
    plant('riverswap', '1')
    await rounds(3)
    expect([tried, registry.plugins]).to.deep.equal([[], []])
  })

  describe('with one that the start had no time for', () => {
    const refusal = (name: string): Refusal => ({
      name,
      folder: folderOf(name),
      step: 'import',
      reason: 'no time',
      remedy: '',
      temporary: true,
    })
    const late: FoundPlugin[] = []
    const again = async (refused: readonly Refusal[]) => {
      const [result] = await Promise.all(late.filter(({ name }) => refused.some((each) => each.name === name)).map((each) => more([each])))
      return result ?? { loaded: [], refused }
    }
    beforeEach(async () => {
      await allow({ riverswap: plant('riverswap', '1') })
      plugins.add({ loaded: [], refused: [refusal('riverswap')] })
      const folder = folderOf('riverswap')
      late.splice(0, Infinity, {
        name: 'riverswap',
        folder,
        origin: folder,
        entry: path.join(folder, 'index.js'),
        builtIn: false,
        tier: 'contained',
        allowedBy: 'operator',
        sha256: readPluginFiles(folder).sha256,
      })
    })

    it('tries it again until it is loaded, and shows it once', async () => {
      let times = 0
      onLoad['riverswap'] = () => ((times += 1) < 3 ? { step: 'import', reason: 'no time', remedy: '', temporary: true } : undefined)
      begin(again)
      await until('it is loaded', () => isLoaded('riverswap'))
      await rounds(3)
      expect([tried, plugins.refused]).to.deep.equal([['riverswap', 'riverswap', 'riverswap'], []])
    })

    it('never loads what was tried then over what is allowed now', async () => {
      const lock = lockOfStart(settings)
      const second = plant('riverswap', '2')
      await allow({ riverswap: second })
      begin(again, { lock })
      lock.file.forget()
      await until('the new one is loaded', () => isLoaded('riverswap', second.sha256))
      await rounds(3)
      expect([tried, plugins.loaded.map(({ sha256 }) => sha256)]).to.deep.equal([['riverswap'], [second.sha256]])
    })

    it('never loads it once it was removed', async () => {
      const lock = lockOfStart(settings)
      await writeLock(home.confDir, {})
      lock.file.forget()
      begin(again, { lock })
      await rounds(4)
      expect([tried, plugins.loaded, plugins.refused, registry.plugins]).to.deep.equal([[], [], [], []])
    })
  })

  it('keeps what is loaded, whatever else is said of its name or folder', async () => {
    const place = { name: 'riverswap', folder: folderOf('riverswap'), origin: folderOf('riverswap'), entry: '', builtIn: false }
    const found: FoundPlugin = { ...place, tier: 'contained', allowedBy: 'operator', sha256: 'a1'.repeat(32) }
    stop = () => {}
    plugins.add({ loaded: [connector(found)], refused: [] })
    plugins.add({ loaded: [connector({ ...found, sha256: 'b2'.repeat(32) })], refused: [] })
    plugins.add({ loaded: [], refused: [{ ...place, step: 'import', reason: 'no time', remedy: '' }] })
    expect([plugins.loaded.map(({ sha256 }) => sha256), plugins.refused]).to.deep.equal([[found.sha256], []])
    expect(registry.plugins.map(({ state, sha256 }) => [state, sha256])).to.deep.equal([['loaded', found.sha256]])
  })

  describe('with another version', () => {
    const copyOf = (name: string, { sha256 }: LockedPlugin) => keptFolder(settings.data.dir, sha256, name)
    const find = () => registry.connector('riverswap').sha256
    const reader = (of: LockedPlugin) => registry.plannedBy({ connector: 'riverswap', plugin: pluginVersionOf(of.sha256) }, on)

    /** The first version, and a change to the second that waits. */
    async function updating(before: () => void, change: Parameters<typeof begin>[1] = {}): Promise<[LockedPlugin, LockedPlugin]> {
      begin(none, change)
      const first = plant('riverswap', '1')
      await allow({ riverswap: first })
      await until('the first is loaded', () => isLoaded('riverswap', first.sha256))
      open = [planned('riverswap', first)]
      before()
      const second = plant('riverswap', '2')
      await allow({ riverswap: second })
      await until('the first takes nothing more', () => entry('riverswap')?.state === 'leaving')
      return [first, second]
    }

    it('waits for the transactions that the one before planned, and so do requests, up to a bound', async () => {
      const [first, second] = await updating(() => {})
      expect(find).to.throw('The plugin riverswap is being started.').with.property('name', 'SERVICE_UNINITIALIZED')
      expect(registry.venuesOn(on.chain, on.network)).to.deep.equal([])
      expect(reader(first)?.plugin).to.equal(pluginVersionOf(first.sha256))
      let isAnswered = false
      const waiting = Promise.resolve(registry.wake(on.chain, on.network, 'riverswap')).then(() => (isAnswered = true))
      await new Promise((done) => setTimeout(done, 30))
      expect([isAnswered, entry('riverswap')?.state]).to.deep.equal([false, 'leaving'])
      open = []
      await waiting
      expect(find()).to.equal(second.sha256)
      // Never read by another version.
      expect([reader(first), reader(second)?.plugin]).to.deep.equal([undefined, pluginVersionOf(second.sha256)])
      await until('the copy of the first is gone', () => !existsSync(copyOf('riverswap', first)))
      expect(existsSync(copyOf('riverswap', second))).to.equal(true)
      expect([venues.running.size, warned]).to.deep.equal([1, []])
    })

    it('waits for the requests that the one before has', async () => {
      settings = { ...settings, server: { ...settings.server, requestTimeoutSeconds: 60 } }
      let requests: { requests: number } | undefined
      const [, second] = await updating(() => {
        open = []
        requests = registry.venuesOn(on.chain, on.network)[0]
        if (requests) requests.requests = 1
      })
      await new Promise((done) => setTimeout(done, 30))
      expect(entry('riverswap')?.state).to.equal('leaving')
      if (requests) requests.requests = 0
      await until('the second is there', () => isLoaded('riverswap', second.sha256))
    })

    it('waits only so long, and for no transaction that core reads', async () => {
      const pauses = { lookMs: 5, firstAgainMs: 1, drainLookMs: 2, maxDrainMs: 20 }
      const [first, second] = await updating(() => {}, { pauses })
      await until('the second is there', () => isLoaded('riverswap', second.sha256))
      expect(warned).to.deep.equal(['plugin updated before transactions of it were final: what they bring is not read'])
      expect(reader(first)).to.equal(undefined)
      open = [{ ...planned('riverswap', second), kind: 'trade' }]
      await allow({ riverswap: plant('riverswap', '1') })
      await until('the first is back', () => isLoaded('riverswap', first.sha256))
      expect(warned).to.have.length(1)
    })

    it('takes the place of one that was removed and has open transactions', async () => {
      begin()
      const first = plant('riverswap', '1')
      await allow({ riverswap: first })
      await until('the first is loaded', () => isLoaded('riverswap', first.sha256))
      open = [planned('riverswap', first)]
      await writeLock(home.confDir, {})
      await until('it takes nothing more', () => entry('riverswap')?.state === 'leaving')
      expect(find).to.throw('There is no connector "riverswap"')
      await rounds(3)
      expect(reader(first)?.plugin).to.equal(pluginVersionOf(first.sha256))
      const second = plant('riverswap', '2')
      await allow({ riverswap: second })
      await until('requests wait for the second', () => registry.wake(on.chain, on.network, 'riverswap') !== undefined)
      expect(find).to.throw('is being started')
      open = []
      await until('the second is there', () => isLoaded('riverswap', second.sha256))
      await writeLock(home.confDir, {})
      await until('all is gone', () => registry.plugins.length === 0 && venues.running.size === 0)
      await until('its copy, too', () => !existsSync(copyOf('riverswap', second)))
    })

    it('leaves no copies of others from before the start, but those that somebody is about to allow', async () => {
      const keep = async (name: string, content: string) => {
        const record = plant(name, content)
        await keepPlugin(settings.data.dir, name, readPluginFiles(folderOf(name)))
        return record
      }
      const [unused, now, asked] = [await keep('riverswap', '0'), await keep('riverswap', '1'), await keep('lakeswap', '2')]
      for (const each of [unused, now]) utimesSync(path.dirname(copyOf('riverswap', each)), 1, 1)
      await allow({ riverswap: now })
      begin()
      await until('a copy is gone', () => !existsSync(copyOf('riverswap', unused)))
      expect([existsSync(copyOf('riverswap', now)), existsSync(copyOf('lakeswap', asked))]).to.deep.equal([true, true])
    })
  })
})
