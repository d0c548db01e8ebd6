// Telling people: only with conf/alerts.yml, and what it takes is loaded then.
import type { AlertDesk, AlertSources, AlertWatch, WalletNetwork } from '../alerts/index.ts'
import type { PortfolioRequest } from '../api/portfolio.ts'
import { command } from '../base/layout.ts'
import { railName } from '../transactions/entry.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import { scopeWords } from '../config/stops.ts'
import { isInUse } from '../plugins/index.ts'
import type { ServerParts } from './server-parts.ts'

export async function openAlertDesk({ settings, store, identity, log, metrics }: ServerParts): Promise<AlertDesk | undefined> {
  const { alerts } = settings
  if (!alerts) return undefined
  const { createAlertTable, createChannels, createOutbox, createRuleHealth, rules } = await import('../alerts/index.ts')
  return {
    rules,
    server: identity.serverName,
    health: createRuleHealth((rule, isFailing) => metrics.alertRuleFailing.set({ rule }, isFailing ? 1 : 0)),
    table: createAlertTable({ store, serverId: identity.serverId }),
    outbox: createOutbox({
      store,
      channels: createChannels(alerts),
      serverId: identity.serverId,
      log,
      onResult: (channel, outcome) => metrics.alertMessages.inc({ channel, outcome }),
    }),
  }
}

/** Looks from the moment that the server answers. */
export async function watchForAlerts(parts: ServerParts): Promise<{ stop(): Promise<void> } | undefined> {
  const { settings, alertDesk, store, log, services, metrics, transactions, registry } = parts
  if (!settings.alerts || !alertDesk) return undefined
  const { createAlertWatch, createHeartbeat, createPortfolioReading } = await import('../alerts/index.ts')
  const watch: AlertWatch = createAlertWatch({
    settings: settings.alerts,
    sources: alertSources(parts, createPortfolioReading),
    ...alertDesk,
    isShared: store.kind === 'postgres',
    log,
  })
  const ends = [transactions.events.onWrite(() => watch.trigger('journal')), registry.onChange(() => watch.trigger('plugins'))]
  const heartbeat = createHeartbeat({
    settings: settings.alerts.heartbeat,
    failing: services.failing,
    log,
    onBeat: (outcome) => metrics.alertMessages.inc({ channel: 'heartbeat', outcome }),
  })
  return {
    async stop() {
      for (const end of ends) end()
      await heartbeat?.stop()
      await watch.stop()
    },
  }
}

/** By wallets where a damaged entry spoils the reading of all. */
async function readOpenTransactions(journal: Pick<Journal, 'openQueues' | 'unfinished'>): ReturnType<AlertSources['openTransactions']> {
  const queues = await journal.openQueues()
  const byRail = new Map<string, (typeof queues)[number][]>()
  for (const queue of queues) byRail.set(railName(queue), [...(byRail.get(railName(queue)) ?? []), queue])
  const found = await Promise.all(
    [...byRail.values()].map(async (ofRail) => {
      const [first] = ofRail
      if (!first) return { entries: [] }
      const { chain, network, connector } = first
      try {
        return { entries: await journal.unfinished({ chain, network, connector }) }
      } catch {
        const each = await Promise.allSettled(ofRail.map((queue) => journal.unfinished(queue)))
        return {
          entries: each.flatMap((read) => (read.status === 'fulfilled' ? read.value : [])),
          unread: each.flatMap((read, index) =>
            read.status === 'rejected' ? `${chain}/${network} ${ofRail[index]?.address}: ${wordsOf(read.reason)}` : [],
          ),
        }
      }
    }),
  )
  const unread = found.flatMap((each) => each.unread ?? [])
  return { entries: found.flatMap(({ entries }) => entries), ...(unread.length > 0 && { unread: unread.join(' ') }) }
}

const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : 'it cannot be read')

/** Readings of the portfolio within this time are one, for the rules that look at it. */
const portfolioKeptMs = 1_000

type CreateReading = typeof import('../alerts/index.ts').createPortfolioReading

