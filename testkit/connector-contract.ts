import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { JsonRpcProvider } from 'ethers'
import { Test } from 'mocha'
import { stringify } from 'yaml'
import { loadPluginConfig } from '../core/config/plugin-config.ts'
import { ConfigError } from '../core/config/problems.ts'
import { devnetNetwork } from '../core/config/settings.ts'
import type { BookOperators } from '../core/contracts/devnet.ts'
import { tradingWallets } from '../core/devnet/anvil.ts'
import { isObject } from '../core/base/json.ts'
import { devnetAddresses } from '../core/keys/devnet-keys.ts'
import { devnetFileOf } from '../core/devnet/outside.ts'
import type { LoadedPlugin } from '../core/plugins/index.ts'
import { ammCards } from './cards/amm.ts'
import { bookCards, bookCardTitles } from './cards/books.ts'
import { solanaControl } from './cards/solana-control.ts'
import { lpCards } from './cards/lp.ts'
import { perpCards } from './cards/perp.ts'
import { sharesCards } from './cards/shares.ts'
import { boundsBy, loansBy, quotedPairs, removalAllowanceBy, runsCard, type AddCard, type TestVenue, nodeCall } from './cards/venue.ts'
import {
  clusterQuoter,
  devnetBookOperators,
  devnetNoDeadline,
  devnetPerpOperator,
  devnetQuoter,
  devnetShares,
  requireDeployed,
} from './devnet-operators.ts'
import type { ServerOptions } from './public-server.ts'
import { devnetConf, startServer, venuesReady, type TestServer } from './server.ts'

/** A service that stands in for an exchange which cannot run on the devnet. */
export interface ContractSite {
  chain: string
  network: string
  /** Options of the server, such as the service's address and wallets with keys. The devnet is off by default. */
  server: ServerOptions
  /** Three wallets whose keys the server has. Each has some of every token in the exchange, or can deposit it there. */
  wallets: readonly [string, string, string]
  bookOperators: BookOperators
  stop(): Promise<void>
}

export interface ConnectorContract {
  /** The plugin's folder, anywhere. */
  folder: string
  /** Absent: the devnet. */
  site?: () => Promise<ContractSite>
  /** It runs in the server, as after `sluice plugin trust`: what cannot be contained. */
  trusted?: boolean
}

/** Mocha tests that every connector must pass, ours or a third party's: the whole server, with real exchange code on the devnet. */
export function connectorContract(contract: ConnectorContract): void {
  connectorCards(contract)
}

/**
 * @internal What authors see leads to no part of the server.
 * @param running the server that has the plugin already, and goes on afterwards
 */
