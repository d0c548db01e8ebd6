import type { Logger } from 'pino'
import { Gauge } from 'prom-client'
import type { Rail } from '../../contracts/index.ts'
import { holderOf, placeOf, type Entry } from '../../transactions/entry.ts'
import { railName } from '../../transactions/lanes/lane-name.ts'
import { type Journal } from '../../transactions/journal/journal.ts'
import type { Metrics } from '../metrics.ts'
import { withinDeadline } from './within-deadline.ts'

interface Network {
  chain: string
  network: string
  /** Of an exchange's own rail. */
  connector?: string
  impl: { rail: Pick<Rail, 'slots'> }
}

interface Sources {
  journal: Pick<Journal, 'openLanes' | 'unfinished'>
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
      const withOrder = entries.filter((entry) => !unordered.has(railName(placeOf(entry))))
      for (const lane of lanesWithGap(withOrder)) this.inc(lane)
    },
  })
  for (const gauge of [open, oldest, gaps]) registry.registerMetric(gauge)
}

async function openEntries(journal: Sources['journal']): Promise<readonly Entry[]> {
  const lanes = await journal.openLanes()
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
    const key = `${railName(placeOf(entry))}/${holderOf(entry).toLowerCase()}`
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
