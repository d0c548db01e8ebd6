import { Counter, Gauge, type Registry } from 'prom-client'
import type { Market } from '../../live-state/live-state.ts'
import type { MarketCounters } from '../../live-state/telemetry.ts'
import type { Directory } from '../../handlers/registry.ts'
import type { Metrics } from '../metrics.ts'

const site = ['chain', 'network', 'connector'] as const

/** What is counted of the state in memory where it happens. */
export function marketMetrics(registry: Registry) {
  const registers = [registry]
  return {
    marketUpdates: new Counter({
      name: 'sluice_market_updates_total',
      help: 'Changes of states in memory: pools and books.',
      labelNames: site,
      registers,
    }),
    marketTroubles: new Counter({
      name: 'sluice_market_troubles_total',
      help: 'What went wrong with state in memory: a gap, a loss, a reload, a reorganisation, a defect of the connector.',
      labelNames: [...site, 'trouble'],
      registers,
    }),
    marketChecks: new Counter({
      name: 'sluice_market_checks_total',
      help: 'Samples of the state in memory that were compared with the chain or the exchange. A different one is a defect.',
      labelNames: [...site, 'outcome'],
      registers,
    }),
  }
}

/** What a network is as a whole belongs to no connector. */
export function countMarket({ marketUpdates, marketTroubles, marketChecks, pluginFaults }: Metrics): MarketCounters {
  const labels = ({ chain, network, connector = '' }: { chain: string; network: string; connector?: string }) => ({
    chain,
    network,
    connector,
  })
  return {
    update: (place, count) => marketUpdates.inc(labels(place), count),
    check: (place, outcome) => marketChecks.inc({ ...labels(place), outcome }),
    trouble(place, trouble) {
      marketTroubles.inc({ ...labels(place), trouble })
      if (trouble === 'defect' && place.connector !== undefined) pluginFaults.inc({ plugin: place.connector })
    },
  }
}

interface MeasuredMarket {
  books: Pick<Market['books'], 'kept'>
  following: Pick<Market['following'], 'all'>
}

/** How much is kept, and how far it is: read when it is asked for. */
export function measureMarket({ registry }: Pick<Metrics, 'registry'>, { books, following }: MeasuredMarket): void {
  const gauge = (name: string, help: string, labelNames: readonly string[], collect: (gauge: Gauge) => void) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset()
          collect(this)
        },
      }),
    )
  gauge('sluice_market_books', 'Order books that are kept in memory.', [], (each) => each.set(books.kept))
  gauge('sluice_market_followed', 'States of a chain that are kept in memory.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all()) each.set({ chain, network }, synchroniser.kept)
  })
  gauge('sluice_market_block', 'The block that what is kept of a chain is after.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all())
      if (synchroniser.tip) each.set({ chain, network }, Number(synchroniser.tip.number))
  })
  gauge('sluice_market_block_age_seconds', 'How long ago that block was made, by its own time.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all())
      if (synchroniser.tip) each.set({ chain, network }, Date.now() / 1000 - synchroniser.tip.timestamp)
  })
  const cutOff = '1 while the nodes do not say what happened in blocks: the chain is asked for every quote.'
  gauge('sluice_market_cut_off', cutOff, ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all()) each.set({ chain, network }, synchroniser.isCutOff ? 1 : 0)
  })
}

/** Counted where they are given, which is too often for a counter with labels. */
export function measureQuotes({ registry }: Pick<Metrics, 'registry'>, directory: Pick<Directory, 'networks' | 'venuesOn'>): void {
  const quotes = new Counter({
    name: 'sluice_quotes_total',
    help: 'Quotes of pools, from memory and asked of the chain.',
    labelNames: [...site, 'source'],
    registers: [],
    collect() {
      this.reset()
      for (const { chain, network } of directory.networks)
        for (const {
          connector,
          quotes: { given },
        } of directory.venuesOn(chain, network))
          for (const [source, count] of Object.entries(given)) if (count > 0) this.inc({ chain, network, connector, source }, count)
    },
  })
  registry.registerMetric(quotes)
}
