import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { isFinal, type Entry } from '../transactions/entry.ts'

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

export type TransactionMetrics = ReturnType<typeof transactionMetrics>

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
