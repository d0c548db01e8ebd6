import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import path from 'node:path'
import { asFunction, asValue, createContainer, InjectionMode } from 'awilix/browser'
import type { Logger } from 'pino'
import { failingParts } from './handlers/readiness.ts'
import { withTimeout } from './base/async.ts'
import { describeClosed } from './config/clients.ts'
import { StartError } from './config/problems.ts'
import type { Settings } from './config/settings.ts'
import { openLocalSites, wantedSites } from './devnet/local-sites.ts'
import { bringUpDevnet, forgetDevnet, type Devnet } from './devnet/start-devnet.ts'
import { createEvents, type Events } from './events/events.ts'
import { createApprovedSpenders } from './handlers/amm/approved.ts'
import { toQuoteVenue } from './handlers/amm/quote.ts'
import { outcomeToJournal } from './handlers/fills.ts'
import type { Handlers, Services } from './handlers/context.ts'
import { handlers } from './handlers/handlers.ts'
import { compareMined, shownLosses, shownQuarantines } from './handlers/mined-bounds.ts'
import { createApp } from './http/app.ts'
import { measureLiveState, measureNodes, measurePlugins, measureQuotes, measureStore, measureTransactions } from './http/gauges.ts'
import { countChanges, createMetrics, liveStateCounters, observeJournal, type Metrics } from './http/metrics.ts'
import { listen } from './http/server.ts'
import { createLiveState } from './live-state/live-state.ts'
import {
  allowedPlugins,
  blockProcessExit,
  buildRegistry,
  createHosts,
  createReconciler,
  createRunningPlugins,
  handleUncaught,
  hostOptions,
  loadLater,
  loadPlugins,
  lockOfStart,
  logWarnings,
  pluginOptions,
  pluginWarnings,
  requiredHere,
  startVenues,
  startWatchdog,
  transactionTargets,
  type LoadResult,
  type PluginChanges,
  type Refusal,
  type RunningPlugins,
} from './plugins/index.ts'
import { createFairTurns, type FairTurns } from './base/fair-turns.ts'
import { command } from './base/layout.ts'
import { createLog } from './config/log.ts'
import { askPassphrase, closeWrongAddresses, draftOf, openSigner, permitDraft, signerFiles } from './wallet/signing.ts'
import { openStore } from './store/open-store.ts'
import { StoreError, type Store } from './store/store.ts'
import { ensureCertificates } from './tls/ensure-certificates.ts'
import { createArchiveFiles } from './transactions/archive-files.ts'
import { createArchiver } from './transactions/archiver.ts'
import { railName } from './transactions/entry.ts'
import { createIdempotency, type Idempotency } from './transactions/idempotency.ts'
import type { Journal } from './transactions/journal/journal.ts'
import { sqlJournal } from './transactions/journal/sql-journal.ts'
import { sqlLeases, type Leases } from './transactions/leases.ts'
import { createQuarantine } from './transactions/quarantine.ts'
import { createTransactions, type Transactions } from './transactions/transactions.ts'

export interface Kernel {
  /** Where the server listens. */
  url: string
  /** When the start began, by the steady clock. */
  startedAt: number
  log: Logger
  services: Services
  devnet: Devnet | undefined
  /** Simulated exchanges beside the devnet. */
  sites: readonly string[]
  /** Grows while plugins in hosts are being loaded. */
  plugins: Pick<LoadResult, 'loaded' | 'refused'>
  /** Settles when no plugin is pending any more. Never rejects. */
  pluginsLoaded: Promise<void>
  /** Loads a plugin again while its author writes it. */
  reloadPlugin: PluginChanges['reload']
  /** For the operator; none of them stopped the start. */
  warnings: readonly string[]
  /** Lets requests under way end, then stops every part. */
  stop(): Promise<void>
}

export interface StartOptions {
  /** Shows a line about the progress to the operator. */
  print(line: string): void
  /** A devnet that runs already and outlives the server. */
  devnet?: Devnet
  /** For the author of plugins: their hosts say which function loops. */
  sayLoops?: boolean
}

/** What is built in is ready before hosts start, unless its nodes are away. */
const maxHostsWaitMs = 5_000
/** After the time for requests under way: for the answers to those that are aborted. */
const lastAnswersMs = 500

/** What the container injects, by name. */
interface Cradle {
  settings: Settings
  handlers: Handlers
  log: Logger
  metrics: Metrics
  turns: FairTurns
  store: Store
  journal: Journal
  leases: Leases
  idempotency: Idempotency
  transactions: Transactions
  services: Services
  events: Events
}