export function connectorCards(
  { folder, site: startSite, trusted = false }: ConnectorContract,
  running?: TestServer | Promise<TestServer>,
): void {
  const name = path.basename(folder)

  describe(`connector ${name}`, function () {
    this.timeout(180_000)
    const venue: TestVenue = {
      connector: name,
      ...devnetNetwork,
      client: undefined as never,
      rpcUrl: '',
      wallets: ['', '', ''],
      pairs: [],
      unquoted: [],
      quoter: undefined,
    }
    let plugin: LoadedPlugin
    let refillBooks = async () => {}
    // Everything that was started is stopped, even if it starts only after the hook's timeout. Otherwise mocha would not end.
    const started: Promise<{ stop(): Promise<void> }>[] = []
    const start = <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
      started.unshift(starting)
      return starting
    }

    const standIn = cardsStandIn(venue)
    this.addTest(standIn)
    before(async function () {
      // A busy machine takes long to start a server and a chain.
      this.timeout(300_000)
      const site = startSite && (await start(startSite()))
      const server = (await running) ?? (await start(startServer(serverOptions(folder, site, trusted))))
      plugin = loadedPlugin(server, name)
      requireDeployed(server.kernel, name)
      if (site) await venuesReady(server.kernel, site)
      const parts = site ? atSite(site) : isOnCluster(plugin) ? await onCluster(folder, server) : await start(onDevnet(folder, server))
      Object.assign(venue, { client: server.client, rpcUrl: server.rpcUrl }, parts)
      // The trading types are known only now. Cards of other types must not be shown as skipped.
      const { trading_type: types } = plugin.manifest
      const suite = this.test?.parent
      suite?.tests.splice(suite.tests.indexOf(standIn), 1)
      const add: AddCard = (title, run) => suite?.addTest(new Test(title, runsCard(run)))
      if (types.includes('AMM')) {
        const boundOf = boundsBy(server.kernel.services, venue)
        Object.assign(venue, await quotedPairs(venue), { tryLoans: await loansBy(ammOf(plugin, venue), venue), boundOf })
        ammCards(venue, add)
      }
      if (types.includes('AMM_RANGE')) lpCards(venue, add, furtherVersions(plugin, venue))
      if (types.includes('AMM_SHARES')) {
        venue.removalAllowance = removalAllowanceBy(sharesOf(plugin, venue))
        sharesCards(venue, add)
      }
      if (types.includes('PERP_AMM')) perpCards(venue, add)
      refillBooks = bookCards(venue, types, add)
    })
    after(async () => {
      if (running) await refillBooks()
      for (const each of started) await (await each.catch(() => undefined))?.stop()
    })

    const loaded = () => ({ plugin, venue })
    pluginCards(loaded)
    configurationCards(loaded)
    if (!startSite) addressCards(loaded)
  })
}

/** Versions with positions beside the first one, on the network of the cards. */
function furtherVersions({ venues }: LoadedPlugin, { chain, network }: TestVenue): readonly string[] {
  const here = venues.find((each) => each.chain === chain && each.network === network)
  return here && 'AMM_RANGE' in here.implementation ? (here.implementation.AMM_RANGE?.rangeVersions.slice(1) ?? []) : []
}

/** @internal On the network of the cards. */
export function ammOf({ venues }: LoadedPlugin, { chain, network }: Pick<TestVenue, 'chain' | 'network'>) {
  const here = venues.find((each) => each.chain === chain && each.network === network)
  return here && 'AMM' in here.implementation ? here.implementation.AMM : undefined
}

/** @internal The same of its shares. */
export function sharesOf({ venues }: LoadedPlugin, { chain, network }: Pick<TestVenue, 'chain' | 'network'>) {
  const here = venues.find((each) => each.chain === chain && each.network === network)
  return here && 'AMM_SHARES' in here.implementation ? here.implementation.AMM_SHARES : undefined
}

/** Stands for the cards until they are known: mocha runs no `before`, and passes, where `--grep` names no test that is there from the beginning. */
function cardsStandIn(venue: TestVenue): Test {
  const titles = [...bookCardTitles]
  for (const cards of [ammCards, lpCards, sharesCards, perpCards]) cards(venue, (title) => titles.push(title))
  const standIn = new Test('the cards of its trading types', () => {})
  standIn.fullTitle = () => titles.map((title) => `${standIn.parent?.fullTitle()} ${title}`).join('\n')
  return standIn
}

/** With log messages of errors, since only they name defects of the plugin. */
const serverOptions = (folder: string, site: ContractSite | undefined, trusted: boolean): ServerOptions => ({
  ...site?.server,
  ...(trusted && { trusted: [path.basename(folder)] }),
  plugins: [folder, ...(site?.server.plugins ?? [])],
  conf: { ...(!site && devnetConf), ...site?.server.conf },
  settings: { 'log.level': 'warn', ...(site && { 'devnet.enabled': false }), ...site?.server.settings },
})

type VenueParts = Pick<TestVenue, 'chain' | 'network' | 'wallets' | 'quoter' | 'perpOperator' | 'bookOperators' | 'noDeadline' | 'shares'> &
  Partial<Pick<TestVenue, 'rpcUrl' | 'chainControl'>>

const atSite = ({ chain, network, wallets, bookOperators }: ContractSite): VenueParts => ({
  chain,
  network,
  wallets,
  bookOperators,
  quoter: undefined,
})

