import { withTimeout } from '../async.ts'
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Rail } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { isFinal, type Entry, signerOf, railOf, railName } from '../transactions/entry.ts'
import { type Journal, OwnershipLost } from '../transactions/journal/journal.ts'
import type { Metrics } from './metrics.ts'

const site = ['chain', 'network'] as const

/** What is counted of transactions where it happens. */
export function transactionMetrics(registry: Registry) {
  const registers = [registry]
  return {
    outcomes: new Counter({
      name: 'sluice_transaction_outcomes_total',
      help: 'Transactions that became final on this server, by their final state.',
      labelNames: [...site, 'kind', 'state'],
      registers,
    }),
    inclusion: new Histogram({
      name: 'sluice_transaction_inclusion_seconds',
      help: 'From the request to the block, for transactions that were mined.',
      labelNames: site,
      buckets: [0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900, 3600],
      registers,
    }),
    replacements: new Counter({
      name: 'sluice_transaction_replacements_total',
      help: 'Second transactions signed on a nonce: at higher fees (bump), or to do nothing in its place (cancel).',
      labelNames: [...site, 'by'],
      registers,
    }),
    gapsFilled: new Counter({
      name: 'sluice_nonce_gaps_filled_total',
      help: 'Empty nonces that later transactions waited behind, and that got a transfer of nothing.',
      labelNames: site,
      registers,
    }),
    reorganisations: new Counter({
      name: 'sluice_transaction_reorganisations_total',
      help: 'Transactions that were in a block and are no longer.',
      labelNames: site,
      registers,
    }),
    journalSeconds: new Histogram({
      name: 'sluice_journal_seconds',
      help: 'Time until the journal had kept something durably.',
      labelNames: ['operation'],
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    journalFailures: new Counter({
      name: 'sluice_journal_failures_total',
      help: 'Writings that the journal did not keep: the store failed (unavailable), or nobody can know (uncertain), or another server owns the lane by now (superseded).',
      labelNames: ['operation', 'reason'],
      registers,
    }),
    laneChanges: new Counter({
      name: 'sluice_lane_changes_total',
      help: 'Lanes that this server took (taken: nobody had it, or its server is dead; received: given by another) or gave away (given).',
      labelNames: ['change'],
      registers,
    }),
    replays: new Counter({
      name: 'sluice_idempotent_replays_total',
      help: 'Requests that were answered with the first answer of their Idempotency-Key.',
      registers,
    }),
    eventStreams: new Gauge({ name: 'sluice_event_streams', help: 'Open streams of /events.', registers }),
  }
}

type TransactionMetrics = ReturnType<typeof transactionMetrics>

/** Told of every entry that was written, and what it was before. */
export function countChanges(metrics: TransactionMetrics): (entry: Entry, before?: Entry) => void {
  return (entry, before) => {
    const where = { chain: entry.chain, network: entry.network }
    if (before === undefined) {
      if (entry.kind === 'cancel') metrics.replacements.inc({ ...where, by: 'cancel' })
      if (entry.kind === 'fill') metrics.gapsFilled.inc(where)
      return
    }
    // The first attempt is no replacement.
    const bumps = entry.attempts.length - Math.max(1, before.attempts.length)
    if (bumps > 0) metrics.replacements.inc({ ...where, by: 'bump' }, bumps)
    if (before.state === 'MINED' && entry.state === 'BROADCAST') metrics.reorganisations.inc(where)
    if (entry.landed && !before.landed) metrics.inclusion.observe(where, (entry.updatedAt - entry.createdAt) / 1000)
    if (isFinal(entry) && !isFinal(before)) metrics.outcomes.inc({ ...where, kind: entry.kind, state: entry.state })
  }
}

interface Network {
  chain: string
  network: string
  /** Of an exchange's own rail. */
  connector?: string
  impl: { rail: Pick<Rail, 'slots'> }
}

interface Sources {
  journal: Pick<Journal, 'openQueues' | 'unfinished'>
  /** The networks that are loaded, and the exchanges' own rails on them: they are shown as having nothing open rather than not at all. */
  networks: readonly Network[]
  log: Pick<Logger, 'warn'>
  nowMs?: () => number
}

/** Scrapes closer together than that are answered from one look into the journal. */
const freshMs = 5_000

const minuteMs = 60_000
const ages = [
  { label: 'below 1m', belowMs: minuteMs },
  { label: '1m to 10m', belowMs: 10 * minuteMs },
  { label: '10m to 1h', belowMs: 60 * minuteMs },
  { label: 'over 1h', belowMs: Infinity },
]
const labelNames = ['chain', 'network'] as const

/** What is open in the journal now, of all servers on it: read when it is asked for, and left out when the store does not answer. */
export function measureTransactions({ registry }: Pick<Metrics, 'registry'>, { journal, networks, log, nowMs = Date.now }: Sources): void {
  const look = kept(
    () =>
      withinDeadline(openEntries(journal)).catch((error: unknown) => {
        log.warn({ err: error }, 'the metrics of open transactions are left out: the journal could not be read')
        return undefined
      }),
    nowMs,
  )

  /** Where each slot stands for itself, none is missing between two. */
  const unordered = new Set(networks.filter(({ impl }) => impl.rail.slots !== 'ordered').map(railName))

  const open = new Gauge({
    name: 'sluice_transactions_open',
    help: 'Transactions that are not final, by state and by time since the request.',
    labelNames: [...labelNames, 'state', 'age'],
    registers: [],
    async collect() {
      const entries = (await look()) ?? []
      // Nothing is waited for from here on: two scrapes at once must not add up.
      this.reset()
      for (const { chain, network, state, createdAt } of entries) this.inc({ chain, network, state, age: ageOf(nowMs() - createdAt) })
    },
  })
  const oldest = new Gauge({
    name: 'sluice_transactions_oldest_open_seconds',
    help: 'Time since the request of the oldest transaction that is not final; 0 where none is.',
    labelNames,
    registers: [],
    async collect() {
      const entries = await look()
      this.reset()
      if (!entries) return
      for (const { chain, network } of networks) this.set({ chain, network }, 0)
      // The oldest come first: the first one of a network is set last.
      for (const { chain, network, createdAt } of entries.toReversed())
        this.set({ chain, network }, Math.max(0, (nowMs() - createdAt) / 1000))
    },
  })
  const gaps = new Gauge({
    name: 'sluice_nonce_gap_wallets',
    help: 'Wallets with an empty nonce between transactions that wait for a block.',
    labelNames,
    registers: [],
    async collect() {
      const entries = await look()
      this.reset()
      if (!entries) return
      for (const { chain, network } of networks) this.set({ chain, network }, 0)
      const withOrder = entries.filter((entry) => !unordered.has(railName(railOf(entry))))
      for (const lane of lanesWithGap(withOrder)) this.inc(lane)
    },
  })
  for (const gauge of [open, oldest, gaps]) registry.registerMetric(gauge)
}

async function openEntries(journal: Sources['journal']): Promise<readonly Entry[]> {
  const lanes = await journal.openQueues()
  const rails = new Map(
    lanes.map(({ chain, network, connector }) => [railName({ chain, network, connector }), { chain, network, connector }]),
  )
  const open = (await Promise.all([...rails.values()].map((place) => journal.unfinished(place)))).flat()
  return open.toSorted((a, b) => a.createdAt - b.createdAt)
}

const ageOf = (ms: number) => ages.find(({ belowMs }) => ms < belowMs)?.label ?? ''

function lanesWithGap(open: readonly Entry[]): { chain: string; network: string }[] {
  const lanes = new Map<string, { chain: string; network: string; nonces: Set<number> }>()
  for (const entry of open) {
    const { chain, network, nonce, state } = entry
    // Where one of ours is mined, what is before it is mined too, by whomever.
    if (state === 'MINED') continue
    const key = `${railName(railOf(entry))}/${signerOf(entry).toLowerCase()}`
    const lane = lanes.get(key) ?? { chain, network, nonces: new Set() }
    lanes.set(key, lane)
    lane.nonces.add(nonce)
  }
  return [...lanes.values()]
    .filter(({ nonces }) => Math.max(...nonces) - Math.min(...nonces) >= nonces.size)
    .map(({ chain, network }) => ({ chain, network }))
}

/** One look for all that ask at about the same time. */
function kept<T>(look: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let last: { atMs: number; value: Promise<T> } | undefined
  return () => {
    if (!last || nowMs() - last.atMs >= freshMs) last = { atMs: nowMs(), value: look() }
    return last.value
  }
}

type MetricsOfObserveJournal = Pick<TransactionMetrics, 'journalSeconds' | 'journalFailures'>

/** The same journal, with the time that each durable write takes and the failures of writing. */
export function observeJournal(journal: Journal, { journalSeconds, journalFailures }: MetricsOfObserveJournal): Journal {
  async function timed<T>(operation: 'open' | 'write', work: () => Promise<T>): Promise<T> {
    const over = journalSeconds.startTimer({ operation })
    try {
      const done = await work()
      over()
      return done
    } catch (error) {
      journalFailures.inc({ operation, reason: reasonOf(error) })
      throw error
    }
  }
  return {
    open: (...args) => timed('open', () => journal.open(...args)),
    write: (...args) => timed('write', () => journal.write(...args)),
    read: (...args) => journal.read(...args),
    find: (...args) => journal.find(...args),
    unfinished: (...args) => journal.unfinished(...args),
    openQueues: () => journal.openQueues(),
    list: (...args) => journal.list(...args),
    eventsAfter: (...args) => journal.eventsAfter(...args),
    lastEventId: () => journal.lastEventId(),
    orders: journal.orders,
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return error.uncertain ? 'uncertain' : 'unavailable'
  return error instanceof OwnershipLost ? 'superseded' : 'defect'
}

/** A scrape must not wait for a store that hangs. */
const deadlineMs = 2_000

/** What the work gives, or an error when a scrape has waited long enough for it. */
export function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return withTimeout(work, deadlineMs, () => {
    throw new Error('The store did not answer in time.')
  })
}