function alertSources(parts: ServerParts, createPortfolioReading: CreateReading): AlertSources {
  const { registry, journal, metrics, services, clients, liveState } = parts
  const readPortfolio = createPortfolioReading({
    networks: () => walletNetworks(parts),
    call: (scope, signal) => callPortfolio(parts, scope, signal),
  })
  let portfolio: { readonly at: number; readonly answer: ReturnType<AlertSources['portfolio']> } | undefined
  return {
    portfolio(signal) {
      if (!portfolio || performance.now() - portfolio.at > portfolioKeptMs) {
        const answer = readPortfolio(signal)
        const reading = { at: performance.now(), answer }
        portfolio = reading
        answer.catch(() => {
          if (portfolio === reading) portfolio = undefined
        })
      }
      return portfolio.answer
    },
    openTransactions: () => readOpenTransactions(journal),
    networks: () => registry.networks,
    failing: () => services.failing(),
    waitingApprovals: () => services.approvals.list({ state: 'waiting', limit: mostApprovals }),
    stops: () => services.stops.known().map(({ scope, ...stop }) => ({ ...stop, of: scopeWords(scope) })),
    clientsFileWrong: () => clients.isWrong(),
    refusedPlugins: () =>
      registry.plugins.flatMap(({ name, state, refusedAt, reason, notTakenUp, whyDown, unserved = [] }) => {
        // One that nobody has allowed is used by nobody.
        const isRefused = state === 'refused' && refusedAt !== 'find' && refusedAt !== 'consent'
        const why = isRefused ? (reason ?? 'it was refused') : (whyDown?.() ?? notTakenUp)
        const wrong = unserved.flatMap(({ chain, network, reason: problem, isWrong }) =>
          isWrong ? [{ plugin: `${name} on ${chain}/${network}`, reason: problem }] : [],
        )
        return [...(why === undefined ? [] : [{ plugin: name, reason: why }]), ...wrong]
      }),
    nodes: () =>
      registry.networks
        .filter(isInUse)
        .flatMap(({ chain, network, impl }) => (impl.nodes?.() ?? []).map((node) => ({ ...node, chain, network }))),
    blockAges: () =>
      liveState.following.all().flatMap(({ chain, network, synchroniser: { tip } }) => {
        const on = registry.networks.find((each) => each.chain === chain && each.network === network)
        return tip && on && isInUse(on) && !on.impl.local
          ? [{ chain, network, seconds: liveState.following.ageSeconds({ chain, network }, tip) }]
          : []
      }),
    heads: () =>
      new Map(
        liveState.following
          .all()
          .flatMap(({ chain, network, synchroniser: { tip } }) => (tip ? [[`${chain}/${network}`, Number(tip.number)] as const] : [])),
      ),
    limitUsage: () =>
      Promise.all(
        clients.list.map(async ({ name: client }) => {
          try {
            return { client, usage: await services.limitUsage(client) }
          } catch {
            return { client }
          }
        }),
      ),
    limitRefusals: async () =>
      (await metrics.limitRefusals.get()).values.map(({ labels, value: count }) => ({
        client: String(labels.client),
        limit: String(labels.limit),
        count,
      })),
    // Not the metric, which counts tokens that change by themselves, too.
    unexplainedBalances: async () => parts.dailyChecks?.warned() ?? [],
    quarantined: () => registry.plugins.flatMap(({ name, quarantine }) => (quarantine ? [{ plugin: name, ...quarantine }] : [])),
    memoryDifferences: async () =>
      (await metrics.marketChecks.get()).values
        .filter(({ labels }) => labels.outcome === 'different')
        .map(({ labels, value: count }) => ({
          chain: String(labels.chain),
          network: String(labels.network),
          connector: String(labels.connector),
          count,
        })),
    quotes: () =>
      registry.networks.flatMap(({ chain, network }) =>
        registry
          .venuesOn(chain, network)
          .map(({ connector, recentQuotes: { counts } }) => ({ chain, network, connector, count: counts.memory + counts.rpc })),
      ),
    certificates: () => readCertificates(parts),
  }
}

/** More than wait. */
const mostApprovals = 500
/** Keys of the devnet are for local networks alone. */
const walletNetworks = ({ registry, services }: ServerParts): readonly WalletNetwork[] =>
  registry.networks.flatMap(({ chain, network, impl }) => {
    const own = services.wallets.all().filter((each) => each.chain === chain && (impl.local || !each.devnet))
    return own.length === 0 ? [] : [{ chain, network, wallets: own.map(({ address }) => address) }]
  })

/** As a client with every wallet, and the right to read alone. Its work takes turns with that of others. */
function callPortfolio({ dispatch }: ServerParts, scope: PortfolioRequest, signal: AbortSignal) {
  return dispatch.call('Portfolio', scope, {
    caller: { id: 'alerts', fingerprint: '', permissions: new Set(['read'] as const), wallets: 'all' },
    client: alertsPayer,
    requestId: 'alerts',
    signal,
  })
}

const alertsPayer = {}

const ownCertificates: Readonly<Record<string, { readonly name: string; readonly renew: string }>> = {
  ca: { name: 'certificate of the CA', renew: `every certificate has to be made anew: ${command} certs --help` },
  server: { name: 'certificate of the server', renew: `${command} certs renew server` },
}

/** @throws Error where they cannot be read */
async function readCertificates({ services, settings }: ServerParts): ReturnType<AlertSources['certificates']> {
  const ends = await services.certificateEnds()
  if (!ends) throw new Error(`certificates in ${settings.ssl.certsDir} cannot be read`)
  return ends.map(({ name, expiresAt, fingerprint256 }) => {
    // A client may have any name.
    const own = fingerprint256 === undefined ? ownCertificates[name] : undefined
    return { ...(own ?? { name: `certificate of client ${name}`, renew: `${command} certs renew ${name}` }), validTo: expiresAt }
  })
}
