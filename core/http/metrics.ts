import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Store } from '../store/store.ts'
import type { Directory } from '../handlers/registry.ts'
import { marketMetrics } from './metrics/market-metrics.ts'
import { transactionMetrics } from './transaction-metrics.ts'
import { withinDeadline } from './metrics/within-deadline.ts'

/** What the server counts about itself, as Prometheus reads it. Process and event loop figures are prom-client's own. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    requests: new Histogram({
      name: 'sluice_request_seconds',
      help: 'Time to answer a request.',
      labelNames: ['route', 'method', 'status', 'connector'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    errors: new Counter({
      name: 'sluice_errors_total',
      help: 'Errors answered, as in the error table.',
      labelNames: ['code', 'name'],
      registers,
    }),
    rpcCalls: new Counter({
      name: 'sluice_rpc_calls_total',
      help: 'Calls to RPC nodes.',
      labelNames: ['chain', 'network', 'method', 'outcome'],
      registers,
    }),
    pluginFaults: new Counter({
      name: 'sluice_plugin_faults_total',
      help: 'What plugins threw or rejected in the background, where no request waits for it.',
      labelNames: ['plugin'],
      registers,
    }),
    ...transactionMetrics(registry),
    ...marketMetrics(registry),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** Plugin states are read when they are asked for. */
export function measureDirectory({ registry }: Pick<Metrics, 'registry'>, directory: Pick<Directory, 'plugins'>): void {
  const gauge = new Gauge({
    name: 'sluice_plugin_state',
    help: '1 for the state that each plugin is in.',
    labelNames: ['plugin', 'kind', 'state'],
    registers: [],
    collect() {
      this.reset()
      for (const { name, kind, state, starting } of directory.plugins) {
        const shown = state === 'loaded' && starting && starting().length > 0 ? 'starting' : state
        this.set({ plugin: name, kind, state: shown }, 1)
      }
    },
  })
  registry.registerMetric(gauge)
}

/** Whether the store can be written is tried when it is asked for. */
export function measureStore({ registry }: Pick<Metrics, 'registry'>, store: Pick<Store, 'failing'>): void {
  const gauge = new Gauge({
    name: 'sluice_store_up',
    help: '1 while the store can be written; 0 while it cannot, and no transaction is made.',
    registers: [],
    async collect() {
      const failing = await withinDeadline(store.failing()).catch(() => 'it failed to say')
      this.set(failing === undefined ? 1 : 0)
    },
  })
  registry.registerMetric(gauge)
}
