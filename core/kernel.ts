import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { asFunction, asValue, createContainer, InjectionMode } from 'awilix'
import type { Logger } from 'pino'
import { StartError } from './config/problems.ts'
import type { Settings } from './config/settings.ts'
import { forgetDevnet, bringUpDevnet, type Devnet } from './devnet/start-devnet.ts'
import { toQuoteVenue } from './handlers/amm/price.ts'
import type { Services, Handlers } from './handlers/context.ts'
import { handlers as verbs } from './handlers/handlers.ts'
import { createApp } from './http/app.ts'
import {
  measureNodes,
  liveStateCounters,
  measureLiveState,
  measureQuotes,
  createMetrics,
  measureDirectory,
  measureStore,
  type Metrics,
} from './http/metrics.ts'
import { listen } from './http/server.ts'
import { measureTransactions, observeJournal, countChanges } from './http/transaction-metrics.ts'
import { createLiveState } from './live-state/live-state.ts'
import { findPlugins } from './loader/find.ts'
import { pluginOptions, pluginWarnings, loadPlugins, type LoadResult } from './loader/load.ts'
import type { LoadedPlugin } from './loader/loaded-plugin.ts'
import { startVenues } from './loader/start-venue.ts'
import { backgroundFailures } from './loader/uncaught.ts'
import { startWatchdog } from './loader/watchdog.ts'
import { createLog } from './log.ts'
import { buildRegistry, failingParts, transactionTargets } from './registry.ts'
import { askPassphrase, openSigner, draftOf, signerPolicy } from './signing.ts'
import { openStore } from './store/open-store.ts'
import { type Store, StoreError } from './store/store.ts'
import { ensureCertificates } from './tls/ensure-certificates.ts'
import { createIdempotency, type Idempotency } from './transactions/idempotency.ts'
import type { Journal } from './transactions/journal/journal.ts'
import { sqlJournal } from './transactions/journal/sql-journal.ts'
import { sqlLeases, type Leases } from './transactions/leases.ts'
import type { Sign } from './transactions/submit-request.ts'
import { createTransactions, type Transactions } from './transactions/transactions.ts'

export interface Kernel {
  /** Where the server listens. */
  url: string
  startedInMs: number
  services: Services
  devnet: Devnet | undefined
  plugins: LoadResult
  /** To be told to the operator; nothing that stopped the start. */
  warnings: readonly string[]
  /** Lets what is under way end, then ends every part. */
  stop(): Promise<void>
}

/** What the container injects, by name. */
interface Cradle {
  settings: Settings
  verbs: Handlers
  log: Logger
  metrics: Metrics
  store: Store
  idempotency: Idempotency
  journal: Journal
  leases: Leases
  sign: Sign
  transactions: Transactions
  services: Services
}

export interface StartOptions {
  /** Tells a person what is being done. */
  print(line: string): void
  /** A devnet that runs already, and goes on when the server ends. */
  devnet?: Devnet
}

