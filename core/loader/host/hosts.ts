// The hosts of a server: who may start when, what each sees, and the connectors that the server has of them.
import { setMaxListeners } from 'node:events'
import type { Chain, Connector, Log, QuoteChoice, RemoteReading, Swap, TradingType } from '../../contracts/index.ts'
import { isObject } from '../../json.ts'
import { updateOfFailure, type QuoteListener, type QuoteUpdate } from '../../live-state/pair-quoter.ts'
import { connectorBoundary } from '../boundary.ts'
import { hookUpdate } from '../compile.ts'
import type { FoundPlugin } from '../find.ts'
import { PluginFault } from '../refusal.ts'
import { messageOf } from '../thrown.ts'
import type { LoadBudget } from '../trials.ts'
import { createBroker } from './broker.ts'
import { startHost, type CreatedVenue, type Host } from './host.ts'
import type { HostVenue } from './messages.ts'
import { acceptsNone, findAcceptedWay, insideUpdate, whyNotContained, type ContainmentSettings } from './way.ts'

/** Trading types whose connectors run in hosts. */
export const hostedTypes: readonly TradingType[] = ['AMM']

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

/** The server's side of a connector in a host. */
export interface HostedConnector {
  readonly implementation: Partial<Connector>
  /** Absent where its prices cannot be followed. */
  readonly followPrice?: FollowPrice
}

/** Calls back with the first quote and with each other one, until the returned function is called; `undefined` while there is none. */
export type FollowPrice = (swap: Swap, choice: QuoteChoice, listener: QuoteListener) => () => void

export interface HostedVenue {
  readonly venue: Omit<HostVenue, 'facts' | 'isFollowed'>
  readonly chain: Chain
  readonly remote: RemoteReading<object>
}

export interface HostsOptions {
  readonly budget: LoadBudget
  readonly stallSeconds: number
  readonly containment: ContainmentSettings
  /** The settings `market`. */
  readonly market: { staleBlocks: number; staleBlockSeconds: number; checkSeconds: number; cachedQuotes: number }
  logOf(plugin: string): Log
  onFault(plugin: string): void
  onDeath(plugin: string): void
}

/** Hosts that start at a time: each takes a processor for a while. After this time another one may. */
const [maxStarting, maxTurnMs] = [2, 3_000]
/** Quotes that one host keeps. */
const maxCachedQuotes = 2_000
/** Reading a receipt and making a plan ask nobody. */
const pureMs = 10_000

