import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import type { LoadResult } from '../plugins/index.ts'
import { named, plainJson, withoutStop } from '../base/printable.ts'
import { command } from '../base/layout.ts'
import { passphraseForSeals } from '../keys/get-passphrase.ts'
import { quarantinesOn, quarantineWords } from './plugin-lift.ts'
import { serverOf } from './server-options.ts'
import { say, table } from './output.ts'

/** `sluice plugin list`: what a start would load and refuse. */
export function listCommand(settingsOf: () => Settings): Command {
  return new Command('list')
    .description('show every plugin, and why one is refused; exits with 1 when any is refused')
    .option('--json', 'print all that is known of each: every network, and the folder')
    .action(async ({ json }: { json?: true }) => {
      const settings = settingsOf()
      const [result, quarantines] = await Promise.all([wouldLoad(settings), knownQuarantines(settings)])
      say(
        json
          ? plainJson(JSON.stringify(pluginList(result, settings.plugins.disabled, quarantines), undefined, 2))
          : pluginTable(result, settings.plugins.disabled, quarantines),
      )
      // Background work of a plugin must not keep the command alive.
      process.exit(result.refused.length === 0 ? 0 : 1)
    })
}

/** As a start with these settings would load them, with the networks that it starts beside the devnet. */
async function wouldLoad(settings: Settings): Promise<LoadResult> {
  const [{ allowedForCommand, tryPlugins }, { expectedAddresses }] = await Promise.all([
    import('../plugins/index.ts'),
    import('../devnet/local-sites.ts'),
  ])
  const allowed = await allowedForCommand(settings, passphraseForSeals(settings.wallet))
  return tryPlugins(settings, allowed, expectedAddresses(settings, allowed.found))
}

type Quarantines = Awaited<ReturnType<typeof quarantinesOn>>
const noQuarantines: Quarantines = new Map()

/** As the running server of these settings says, where there is one: they are in its store. */
async function knownQuarantines(settings: Settings): Promise<Quarantines> {
  try {
    return await quarantinesOn(serverOf(settings, {}, { timeoutMs: 2_000 }))
  } catch {
    return noQuarantines
  }
}

/** Fits a terminal. */
const width = 80

/** A line for each plugin. Below a refused plugin, or an unserved network, the reason and the remedy. */
export function pluginTable(
  { loaded, interfaces, refused }: Pick<LoadResult, 'loaded' | 'interfaces' | 'refused'>,
  disabled: readonly string[],
  quarantines = noQuarantines,
): string {
  const quarantined = (name: string): string[] => {
    const found = quarantines.get(name)
    return found ? [`quarantined: ${quarantineWords(found)}`, `→ look at it; then: ${command} plugin lift ${name}`] : []
  }
  const rows = [
    { cells: ['NAME', 'KIND', 'STATE', 'VERSION', 'TYPES', 'NETWORKS'] },
    ...allOf({ loaded, interfaces }).map(({ name, kind, tier, manifest, available_networks, unserved, deprecated }) => ({
      cells: [name, kind, tier, versionIn(manifest.version), manifest.trading_type.join(',') || '-', networksIn(available_networks, kind)],
      below: [
        ...quarantined(name),
        ...unserved.map(({ chain, network, reason, remedy }) => `does not serve ${chain}/${network}: ${withoutStop(reason)}. ${remedy}`),
        ...deprecated,
      ],
    })),
    ...refused.map(({ name, kind, version, trading_type, available_networks, step, reason, remedy, folder }) => ({
      cells: [name, kind ?? '-', 'refused', versionIn(version), trading_type?.join(',') || '-', networksIn(available_networks ?? [], kind)],
      below: [`${step}: ${reason}`, `→ ${remedy}`, folder],
    })),
    ...disabled.map((name) => ({ cells: [name, '-', 'disabled', '-', '-', '-'] })),
  ]
  return table(rows, width)
}

/** Quoted where it is no plain one: it is the plugin's own word. */
const versionIn = (version: string | undefined): string => (version === undefined ? '-' : named(version))

type Networks = readonly { readonly chain: string; readonly networks: readonly string[] }[]

/** That of a connector by its name, several and those of a chain, which has its name already, by their number. */
function networksIn(available: Networks, kind: string | undefined): string {
  const all = available.flatMap(({ chain, networks }) => networks.map((network) => `${chain}/${network}`))
  const [first] = all
  if (first === undefined) return '-'
  if (all.length === 1) return kind === 'chain' ? '1 network' : first
  return `${all.length} networks`
}

/** An interface is on no network. */
const allOf = ({ loaded, interfaces }: Pick<LoadResult, 'loaded' | 'interfaces'>) => [
  ...loaded,
  ...interfaces.map((each) => ({ ...each, available_networks: [], unserved: [] })),
]

function pluginList({ loaded, interfaces, refused }: LoadResult, disabled: readonly string[], quarantines: Quarantines): object {
  return {
    plugins: [
      ...allOf({ loaded, interfaces }).map(
        ({ name, kind, tier, manifest: { version, trading_type }, available_networks, unserved, deprecated, origin, sha256 }) => ({
          name,
          kind,
          state: 'loaded',
          tier,
          version,
          trading_type,
          available_networks,
          unserved,
          deprecated,
          ...(quarantines.has(name) && { quarantine: quarantines.get(name) }),
          folder: origin,
          sha256,
        }),
      ),
      ...refused.map((each) => ({ ...each, state: 'refused' })),
      ...disabled.map((name) => ({ name, state: 'disabled' })),
    ],
  }
}
