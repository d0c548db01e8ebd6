import type { Settings } from '../config/settings.ts'
import type { LoadResult } from '../loader/load.ts'

/** What a start with these settings would load and refuse; nothing is started. */
export async function tryPlugins(settings: Settings, folders = settings.plugins.folders): Promise<LoadResult> {
  // Only here: `--help` must not wait for them.
  const [{ default: pino }, { pluginOptions }, { createMetrics }, { loadPlugins }] = await Promise.all([
    import('pino'),
    import('../boot/plugin-options.ts'),
    import('../http/metrics.ts'),
    import('../loader/index.ts'),
  ])
  // Where the devnet will be: its network is there as if it were up.
  const devnet = settings.devnet.enabled ? { rpcUrl: `http://127.0.0.1:${settings.devnet.port}` } : undefined
  return loadPlugins({ ...pluginOptions({ settings, log: pino({ level: 'silent' }), metrics: createMetrics(), devnet }), folders })
}
