import type { Manifest } from '../contracts/index.ts'
import { PluginFault } from './refusal.ts'

export interface NetworkName {
  readonly chain: string
  readonly network: string
}

type Addresses = Readonly<Record<string, string>>

/**
 * This network's entry of a connector's `contractAddresses`, as it is written there: `<chain>_<network>` (hyphens as
 * underscores) wins over `<network>`, which may be no other chain's too, whoever wrote it: to pass over it would be to ignore
 * a setting. An exchange without contracts has `{}` for all; undefined where only this network has no entry. Throws PluginFault.
 */
export function contractsOf(name: string, config: unknown, { chain, network }: NetworkName, manifest: Manifest): Addresses | undefined {
  const all = contractAddresses(config)
  if (all.size === 0) return {}
  return entryOf(all, 'contractAddresses', name, { chain, network }, manifest)
}

/** What stands under a network's name, the short one or the long. Throws PluginFault. */
export function entryOf<T>(
  all: ReadonlyMap<string, T>,
  of: 'contractAddresses' | 'bridges',
  name: string,
  { chain, network }: NetworkName,
  manifest: Manifest,
): T | undefined {
  const namesakes = manifest.available_networks
    .filter(({ networks }) => networks.includes(network))
    .map((entry) => longKey(entry.chain, network))
  const bare = all.get(network)
  if (bare !== undefined && namesakes.length > 1) {
    throw new PluginFault(
      'configuration',
      `${of}.${network} may be any of ${namesakes.join(', ')}`,
      `Write one of these instead of ${network} in conf/connectors/${name}.yml.`,
    )
  }
  return all.get(longKey(chain, network)) ?? bare
}

/** A key that names no network is a misspelt one. Throws PluginFault. */
export function checkNetworkKeys(name: string, config: unknown, manifest: Manifest): void {
  const known = manifest.available_networks.flatMap(({ chain, networks }) =>
    networks.flatMap((network) => [network, longKey(chain, network)]),
  )
  const bridges = isRecord(config) && isRecord(config.bridges) ? Object.keys(config.bridges) : []
  for (const [of, keys] of Object.entries({ contractAddresses: contractAddresses(config).keys(), bridges })) {
    const unknown = [...keys].filter((key) => !known.includes(key))
    if (unknown.length > 0) {
      throw new PluginFault(
        'configuration',
        `${of} has ${unknown.join(', ')}, which the connector does not serve`,
        `In conf/connectors/${name}.yml, use ${known.join(', ')}.`,
      )
    }
  }
}

function contractAddresses(config: unknown): ReadonlyMap<string, Addresses> {
  if (!isRecord(config) || !isRecord(config.contractAddresses)) return new Map()
  return new Map(
    Object.entries(config.contractAddresses).map(([network, entry]): [string, Addresses] => {
      if (isAddresses(entry)) return [network, entry]
      throw new PluginFault(
        'configuration',
        `contractAddresses.${network} is no map of names to addresses`,
        'Write each address as a quoted string.',
      )
    }),
  )
}

function longKey(chain: string, network: string): string {
  return `${chain}_${network}`.replaceAll('-', '_')
}

function isAddresses(entry: unknown): entry is Addresses {
  return isRecord(entry) && Object.values(entry).every((address) => typeof address === 'string')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