/** Everything that happens at start, in its order. Parts stop in the opposite order. @throws StartError, ConfigError */
export async function startKernel(asRead: Settings, { print, devnet: running, sayLoops = false }: StartOptions): Promise<Kernel> {
  const startedAt = performance.now()
  const settings = closeWrongAddresses(asRead)
  const container = createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true })
  container.register({
    settings: asValue(settings),
    handlers: asValue(handlers),
    log: asFunction(createLog).singleton(),
    metrics: asFunction(createMetrics).singleton(),
    turns: asFunction(createFairTurns).singleton(),
  })
  const { log, metrics } = container.cradle
  for (const { closed, ...why } of settings.closed) log.error(why, `a right in conf is wrong: ${closed}`)
  const stops: (() => unknown)[] = []
  let drainEndsAt = Infinity
  const drainMs = () => Math.max(0, drainEndsAt - performance.now())
  const stop = async () => {
    drainEndsAt = performance.now() + settings.server.drainSeconds * 1000
    for (const each of stops.splice(0).toReversed()) await each()
    await container.dispose()
  }

  try {
    const { made } = await ensureCertificates({ certsDir: settings.ssl.certsDir })
    if (made) print(`Made certificates in ${settings.ssl.certsDir}.`)

    // Unique to this process: a predecessor that died has another id, so its claims are recognised as dead.
    const [serverId, serverName] = [randomUUID(), `${hostname()}, process ${process.pid}`]
    const store = await openServerStore(settings, serverName, log)
    stops.push(() => store.close())
    measureStore(metrics, store)
    container.register({
      store: asValue(store),
      journal: asFunction(({ store, log, metrics }: Cradle) => observeJournal(sqlJournal(store, log), metrics)).singleton(),
      leases: asFunction(({ store, log, metrics }: Cradle) =>
        sqlLeases({ store, serverId, serverName, log, onChange: (change) => metrics.queueChanges.inc({ change }) }),
      ).singleton(),
      idempotency: asFunction(({ store, log, metrics }: Cradle) =>
        createIdempotency({ store, serverId, log, onReplay: () => metrics.replays.inc() }),
      ).singleton(),
    })
    stops.push(() => container.cradle.idempotency.stop())

    /** Until they run: for what goes wrong while they are loaded. */
    let pluginsNow: Pick<RunningPlugins, 'loaded' | 'refused'> = { loaded: [], refused: [] }
    const logRefused = (some: readonly Refusal[]) => {
      for (const { name, step, reason, remedy, folder } of some)
        log.error({ plugin: name, folder, step, remedy }, `plugin refused: ${reason}`)
    }
    const parts = { log, plugins: () => pluginsNow.loaded }
    const allowExit = blockProcessExit(parts.plugins)
    const ignoreUncaught = handleUncaught({ ...parts, onPluginFault: (plugin) => metrics.pluginFaults.inc({ plugin }) })
    stops.push(logWarnings(parts), ignoreUncaught, allowExit)
    const lock = lockOfStart(settings)
    const allowed = await allowedPlugins(settings)
    const notAllowed = notAllowedYet(allowed.tried)
    for (const text of notAllowed) log.warn({ plugins: allowed.tried }, text)
    // Unlocking takes as long as scrypt does: it goes on beside the devnet and the plugins.
    const files = signerFiles(settings, allowed)
    const siteNames = running === undefined && settings.devnet.enabled ? wantedSites(settings, allowed.found) : []
    const opening = openSigner({ settings, log, passphrase: await askPassphrase(settings), files, devnetChains: siteNames })
    stops.push(async () => (await opening.catch(() => undefined))?.stop())
    const devnet = running ?? (settings.devnet.enabled ? await bringUpDevnet(settings, print, { allowed, hostsLater: true }) : undefined)
    if (devnet && devnet !== running) {
      stops.push(() => devnet.stop())
      await forgetDevnet(store)
      for (const name of siteNames) await forgetDevnet(store, name)
    }
    const sites = devnet && (await openLocalSites(siteNames, devnet.rpcUrl, log))
    stops.push(() => sites?.stop())

    // Before plugins run in this thread: a plugin that passes its trial may still loop here.
    const watchdog = startWatchdog({ stallSeconds: settings.limits.pluginStallSeconds })
    stops.push(() => watchdog.stop())
    watchdog.watch(allowed.found)
    const meterOf = (chain: string, network: string) => ({
      rpc: (method: string, outcome: 'ok' | 'error') => metrics.rpcCalls.inc({ chain, network, method, outcome }),
    })
    const hosts = createHosts({
      ...hostOptions(settings, log),
      sayLoops,
      onFault: (plugin) => metrics.pluginFaults.inc({ plugin }),
      onDeath: (plugin) => metrics.hostDeaths.inc({ plugin }),
    })
    stops.push(() => hosts.stop())
    const plugins = await loadPlugins(
      pluginOptions({
        settings,
        plugins: allowed,
        log,
        devnetUrl: devnet?.rpcUrl,
        ...(sites && { localHosts: sites.addresses }),
        meterOf,
        hosts,
        hostsLater: true,
      }),
    )
    pluginsNow = plugins
    logRefused(plugins.refused)
    const required = requiredHere(settings, allowed.found, devnet !== undefined)
    const warnings = [
      ...settings.closed.map((each) => `${describeClosed(each)} ${each.remedy}`),
      ...settings.warnings,
      ...pluginWarnings(settings, plugins),
      ...notAllowed,
    ]

    const signer = await opening
    warnings.push(...signer.locked())

    const venues = startVenues(container, plugins.loaded)
    stops.push(() => venues.stop())
    const registry = buildRegistry({ ...plugins, running: venues.running, ...(sites && { whyAway: sites.whyAway }) })
    measurePlugins(metrics, registry)
    measureNodes(metrics, registry)

    const liveState = createLiveState(settings.market, settings.data.dir, log, liveStateCounters(metrics))
    stops.push(() => liveState.stop())
    const following: Services['following'] = {
      ageSeconds: liveState.following.ageSeconds,
      expectBlock(network, number) {
        liveState.following.expectBlock(network, number)
        hosts.expectBlock(network, number)
      },
    }
    measureLiveState(metrics, liveState)
    measureQuotes(metrics, registry)

    const quarantine = createQuarantine({
      store,
      log,
      onBreach(breach) {
        metrics.breaches.inc({ plugin: breach.plugin })
        const { plugin, version, chain, network, address, txHash } = breach
        const lost = shownLosses(breach, registry.networks)
        const words = lost.map(({ symbol, token, amount, how }) => `${amount} ${symbol ?? `of ${token}`} ${how}`).join(', ')
        log.error(
          { plugin, version, chain, network, address, txHash, lost },
          `plugin quarantined: ${txHash} did more to the wallet than its plan was allowed (${words}); nothing is signed for ${plugin} until you have looked at it and type: ${command} plugin lift ${plugin}`,
        )
      },
      onChange: (inForce) => registry.setQuarantined(shownQuarantines(inForce, registry.networks)),
    })
    stops.push(() => quarantine.stop())
    await quarantine.refresh()

    const targets = [...transactionTargets(registry)]
    const count = countChanges(metrics)
    container.register({
      transactions: asFunction(({ journal, leases, log }: Cradle) =>
        createTransactions({
          journal,
          leases,
          targets,
          sign: ({ signable, replaces, ...request }) => signer.sign({ ...request, draft: draftOf(signable, replaces) }),
          signPermit({ permit, ...request }) {
            const { chainId } = registry.network(request.chain, request.network).impl
            return signer.sign({ ...request, draft: permitDraft(permit, chainId) })
          },
          log,
          readOutcome: (entry) => outcomeToJournal(entry, registry),
          compareMined: (entry) =>
            compareMined(entry, {
              registry,
              quarantine,
              entriesOf: async (of) => (await journal.list({ ...of, limit: 100 })).entries,
              timeoutMs: settings.server.requestTimeoutSeconds * 1000,
            }),
          mayRaise: async ({ connector }) => (connector === undefined ? undefined : quarantine.refuse(connector)),
          isLoading: () => registry.plugins.some(({ state }) => state === 'pending'),
          walletQueue: settings.limits.walletQueue,
          onChange(entry, before) {
            count(entry, before)
            if (entry.landed && entry.signer === undefined) following.expectBlock(entry, BigInt(entry.landed.blockNumber))
          },
        }),
      ).singleton(),
    })
    const { transactions, journal } = container.cradle
    stops.push(() => transactions.stop(drainMs()))
    const archiver = createArchiver({
      journal,
      leases: container.cradle.leases,
      files: createArchiveFiles(path.join(settings.data.dir, 'archive')),
      keepDays: keepDaysOf(settings),
      log,
      onArchived: (count) => metrics.archived.inc(count),
      onFailing: (isFailing) => metrics.archiveFailing.set(Number(isFailing)),
    })
    stops.push(() => archiver.stop())
    measureTransactions(metrics, { journal, networks: targets, log })
    await transactions.recovered

    const services: Services = {
      registry,
      settings,
      books: liveState.books,
      quotes: liveState.quotes,
      walletChecks: liveState.walletChecks,
      approvedSpenders: createApprovedSpenders(),
      turns: container.cradle.turns,
      following,
      transactions,
      archiver,
      quarantine,
      wallets: { all: signer.wallets },
      failing: () => failingParts({ signer, store, registry, required }),
    }
    container.register({ services: asValue(services), events: asFunction(createEvents).singleton() })
    const listener = await listen(container.build(createApp), settings, log)
    stops.push(async () => {
      const closed = listener.stop(drainMs() + lastAnswersMs)
      await withTimeout(closed, drainMs(), () => {})
      // Requests that still run are aborted now. Their callers are told the state of their transactions.
      await Promise.all([closed, transactions.stop(0)])
    })

    const current = createRunningPlugins({
      ...plugins,
      venues,
      registry,
      hosts,
      onTarget(target) {
        if (targets.some((each) => railName(each) === railName(target))) return
        targets.push(target)
        transactions.watch(target)
      },
      onReplaced: (connector) => container.cradle.events.endOf(connector),
    })
    pluginsNow = current

    const isWarm = warmUpQuotes(services)
    const settled = [...venues.running.values()].map((each) => each.settled)
    const late = loadLater({
      plugins,
      after: withTimeout(Promise.all([isWarm, ...settled]), maxHostsWaitMs, () => {}),
      log,
      // Its venues read their contracts when they start. Nothing of a plugin is deployed that is refused.
      deploy: async (plugin) => devnet?.deployAdded(plugin),
      async onResult(more) {
        const known = new Set(current.refused.map(({ folder }) => folder))
        logRefused(more.refused.filter(({ folder }) => !known.has(folder)))
        current.add(more)
        for (const plugin of more.loaded) {
          const why = await devnet?.whyNotDeployed(plugin)
          if (why !== undefined && registry.note(plugin.name, why)) log.warn({ plugin: plugin.name }, `plugin is loaded, but: ${why}`)
        }
      },
    })
    const changes = createReconciler({
      settings,
      lock,
      plugins: current,
      loader: plugins,
      registry,
      journal,
      ...(devnet && { devnet }),
      after: late.done,
      log,
    })
    stops.push(() => changes.stop())
    stops.push(() => late.stop())

    return {
      url: listener.url,
      startedAt,
      log,
      services,
      devnet,
      sites: sites?.names ?? [],
      plugins: current,
      pluginsLoaded: late.done,
      reloadPlugin: changes.reload,
      warnings,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One line, however many there are. */
function notAllowedYet(plugins: readonly string[]): string[] {
  if (plugins.length === 0) return []
  const [who, each] =
    plugins.length === 1
      ? [`plugin ${plugins[0]} runs without having been allowed`, 'it has']
      : [`plugins ${plugins.join(', ')} run without having been allowed`, 'each has']
  return [
    `The ${who}, because this server only tries. With a key or a real network ${each} to be: ${command} plugin allow ${plugins.length === 1 ? plugins[0] : '<name>'}`,
  ]
}

/** A database keeps everything unless it is told otherwise: the archive is on this server's disk, which may not outlive the server. */
const keepDaysOf = ({ store: { keepDays, url } }: Settings): number | undefined => keepDays ?? (url === undefined ? 90 : undefined)

/** @throws StartError where another server holds the store, or a newer version wrote it */
async function openServerStore({ data, store }: Settings, serverName: string, log: Logger): Promise<Store> {
  try {
    return await openStore({ dataDir: data.dir, url: store.url, serverName, log })
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(error.message)
    throw error
  }
}

/** Loads the state of pairs that were quoted before the restart. Networks that are not `required` wait until they are asked for. */
async function warmUpQuotes({ registry, quotes }: Pick<Services, 'registry' | 'quotes'>): Promise<void> {
  const warm: Promise<unknown>[] = []
  for (const network of registry.networks) {
    if (!network.required) continue
    for (const venue of registry.venuesOn(network.chain, network.network)) {
      const followed = toQuoteVenue(network, venue)
      if (followed) warm.push(venue.wake().then(() => (venue.notReady() === undefined ? quotes.warmUp(followed) : undefined)))
    }
  }
  await Promise.all(warm)
}
