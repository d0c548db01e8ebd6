import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import type { LoadResult } from '../loader/load.ts'
import { pluginTestCommand } from './plugin-test.ts'
import { tryPlugins } from './try-plugins.ts'
import { table } from './output.ts'

/** `sluice plugin list`: what a start would load and refuse; starts nothing. */
export function pluginCommand(settingsOf: () => Settings): Command {
  const plugin = new Command('plugin').description('the chains and connectors that the server is made of')

  plugin
    .command('list')
    .description('show every plugin that is found, and why one is refused; exits with 1 when any is')
    .action(async () => {
      const settings = settingsOf()
      const result = await tryPlugins(settings)
      console.log(pluginTable(result, settings.plugins.disabled))
      // What a plugin has set going while it was created must not hold the command up.
      process.exit(result.refused.length === 0 ? 0 : 1)
    })

  return plugin.addCommand(pluginTestCommand(settingsOf))
}

/** A line per plugin; below one that is refused, or does not serve all of its networks, why and what to do. */
function pluginTable({ loaded, refused }: LoadResult, disabled: readonly string[]): string {
  const rows: { cells: readonly string[]; below: readonly string[] }[] = [
    { cells: ['NAME', 'KIND', 'VERSION', 'TRADING TYPES', 'NETWORKS', 'STATE'], below: [] },
    ...loaded.map(({ name, kind, manifest, available_networks, unserved }) => ({
      cells: [name, kind, manifest.version ?? '-', manifest.trading_type.join(',') || '-', networkList(available_networks), 'loads'],
      below: unserved.map(({ chain, network, reason, cure }) => `does not serve ${chain}/${network}: ${reason}. ${cure}`),
    })),
    ...refused.map(({ name, kind, version, trading_type, available_networks, step, reason, cure, folder }) => ({
      cells: [name, kind ?? '-', version ?? '-', trading_type?.join(',') || '-', networkList(available_networks ?? []), 'refused'],
      below: [`${step}: ${reason}`, `→ ${cure}`, folder],
    })),
    ...disabled.map((name) => ({ cells: [name, '-', '-', '-', '-', 'disabled'], below: [] })),
  ]
  return table(rows)
}

function networkList(available: readonly { chain: string; networks: readonly string[] }[]): string {
  return available.flatMap(({ chain, networks }) => networks.map((network) => `${chain}/${network}`)).join(',') || '-'
}
