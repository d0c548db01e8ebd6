import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { SluiceError } from '../base/errors.ts'
import type { LiveStateCounters } from '../live-state/telemetry.ts'
import { StoreUnavailable } from '../store/store.ts'
import { isFinal, type Entry } from '../transactions/entry.ts'
import { OwnershipLostError, type Journal } from '../transactions/journal/journal.ts'

// Metrics that are counted where something happens. Those that are read when Prometheus asks stand in gauges.ts.

export type Metrics = ReturnType<typeof createMetrics>

const onNetwork = ['chain', 'network'] as const
const onConnector = ['chain', 'network', 'connector'] as const

const pluginMetrics = (registers: Registry[]) => ({
  pluginFaults: new Counter({
    name: 'sluice_plugin_faults_total',
    help: 'Errors that plugins threw or rejected in the background, outside of any request.',
    labelNames: ['plugin'],
    registers,
  }),
  hostDeaths: new Counter({
    name: 'sluice_plugin_host_deaths_total',
    help: 'Ends of processes that hold a plugin of a third party: the plugin harmed its own process. Each was started again, or stays down after five ends within ten minutes.',
    labelNames: ['plugin'],
    registers,
  }),
  breaches: new Counter({
    name: 'sluice_plugin_breaches_total',
    help: 'Mined transactions of a plugin that took more from a wallet, or brought less, than its plan was allowed; found by this server.',
    labelNames: ['plugin'],
    registers,
  }),
})

