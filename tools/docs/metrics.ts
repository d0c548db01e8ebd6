import {
  measureLiveState,
  measureNodes,
  measurePlugins,
  measureQuotes,
  measureStops,
  measureStore,
  measureTransactions,
} from '../../core/http/gauges.ts'
import { createMetrics } from '../../core/http/metrics.ts'

export interface ShownMetric {
  readonly name: string
  readonly labels: readonly string[]
  readonly help: string
}

/** Every metric of the server's own. */
export function shownMetrics(): ShownMetric[] {
  const metrics = createMetrics()
  const log = { warn: () => {} }
  measureStore(metrics, { failing: async () => undefined })
  measureStops(metrics, { list: async () => [] })
  measureTransactions(metrics, { journal: { openQueues: async () => [], unfinished: async () => [] }, networks: [], log })
  measureNodes(metrics, { networks: [] })
  measureLiveState(metrics, { books: { size: 0 }, quotes: { size: 0 }, following: { all: () => [] } })
  measureQuotes(metrics, { networks: [], venuesOn: () => [] })
  measurePlugins(metrics, { plugins: [] })
  return metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('sluice_'))
    .map((metric) => ({
      name: metric.name,
      labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [],
      help: metric.help,
    }))
}
