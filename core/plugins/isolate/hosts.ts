// The hosts of a server: who may start when, what each sees, and the connectors that the server has of them.
import { setMaxListeners } from 'node:events'
import type { Chain, Log, RemoteReading } from '../../contracts/index.ts'
import { createPlaces } from '../../base/async.ts'
import { isObject } from '../../base/json.ts'
import { hookUpdate } from '../code/compile.ts'
import type { FoundPlugin } from '../discover/find.ts'
import { signedActions, trustedOnly, type PluginFault } from '../refusal.ts'
import { triedCopy } from '../discover/tried-copy.ts'
import type { LoadBudget } from '../load-budget.ts'
import { createBroker, createPace } from './broker.ts'
import { createWeb, type AllowedHosts } from './web.ts'
import { startHost, type CreatedVenue, type Host } from './host.ts'
import type { HostVenue } from './messages.ts'
import { remoteConnector, type HostedConnector } from './remote-connector.ts'
import { acceptsNone, findAcceptedBackend, insideUpdate, weaklyContained, whyNotContained, type ContainmentSettings } from './backend.ts'

export interface Hosts {
  /** Why plugins cannot be contained here, and may not run otherwise; undefined where they can be or may. */
  refused(): Promise<PluginFault | undefined>
  /** Starts a host, and has the plugin described in it. @throws PluginFault */
  open(found: FoundPlugin): Promise<Host>
  /** Creates the plugin's connector on its venues. @throws PluginFault */
  connect(host: Host, venues: readonly HostedVenue[], callee: { plugin: string; log: Log }): Promise<readonly HostedConnector[]>
  /** A caller was told about this block of a network: what is asked later is not answered from before it. */
  expectBlock(network: { readonly chain: string; readonly network: string }, number: bigint): void
  /** Stops some of them. */
  close(hosts: readonly Host[]): Promise<unknown>
  stop(): Promise<unknown>
}

export interface HostedVenue {
  readonly venue: Omit<HostVenue, 'facts' | 'isFollowed' | 'images'>
  readonly chain: Chain
  readonly remote: RemoteReading<object>
}

export interface HostsOptions {
  readonly budget: LoadBudget
  readonly stallSeconds: number
  readonly containment: ContainmentSettings
  /** The settings `market`. */
  readonly market: { staleBlocks: number; staleBlockSeconds: number; staleSeconds: number; checkSeconds: number; cachedQuotes: number }
  logOf(plugin: string): Log
  /** What a plugin may ask of the web. */
  webOf(plugin: FoundPlugin): AllowedHosts
  onFault(plugin: string): void
  onDeath(plugin: string): void
}

/** Hosts that start at a time: each takes a processor for a while. After this time another one may. */
const [maxStarting, maxTurnMs] = [2, 3_000]
/** Quotes that one host keeps. */
const maxCachedQuotes = 2_000

export function createHosts(options: HostsOptions): Hosts {
  const hosts = new Set<Host>()
  /** By `chain/network`: the hosts with a venue there, and which of theirs it is. */
  const onNetwork = new Map<string, { readonly host: Host; readonly index: number }[]>()
  const takePlace = createPlaces(maxStarting)
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  /** Settle; never reject. */
  const opening = new Set<Promise<unknown>>()

  async function takeTurn(): Promise<() => void> {
    const passOn = await takePlace()
    // One that hangs delays no other.
    setTimeout(passOn, maxTurnMs).unref()
    return passOn
  }

  const stopAll = (some: readonly Host[]) =>
    Promise.all(
      some.map(async (host) => {
        hosts.delete(host)
        for (const [network, all] of onNetwork)
          onNetwork.set(
            network,
            all.filter((each) => each.host !== host),
          )
        await host.stop()
      }),
    )

  return {
    refused: async () => (acceptsNone(options.containment) ? undefined : whyNotContained(options.containment)),
    async open(given) {
      const found = await triedCopy(given, options.containment.data.dir)
      const { name, folder, entry } = found
      const { budget, stallSeconds } = options
      const backend = await findAcceptedBackend(options.containment)
      const prepared = await backend.prepare('host', [found])
      const log = options.logOf(name)
      if (backend.kind !== 'none')
        log.info({ plugin: name, containedBy: backend.what }, 'plugin is started, contained in a process of its own')
      else log.warn({ plugin: name }, `host of a plugin is not contained (plugins.weakContainment): ${weaklyContained}`)
      const begun = startHost({
        name,
        budget,
        stallSeconds,
        takeTurn,
        log,
        request: {
          entry: prepared.inside(entry),
          news: insideUpdate(await hookUpdate([folder]), prepared),
        },
        spawn: prepared.start,
        web: createWeb(options.webOf(found)),
        stopping: stopping.signal,
        onFault: () => options.onFault(name),
        onDeath: () => options.onDeath(name),
      })
      const ended = begun.then(
        (host) => hosts.add(host),
        () => {},
      )
      opening.add(ended)
      await ended
      opening.delete(ended)
      return begun
    },
    async connect(host, wanted, callee) {
      const { cachedQuotes, ...market } = options.market
      const pace = createPace()
      const brokers = wanted.map(({ venue: { chain, network }, chain: impl, remote }, index) =>
        createBroker({
          chain: impl,
          remote,
          network: `${chain}/${network}`,
          staleBlocks: market.staleBlocks,
          onHead: (head, facts) => host.tell('head', [index, head, facts]),
          log: callee.log,
          pace,
        }),
      )
      const venues = wanted.map(({ venue, chain }, index): CreatedVenue & { broker: (typeof brokers)[number] } => ({
        venue: () => ({ ...venue, facts: brokers[index]?.facts(), isFollowed: chain.changes !== undefined, images: chain.images === true }),
        broker: brokers[index]!,
      }))
      const local = wanted.map(({ chain }) => chain.local)
      const settings = { ...market, name: callee.plugin, local, cachedQuotes: Math.min(cachedQuotes, maxCachedQuotes) }
      const properties = await host.create(venues, settings)
      if (properties.some((each) => isObject(each) && each['acts'] === true)) throw trustedOnly(callee.plugin, signedActions)
      const connectors = wanted.map(({ venue: { tradingTypes } }, index) =>
        remoteConnector({ host, index, tradingTypes, reported: properties[index], broker: brokers[index]!, callee }),
      )
      for (const [index, { venue }] of wanted.entries()) {
        const name = `${venue.chain}/${venue.network}`
        onNetwork.set(name, [...(onNetwork.get(name) ?? []), { host, index }])
      }
      return connectors
    },
    expectBlock({ chain, network }, number) {
      for (const { host, index } of onNetwork.get(`${chain}/${network}`) ?? []) host.tell('expect', [index, number])
    },
    close: stopAll,
    async stop() {
      stopping.abort()
      await Promise.all(opening)
      await stopAll([...hosts])
    },
  }
}