/** All counters and histograms but that of quotes (gauges.ts), with the figures of the process and the event loop that prom-client brings. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    requests: new RequestHistogram(registers),
    errors: new Counter({
      name: 'sluice_errors_total',
      help: 'Errors answered, as in the error table.',
      labelNames: ['code', 'name'],
      registers,
    }),
    rpcCalls: new Counter({
      name: 'sluice_rpc_calls_total',
      help: 'Calls to RPC nodes.',
      labelNames: [...onNetwork, 'method', 'outcome'],
      registers,
    }),
    ...pluginMetrics(registers),
    replays: new Counter({
      name: 'sluice_idempotent_replays_total',
      help: 'Requests that were answered with the first answer of their Idempotency-Key.',
      registers,
    }),
    deliveries: new Counter({
      name: 'sluice_undelivered_answers_total',
      help: 'Of requests that make a transaction, without an Idempotency-Key: answers that were lost, equal requests that joined them, and lost answers that nobody collected.',
      labelNames: ['change'],
      registers,
    }),
    connectionsRefused: new Counter({
      name: 'sluice_connections_refused_total',
      help: 'Connections closed because there were too many of the whole server (connections), of one certificate (certificate) or without one (handshakes).',
      labelNames: ['reason'],
      registers,
    }),
    otherHosts: new Counter({
      name: 'sluice_other_hosts_total',
      help: 'Requests whose header Host has another name than this server’s address, localhost, server.host and those of its certificate, or none. Of a browser they are refused (DNS rebinding), of programs answered.',
      registers,
    }),
    requestsRefused: new Counter({
      name: 'sluice_requests_refused_total',
      help: 'Requests refused because others were in progress or too many came, by the bound that they were over: a setting under limits or of a client, or requestTimeoutSeconds for those that waited so long.',
      labelNames: ['bound'],
      registers,
    }),
    limitRefusals: new Counter({
      name: 'sluice_limit_refusals_total',
      help: 'Requests refused with LIMIT_EXCEEDED, by the client and the limit (wallets: one of conf/limits.yml; other: of a plugin); refused orders of a batch that was placed without them are not counted.',
      labelNames: ['client', 'limit'],
      registers,
    }),
    eventStreams: new Gauge({ name: 'sluice_event_streams', help: 'Open streams of /events.', registers }),

    outcomes: new Counter({
      name: 'sluice_transaction_outcomes_total',
      help: 'Transactions that became final on this server, by their final state. DROPPED is the doing of other software, OVERTAKEN a cancel or replacement that came too late.',
      labelNames: [...onNetwork, 'kind', 'state'],
      registers,
    }),
    inclusion: new Histogram({
      name: 'sluice_transaction_inclusion_seconds',
      help: 'Time from the request to the block, for transactions that were mined.',
      labelNames: onNetwork,
      buckets: [0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900, 3600],
      registers,
    }),
    replacements: new Counter({
      name: 'sluice_transaction_replacements_total',
      help: 'Transactions signed to replace another one on its nonce: at higher fees (bump), or without effect (cancel).',
      labelNames: [...onNetwork, 'by'],
      registers,
    }),
    gapsFilled: new Counter({
      name: 'sluice_nonce_gaps_filled_total',
      help: 'Nonce gaps below pending transactions that were filled with an empty transfer.',
      labelNames: onNetwork,
      registers,
    }),
    reorganisations: new Counter({
      name: 'sluice_transaction_reorganisations_total',
      help: 'Transactions that a reorganisation removed from their block.',
      labelNames: onNetwork,
      registers,
    }),
    journalSeconds: new Histogram({
      name: 'sluice_journal_seconds',
      help: 'Time until a write to the journal was durable.',
      labelNames: ['operation'],
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    journalFailures: new Counter({
      name: 'sluice_journal_failures_total',
      help: 'Failed writes to the journal: the store failed (unavailable), its answer was lost (uncertain), another server owns the nonce queue now (superseded), a budget or a client order id that was used refuses it (refused), or there is a defect (defect).',
      labelNames: ['operation', 'reason'],
      registers,
    }),
    ...alertMetrics(registers),
    archived: new Counter({
      name: 'sluice_archived_transactions_total',
      help: 'Transactions that this server moved from the journal to the archive.',
      registers,
    }),
    archiveFailing: new Gauge({
      name: 'sluice_archive_failing',
      help: '1 while old transactions cannot be moved to the archive: they stay in the journal.',
      registers,
    }),
    booksUnexplained: new Gauge({
      name: 'sluice_books_unexplained',
      help: 'How often the last daily check found a balance changed by what neither journal nor chain explains, of all wallets together.',
      labelNames: [...onNetwork, 'token'],
      registers,
    }),
    queueChanges: new Counter({
      name: 'sluice_lane_changes_total',
      help: 'Leases of nonce queues that this server took from nobody or a dead server (taken), received from another one (received) or gave away (given).',
      labelNames: ['change'],
      registers,
    }),

    marketUpdates: new Counter({
      name: 'sluice_market_updates_total',
      help: 'Updates of states in memory: pools and books.',
      labelNames: onConnector,
      registers,
    }),
    marketTroubles: new Counter({
      name: 'sluice_market_troubles_total',
      help: 'Trouble with states in memory: gap, lost, reload, reorganisation, or a defect of the connector.',
      labelNames: [...onConnector, 'trouble'],
      registers,
    }),
    marketChecks: new Counter({
      name: 'sluice_market_checks_total',
      help: 'Samples of states in memory that were compared with the chain or the exchange: equal, unclear or different. A different one is a defect.',
      labelNames: [...onConnector, 'outcome'],
      registers,
    }),
  }
}

const alertMetrics = (registers: Registry[]) => ({
  alertMessages: new Counter({
    name: 'sluice_alert_messages_total',
    help: 'Messages of alerts by their channel (heartbeat: the requests of the heartbeat): delivered, failed (tried again), given up (after a day, or because too many wait) or unhealthy (no heartbeat is sent while the server is not ready).',
    labelNames: ['channel', 'outcome'],
    registers,
  }),
  alertRuleFailing: new Gauge({
    name: 'sluice_alert_rule_failing',
    help: '1 while a rule of alerts cannot look at all that it is about: GET /alerts says why. Nothing new is told of that meanwhile.',
    labelNames: ['rule'],
    registers,
  }),
})

interface RequestLabels {
  readonly route: string
  readonly method: string
  readonly status: number
  readonly connector: string
}

/** All requests with the same labels. */
interface RequestCounts {
  readonly labels: RequestLabels
  /** Of each bucket, without those below it. */
  readonly counts: number[]
  sum: number
}

const requestSeconds = { name: 'sluice_request_seconds', help: 'Time to answer a request.' }

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'DELETE'])
/** The label of what is counted together. */
const other = 'other'

/**
 * A histogram with its own counts: prom-client joins and checks the labels of each observation, which takes longer than to find a quote.
 * Labels come from fixed sets, but clients choose among them. So there are so many series at most, and whatever comes later is counted together,
 * by status. Refusals have a number of their own: whoever may do nothing must not take the series of what is answered.
 */
class RequestHistogram extends Histogram {
  readonly #all: RequestCounts[] = []
  /** By route. */
  readonly #some = new Map<string, RequestCounts[]>()
  readonly #bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, Infinity]
  readonly #left = { answers: 300, refusals: 100 }

  constructor(registers: Registry[]) {
    super({ ...requestSeconds, labelNames: ['route', 'method', 'status', 'connector'], registers })
  }