/** Everything that happens at start, in its order. */
export async function startKernel(settings: Settings, { print: say, devnet: running }: StartOptions): Promise<Kernel> {
  const startedAt = performance.now()
  const container = createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true })
  container.register({
    settings: asValue(settings),
    verbs: asValue(verbs),
    log: asFunction(createLog).singleton(),
    metrics: asFunction(createMetrics).singleton(),
  })
  const { log, metrics } = container.cradle
  const stops: (() => unknown)[] = []
  let drainedAt = Infinity
  const drainMs = () => Math.max(0, drainedAt - performance.now())
  const stop = async () => {
    drainedAt = performance.now() + settings.server.drainSeconds * 1000
    for (const each of stops.splice(0).toReversed()) await each()
    await container.dispose()
  }

  try {
    const { made } = await ensureCertificates({ certsDir: settings.ssl.certsDir })
    if (made) say(`Made certificates in ${settings.ssl.certsDir}.`)

    // Of this process alone: who died under another id can be told from it.
    const [serverId, serverName] = [randomUUID(), `${hostname()}, process ${process.pid}`]
    const store = await openServerStore(settings, serverName, log)
    stops.push(() => store.close())
    measureStore(metrics, store)
    container.register({
      store: asValue(store),
      journal: asFunction(({ store }: Cradle) => observeJournal(sqlJournal(store, log), metrics)).singleton(),
      leases: asFunction(({ store }: Cradle) =>
        sqlLeases({ store, url: settings.store.url, serverId, serverName, log, onChange: (change) => metrics.laneChanges.inc({ change }) }),
      ).singleton(),
      idempotency: asFunction(({ store }: Cradle) =>
        createIdempotency({ store, serverId, log, onReplay: () => metrics.replays.inc() }),
      ).singleton(),
    })
    stops.push(() => container.cradle.idempotency.stop())

    let loaded: readonly LoadedPlugin[] = []
    stops.push(backgroundFailures({ log, metrics }, () => loaded))
    // Unlocking takes as long as scrypt does: it goes on beside the devnet and the plugins.
    const opening = openSigner({ settings, log, passphrase: await askPassphrase(settings) })
    stops.push(async () => (await opening.catch(() => undefined))?.stop())
    const devnet = running ?? (settings.devnet.enabled ? await bringUpDevnet(settings, say) : undefined)
    if (devnet && devnet !== running) {
      stops.push(() => devnet.stop())
      await forgetDevnet(store)
    }

    // Before any of their code runs here: what passes its trial may still loop in this thread.
    const watchdog = startWatchdog({ stallSeconds: settings.limits.pluginStallSeconds })
    stops.push(() => watchdog.stop())
    watchdog.watch(findPlugins(settings.plugins.folders, settings.plugins.disabled).found)
    const plugins = await loadPlugins(pluginOptions({ settings, log, metrics, devnet }))
    loaded = plugins.loaded
    for (const { name, step, reason, cure, folder } of plugins.refused)
      log.error({ plugin: name, folder, step, cure }, `plugin refused: ${reason}`)
    const chains = loaded.filter((each) => each.kind === 'chain')
    const connectors = loaded.filter((each) => each.kind === 'connector')
    const warnings = [...settings.warnings, ...pluginWarnings(settings, plugins)]

    const signer = await opening
    await signer.setPolicy(signerPolicy(chains, connectors, settings.wallet.allowedSpenders))

    const venues = startVenues(loaded)
    stops.push(() => venues.stop())
    const directory = buildRegistry(plugins, venues.running)
    measureDirectory(metrics, directory)
    measureNodes(metrics, directory)

    const market = createLiveState(settings.market, settings.data.dir, log, liveStateCounters(metrics))
    stops.push(() => market.stop())
    measureLiveState(metrics, market)
    measureQuotes(metrics, directory)

    const count = countChanges(metrics)
    container.register({
      sign: asValue<Sign>(({ signable, ...request }) => signer.sign({ ...request, draft: draftOf(signable) })),
      transactions: asFunction(({ journal, leases, sign, log }: Cradle) =>
        createTransactions({
          journal,
          leases,
          targets: transactionTargets(directory),
          sign,
          log,
          walletQueue: settings.limits.walletQueue,
          onChange(entry, before) {
            count(entry, before)
            if (entry.landed && entry.signer === undefined) market.following.expectBlock(entry, BigInt(entry.landed.blockNumber))
          },
        }),
      ).singleton(),
    })
    const { transactions, journal } = container.cradle
    stops.push(() => transactions.stop(drainMs()))
    measureTransactions(metrics, { journal, networks: transactionTargets(directory), log })
    await transactions.recovered

    const services: Services = {
      registry: directory,
      settings,
      books: market.books,
      quotes: market.quotes,
      recalls: market.walletChecks,
      following: market.following,
      transactions,
      wallets: { all: signer.wallets },
      failing: () => failingParts(signer, store, directory),
    }
    container.register({ services: asValue(services) })
    const listener = await listen(container.build(createApp), settings, log)
    // At once: what still comes on open connections is told that the server stops.
    stops.push(() => Promise.all([listener.stop(drainMs()), transactions.stop(drainMs())]))

    warmUpQuotes(services)
    return { url: listener.url, startedInMs: performance.now() - startedAt, services, devnet, plugins, warnings, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @throws StartError, where it cannot be opened: another server has it, or a newer version wrote it */
export async function openServerStore({ data, store }: Settings, serverName: string, log: Logger): Promise<Store> {
  try {
    return await openStore({ dataDir: data.dir, url: store.url, serverName, log })
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(error.message)
    throw error
  }
}

/** What was asked about before is in memory again soon after the start, on the networks that are required: others wake when they are asked for. */
export function warmUpQuotes({ registry: directory, quotes }: Pick<Services, 'registry' | 'quotes'>): void {
  for (const network of directory.networks) {
    if (!network.required) continue
    for (const venue of directory.venuesOn(network.chain, network.network)) {
      const followed = toQuoteVenue(network, venue)
      if (followed) void venue.wake().then(() => (venue.notReady() === undefined ? quotes.warmUp(followed) : undefined))
    }
  }
}
