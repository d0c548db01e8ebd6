import { asFunction, asValue, createContainer, InjectionMode } from 'awilix'
import type { Logger } from 'pino'
import { backgroundFailures } from './boot/background-failures.ts'
import { directoryOf } from './boot/directory.ts'
import { pluginOptions } from './boot/plugin-options.ts'
import { pluginWarnings } from './boot/plugin-warnings.ts'
import { failingParts } from './boot/readiness.ts'
import { askPassphrase, openSigner } from './boot/signer.ts'
import { signerPolicy } from './boot/signer-policy.ts'
import { startVenues } from './boot/venues.ts'
import type { Settings } from './config/index.ts'
import { bringUpDevnet } from './devnet/bring-up.ts'
import type { Devnet } from './devnet/index.ts'
import { createApp } from './http/app.ts'
import type { Idempotency } from './http/idempotency.ts'
import { memoryIdempotency } from './http/memory-idempotency.ts'
import { createMetrics, measureDirectory, type Metrics } from './http/metrics.ts'
import { listen } from './http/server.ts'
import { findPlugins, loadPlugins, startWatchdog, type LoadedPlugin, type LoadResult } from './loader/index.ts'
import { createLog } from './log.ts'
import { StartError } from './start-error.ts'
import { ensureCertificates } from './tls/index.ts'
import { createTransactions, memoryJournal, soleLeases, type Journal, type Sign, type Transactions } from './transactions/index.ts'
import type { Services, Verbs } from './verbs/context.ts'
import { verbs } from './verbs/index.ts'

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
  verbs: Verbs
  log: Logger
  metrics: Metrics
  idempotency: Idempotency
  journal: Journal
  sign: Sign
  transactions: Transactions
  services: Services
}

export interface StartOptions {
  /** Tells a person what is being done. */
  say(line: string): void
  /** A devnet that runs already, and goes on when the server ends. */
  devnet?: Devnet
}

/** Everything that happens at start, in its order. */
export async function startKernel(settings: Settings, { say, devnet: running }: StartOptions): Promise<Kernel> {
  const startedAt = performance.now()
  if (settings.store.url !== undefined)
    throw new StartError('store.url names a database, and this version keeps its journal in memory. Remove it from conf/server.yml.')
  const container = createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true })
  container.register({
    settings: asValue(settings),
    verbs: asValue(verbs),
    log: asFunction(createLog).singleton(),
    metrics: asFunction(createMetrics).singleton(),
    idempotency: asFunction(memoryIdempotency).singleton(),
  })
  const { log, metrics } = container.cradle
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).toReversed()) await each()
    await container.dispose()
  }

  try {
    const { made } = await ensureCertificates({ certsDir: settings.ssl.certsDir })
    if (made) say(`Made certificates in ${settings.ssl.certsDir}.`)

    let loaded: readonly LoadedPlugin[] = []
    stops.push(backgroundFailures({ log, metrics }, () => loaded))
    // Unlocking takes as long as scrypt does: it goes on beside the devnet and the plugins.
    const opening = openSigner({ settings, log, passphrase: await askPassphrase(settings) })
    stops.push(async () => (await opening.catch(() => undefined))?.stop())
    const devnet = running ?? (settings.devnet.enabled ? await bringUpDevnet(settings, say) : undefined)
    if (devnet && devnet !== running) stops.push(() => devnet.stop())

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

    const venues = startVenues(container, loaded)
    stops.push(() => venues.stop())
    const directory = directoryOf(plugins, venues.running)
    measureDirectory(metrics, directory)

    container.register({
      sign: asValue<Sign>(({ signable, ...request }) => signer.sign({ ...request, draft: { scheme: 'secp256k1', bytes: signable.bytes } })),
      journal: asFunction(() => memoryJournal()).singleton(),
      transactions: asFunction(({ journal, sign, log }: Cradle) =>
        createTransactions({
          journal,
          leases: soleLeases(),
          sites: directory.networks,
          sign,
          log,
          walletQueue: settings.limits.walletQueue,
        }),
      ).singleton(),
    })
    const { transactions } = container.cradle
    stops.push(() => transactions.stop(settings.server.drainSeconds * 1000))

    const services: Services = {
      directory,
      settings,
      transactions,
      wallets: { all: signer.wallets },
      failing: () => failingParts(signer, directory),
    }
    container.register({ services: asValue(services) })
    const listener = await listen(container.build(createApp), settings, log)
    stops.push(() => listener.stop(settings.server.drainSeconds * 1000))

    return { url: listener.url, startedInMs: performance.now() - startedAt, services, devnet, plugins, warnings, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