  count(route: string, method: string, status: number, connector: string, seconds: number): void {
    const known = methods.has(method) ? method : other
    const found = this.#find(route, known, status, connector) ?? this.#add(route, known, status, connector)
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound)
    found.counts[bucket] = (found.counts[bucket] ?? 0) + 1
    found.sum += seconds
  }

  #find(route: string, method: string, status: number, connector: string): RequestCounts | undefined {
    return this.#some
      .get(route)
      ?.find(({ labels }) => labels.connector === connector && labels.status === status && labels.method === method)
  }

  #add(route: string, method: string, status: number, connector: string): RequestCounts {
    const kind = status < 400 ? 'answers' : 'refusals'
    if (route !== other && this.#left[kind] === 0) return this.#find(other, other, status, other) ?? this.#add(other, other, status, other)
    if (route !== other) this.#left[kind] -= 1
    const added = { labels: { route, method, status, connector }, counts: this.#bounds.map(() => 0), sum: 0 }
    const some = this.#some.get(route)
    if (some) some.push(added)
    else this.#some.set(route, [added])
    this.#all.push(added)
    return added
  }

  /** What prom-client writes for Prometheus. */
  getForPromString() {
    return { ...requestSeconds, type: 'histogram', values: this.#all.flatMap((each) => this.#valuesOf(each)) }
  }

  /** Shared labels are written once. */
  #valuesOf({ labels: sharedLabels, counts, sum }: RequestCounts) {
    let total = 0
    const buckets = this.#bounds.map((bound, index) => ({
      metricName: `${requestSeconds.name}_bucket`,
      labels: { le: bound === Infinity ? '+Inf' : bound },
      sharedLabels,
      value: (total += counts[index] ?? 0),
    }))
    return [
      ...buckets,
      { metricName: `${requestSeconds.name}_sum`, sharedLabels, value: sum },
      { metricName: `${requestSeconds.name}_count`, sharedLabels, value: total },
    ]
  }
}

/** Counts live state. What concerns a network as a whole has an empty connector. */
export function liveStateCounters({ marketUpdates, marketTroubles, marketChecks, pluginFaults }: Metrics): LiveStateCounters {
  const labels = ({ chain, network, connector = '' }: { chain: string; network: string; connector?: string }) => ({
    chain,
    network,
    connector,
  })
  return {
    update: (subject, count) => marketUpdates.inc(labels(subject), count),
    check: (subject, outcome) => marketChecks.inc({ ...labels(subject), outcome }),
    trouble(subject, trouble) {
      marketTroubles.inc({ ...labels(subject), trouble })
      if (trouble === 'defect' && subject.connector !== undefined) pluginFaults.inc({ plugin: subject.connector })
    },
  }
}

/** Counts the changes of transactions: called with every entry that was written, and the one before it. */
export function countChanges(metrics: Metrics): (entry: Entry, before?: Entry) => void {
  return (entry, before) => {
    const labels = { chain: entry.chain, network: entry.network }
    if (before === undefined) {
      if (entry.kind === 'cancel') metrics.replacements.inc({ ...labels, by: 'cancel' })
      if (entry.kind === 'fill') metrics.gapsFilled.inc(labels)
      return
    }
    // The first attempt replaces nothing.
    const bumps = entry.attempts.length - Math.max(1, before.attempts.length)
    if (bumps > 0) metrics.replacements.inc({ ...labels, by: 'bump' }, bumps)
    if (before.state === 'MINED' && entry.state === 'BROADCAST') metrics.reorganisations.inc(labels)
    if (entry.landed && !before.landed) metrics.inclusion.observe(labels, (entry.updatedAt - entry.createdAt) / 1000)
    if (isFinal(entry) && !isFinal(before)) metrics.outcomes.inc({ ...labels, kind: entry.kind, state: entry.state })
  }
}

/** The same journal, measuring its writes. */
export function observeJournal(journal: Journal, { journalSeconds, journalFailures }: Metrics): Journal {
  async function timed<T>(operation: 'open' | 'write', work: () => Promise<T>): Promise<T> {
    const stopTimer = journalSeconds.startTimer({ operation })
    try {
      const result = await work()
      stopTimer()
      return result
    } catch (error) {
      journalFailures.inc({ operation, reason: failureReason(error) })
      throw error
    }
  }
  return {
    ...journal,
    admit(...args) {
      const admission = journal.admit(...args)
      if (!(admission instanceof Promise)) return admission
      return admission.catch((error: unknown) => {
        journalFailures.inc({ operation: 'open', reason: failureReason(error) })
        throw error
      })
    },
    open: (...args) => timed('open', () => journal.open(...args)),
    write: (...args) => timed('write', () => journal.write(...args)),
  }
}

function failureReason(error: unknown): string {
  if (error instanceof StoreUnavailable) return error.uncertain ? 'uncertain' : 'unavailable'
  if (error instanceof OwnershipLostError) return 'superseded'
  return error instanceof SluiceError ? 'refused' : 'defect'
}