export function createHosts(options: HostsOptions): Hosts {
  const hosts = new Set<Host>()
  /** By `chain/network`: the hosts with a venue there, and which of theirs it is. */
  const onNetwork = new Map<string, { readonly host: Host; readonly index: number }[]>()
  const waiting: (() => void)[] = []
  let starting = 0
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  /** Settle; never reject. */
  const opening = new Set<Promise<unknown>>()

  async function takeTurn(): Promise<() => void> {
    if (starting >= maxStarting) await new Promise<void>((resolve) => waiting.push(resolve))
    else starting += 1
    let isPassedOn = false
    const passOn = () => {
      if (isPassedOn) return
      isPassedOn = true
      const next = waiting.shift()
      if (next) next()
      else starting -= 1
    }
    // One that hangs delays no other.
    setTimeout(passOn, maxTurnMs).unref()
    return passOn
  }

  const stopAll = (some: readonly Host[]) =>
    Promise.all(
      some.map(async (host) => {
        hosts.delete(host)
        await host.stop()
      }),
    )

  return {
    refused: async () => (acceptsNone(options.containment) ? undefined : whyNotContained(options.containment)),
    async open(found) {
      const { name, folder, entry } = found
      const { budget, stallSeconds } = options
      const way = await findAcceptedWay(options.containment)
      const prepared = await way.prepare('host', [found])
      if (way.kind === 'none')
        options
          .logOf(name)
          .warn({ plugin: name }, 'host of a plugin is not contained (plugins.weakContainment): it can read the files of this user')
      const begun = startHost({
        name,
        budget,
        stallSeconds,
        takeTurn,
        log: options.logOf(name),
        request: { entry: prepared.inside(entry), news: insideUpdate(await hookUpdate([folder]), prepared) },
        spawn: prepared.start,
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
      const brokers = wanted.map(({ venue: { chain, network }, chain: impl, remote }, index) =>
        createBroker({
          chain: impl,
          remote,
          network: `${chain}/${network}`,
          staleBlocks: market.staleBlocks,
          onHead: (head, facts) => host.tell('head', [index, head, facts]),
          log: callee.log,
        }),
      )
      const venues = wanted.map(({ venue, chain }, index): CreatedVenue & { broker: (typeof brokers)[number] } => ({
        venue: () => ({ ...venue, facts: brokers[index]?.facts(), isFollowed: chain.changes !== undefined }),
        broker: brokers[index]!,
      }))
      const local = wanted.map(({ chain }) => chain.local)
      const settings = { ...market, name: callee.plugin, local, cachedQuotes: Math.min(cachedQuotes, maxCachedQuotes) }
      const properties = await host.create(venues, settings)
      const connectors = venues.map((venue, index) => connectorOf(host, index, properties[index], venue.broker, callee))
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

/** The server's side of a connector in a host: what it answers is parsed as any plugin's. @throws PluginFault */
function connectorOf(
  host: Host,
  index: number,
  properties: unknown,
  broker: CreatedVenue['broker'],
  { plugin, log }: { plugin: string; log: Log },
): HostedConnector {
  const { spenders, events, refusals, versions, starts, stops, follows } = isObject(properties) ? properties : {}
  const pure = (method: string, args: readonly unknown[]) => host.ask(method, [index, ...args], AbortSignal.timeout(pureMs))
  const start = async (signal?: AbortSignal) => void (await host.ask('start', [index], signal))
  const members = {
    ...(spenders !== undefined && { spenders }),
    ...(events !== undefined && { events }),
    ...(refusals !== undefined && { refusals }),
    ...(starts === true && {
      async start(signal: AbortSignal) {
        await start(signal)
        host.atRestart(start)
      },
    }),
    ...(stops === true && { stop: async () => void (await host.ask('stop', [index])) }),
    AMM: {
      versions,
      async quote(swap: unknown, choice: unknown, { signal }: { signal: AbortSignal }) {
        const quote = await host.ask('quote', [index, swap, choice], signal)
        // The request's own swap, and the block as this server knows it.
        return isObject(quote) ? { ...quote, swap, head: broker.accept(quote['head']) } : quote
      },
      swap: (quote: unknown, terms: unknown) => pure('swap', [quote, terms]),
      fill: (receipt: unknown, memo: unknown) => pure('fill', [receipt, memo]),
    },
  }
  try {
    // Each member is checked by its contract; all of them answer later, which `isRemote` says.
    const implementation = connectorBoundary(members as unknown as Partial<Connector>, { plugin, log, isRemote: true })
    return { implementation, ...(follows === true && { followPrice: createFollowPrice(host, index, implementation) }) }
  } catch (thrown) {
    throw new PluginFault(
      'create',
      messageOf(thrown),
      'Implement it as the types of sluice/plugin require; the TypeScript compiler shows what is missing.',
    )
  }
}

/** How long a followed price may take. */
const followedMs = 30_000
/** Of all venues of a server, so that a notice names one of them. */
let lastFollowed = 0

/** The host says when a price may have changed; the price itself is asked for, and checked, as any other. */
function createFollowPrice(host: Host, index: number, { AMM }: Partial<Connector>): FollowPrice {
  const followed = new Map<unknown, { refresh(): void; begin(): Promise<void>; lose(): void }>()
  host.onChanged((id) => followed.get(id)?.refresh())
  host.atEnd(() => {
    for (const each of followed.values()) each.lose()
  })
  host.atRestart(() => Promise.all([...followed.values()].map((each) => each.begin())))
  return (swap, choice, listener) => {
    const id = (lastFollowed += 1)
    let [isComputing, isOutdated, last]: [boolean, boolean, QuoteUpdate | 'none yet'] = [false, false, 'none yet']
    const tell = (update: QuoteUpdate) => {
      if (followed.has(id) && (update !== undefined || last !== undefined)) listener((last = update))
    }
    async function compute(): Promise<void> {
      isOutdated = isComputing
      if (isComputing) return
      isComputing = true
      do {
        isOutdated = false
        try {
          tell(await AMM?.quote(swap, choice, { signal: AbortSignal.timeout(followedMs) }))
        } catch (error) {
          tell(updateOfFailure(error))
        }
      } while (isOutdated)
      isComputing = false
    }
    const begin = async () => {
      try {
        await host.ask('follow', [index, id, swap, choice], AbortSignal.timeout(followedMs))
      } catch (error) {
        tell(updateOfFailure(error))
      }
    }
    followed.set(id, { begin, refresh: () => void compute(), lose: () => tell(undefined) })
    void begin()
    return () => {
      followed.delete(id)
      host.ask('unfollow', [index, id]).catch(() => {})
    }
  }
}
