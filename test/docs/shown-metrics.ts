import { measureLiveState, measureNodes, measurePlugins, measureQuotes, measureStore, measureTransactions } from '../../core/http/gauges.ts'
import { createMetrics } from '../../core/http/metrics.ts'

/** Every metric of the server's own, with the names of its labels. */
export function shownMetrics(): { name: string; labels: readonly string[] }[] {
  const metrics = createMetrics()
  const log = { warn: () => {} }
  measurePlugins(metrics, { plugins: [] })
  measureStore(metrics, { failing: async () => undefined })
  measureNodes(metrics, { networks: [] })
  measureTransactions(metrics, { journal: { openQueues: async () => [], unfinished: async () => [] }, networks: [], log })
  measureLiveState(metrics, { books: { size: 0 }, quotes: { size: 0 }, following: { all: () => [] } })
  measureQuotes(metrics, { networks: [], venuesOn: () => [] })
  return metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('sluice_'))
    .map((metric) => ({ name: metric.name, labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [] }))
}