/** Beside the devnet, where \`sluice devnet\` has it. */
const cluster = { chain: 'solana', network: 'local' } as const

/** @internal An exchange that is on the simulated cluster of Solana, and not on the devnet. */
export const localNetworkOf = ({ manifest }: Pick<LoadedPlugin, 'manifest'>): { readonly chain: string; readonly network: string } => {
  const isOn = ({ chain, network }: typeof cluster | typeof devnetNetwork) =>
    manifest.available_networks.some((each) => each.chain === chain && each.networks.includes(network))
  return !isOn(devnetNetwork) && isOn(cluster) ? cluster : devnetNetwork
}

const isOnCluster = (plugin: LoadedPlugin): boolean => localNetworkOf(plugin) === cluster

async function onCluster(folder: string, { kernel }: TestServer): Promise<VenueParts> {
  await venuesReady(kernel, cluster)
  const rpcUrl = `http://${kernel.localHosts.get(`${cluster.chain}.localhost`)}`
  const [first = '', second = '', third = ''] = devnetAddresses('ed25519')
  const file = devnetFileOf(folder)
  const payer = String(await nodeCall({ rpcUrl }, 'sluice_faucet'))
  const quoter = file === undefined ? undefined : await clusterQuoter(file, { rpcUrl, payer })
  return { ...cluster, rpcUrl, wallets: [first, second, third], quoter, chainControl: solanaControl(() => rpcUrl) }
}

async function onDevnet(folder: string, { rpcUrl }: TestServer): Promise<VenueParts & { stop(): Promise<void> }> {
  const file = devnetFileOf(folder)
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
  const [first = '', second = '', third = ''] = tradingWallets
  return {
    ...devnetNetwork,
    wallets: [first, second, third],
    quoter: file === undefined ? undefined : await devnetQuoter(file, provider),
    noDeadline: file !== undefined && (await devnetNoDeadline(file)),
    shares: file === undefined ? undefined : await devnetShares(file),
    perpOperator: file === undefined ? undefined : await devnetPerpOperator(file, provider),
    bookOperators: file === undefined ? undefined : await devnetBookOperators(file, provider),
    stop: async () => provider.destroy(),
  }
}

/** @internal */
export function loadedPlugin({ kernel }: TestServer, name: string): LoadedPlugin {
  const loaded = kernel.plugins.loaded.find((each) => each.kind === 'connector' && each.name === name)
  if (loaded) return loaded
  const refusal = kernel.plugins.refused.find((each) => each.name === name)
  throw new Error(refusal ? `${name} was refused (${refusal.step}): ${refusal.reason}. ${refusal.remedy}` : `${name} was not found`)
}

type Section = Record<string, unknown>

/** For every plugin. */
function pluginCards(loaded: () => { plugin: LoadedPlugin; venue: TestVenue }): void {
  it('PLUGIN-01 the server loads it and lists it', async () => {
    const { plugin, venue } = loaded()
    const { body } = await venue.client.get('/plugins')
    // An exchange and its own chain may have the same name.
    const shown = body.find(({ name, kind }: { name: string; kind: string }) => name === plugin.name && kind === plugin.kind)
    expect(shown).to.include({ state: 'loaded' })
  })

  it('PLUGIN-02 the server shows what its manifest says', async () => {
    const { plugin, venue } = loaded()
    const { name, trading_type } = plugin.manifest
    expect(name).to.equal(path.basename(plugin.folder))
    const { body } = await venue.client.get('/connector/config', { connector: name })
    // Of a chain that is simulated elsewhere, the network local may not be there.
    const isServed = (chain: string, network: string) => !plugin.unserved.some((each) => each.chain === chain && each.network === network)
    const available_networks = plugin.manifest.available_networks
      .map(({ chain, networks }) => ({ chain, networks: networks.filter((network) => isServed(chain, network)) }))
      .filter(({ networks }) => networks.length > 0)
    expect(body).to.deep.include({ name, trading_type, available_networks })
  })
}

/** For every connector's configuration. */
function configurationCards(loaded: () => { plugin: LoadedPlugin; venue: TestVenue }): void {
  const effective = ({ configuration }: LoadedPlugin) => structuredClone(configuration.config)

  it('CONFIG-01 its defaults are a complete configuration', async () => {
    const { plugin } = loaded()
    expect(await problemsWith(plugin, effective(plugin))).to.deep.equal([])
  })

  it('CONFIG-02 each missing required key is named', async () => {
    const { plugin } = loaded()
    const { required = [] } = plugin.manifest.schema as { required?: readonly string[] }
    expect(required).to.include.members(['allowedSlippage', 'ttl', 'contractAddresses'])
    for (const key of required) expect(await problemsWith(plugin, changed(effective(plugin), [key])), key).to.include(key)
    for (const [name, key] of innerSections(effective(plugin))) {
      const place = `${name}.${key}`
      // Every address and every key of a version may be required, but a network without addresses requires none.
      if (Object.keys(valueAt(effective(plugin), [name, key])).length === 0) continue
      const problems = await problemsWith(plugin, changed(effective(plugin), [name, key], {}))
      expect(problems, place).to.satisfy((paths: readonly string[]) => paths.some((path) => path.startsWith(`${place}.`)))
      if (name === 'versions') expect(problems).to.include.members([`${place}.allowedSlippage`, `${place}.ttl`])
    }
  })

  it('CONFIG-03 an unknown key is named: at the top, among the addresses of a network, and in a version', async () => {
    const { plugin } = loaded()
    for (const place of [[], ...innerSections(effective(plugin))]) {
      const path = [...place, 'slipage']
      expect(await problemsWith(plugin, changed(effective(plugin), path, '1/100'))).to.include(path.join('.'))
    }
  })
}

/** For exchanges on the devnet. */
function addressCards(loaded: () => { plugin: LoadedPlugin; venue: TestVenue }): void {
  it('ADDRESS-01 there is a contract at each of its addresses on the devnet', async () => {
    const { plugin, venue } = loaded()
    const addresses = plugin.venues.filter(({ network }) => network === venue.network).flatMap(({ contracts }) => Object.values(contracts))
    expect(addresses).to.not.have.length(0)
    for (const address of addresses) expect(await hasCode(venue, address), address).to.equal(true)
  })
}

async function hasCode(venue: TestVenue, address: string): Promise<boolean> {
  if (!venue.chainControl) return (await nodeCall(venue, 'eth_getCode', address, 'latest')) !== '0x'
  const answer = await nodeCall(venue, 'getAccountInfo', address, { encoding: 'base64' })
  const value = isObject(answer) ? answer['value'] : undefined
  return isObject(value) && value['executable'] === true
}

/** Paths of the sections below the top: each network's addresses, each version. */
const innerSections = (config: Section): readonly (readonly [string, string])[] =>
  ['contractAddresses', 'versions'].flatMap((name) => Object.keys(valueAt(config, [name])).map((key): [string, string] => [name, key]))

/** The section at a path, empty if there is none. */
const valueAt = (config: Section, path: readonly string[]): Section => path.reduce<Section>((section, key) => Object(section[key]), config)

/** The configuration with another value at a path, or without the key. */
function changed(config: Section, path: readonly string[], value?: unknown): Section {
  const section = valueAt(config, path.slice(0, -1))
  const key = path.at(-1) ?? ''
  if (value === undefined) delete section[key]
  else section[key] = value
  return config
}

/** Paths of the invalid keys, as the server reads this configuration. */
async function problemsWith({ name, manifest: { schema } }: LoadedPlugin, config: Section): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-config-'))
  try {
    await writeFile(path.join(folder, 'defaults.yml'), stringify(config))
    loadPluginConfig({ kind: 'connector', name, confDir: path.join(folder, 'conf'), pluginFolder: folder, schema, env: {} })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => problem.path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
