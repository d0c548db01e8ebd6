import type { Bridge, ConnectorConfig, Manifest } from '../contracts/index.ts'
import { entryOf, type NetworkName } from './configuration.ts'
import type { LoadedChain } from './loaded-plugin.ts'
import { PluginFault } from './refusal.ts'

/**
 * What deposits come by from other chains to a connector on this network, by chain: its entry of `bridges`, named as those of
 * `contractAddresses`. Addresses are spelt as that chain does, where it is there. Throws PluginFault.
 */
export function bridgesOf(
  name: string,
  { bridges = {} }: Pick<ConnectorConfig, 'bridges'>,
  at: NetworkName,
  manifest: Manifest,
  chains: readonly LoadedChain[],
): Readonly<Record<string, Bridge>> {
  const here = entryOf(new Map(Object.entries(bridges)), 'bridges', name, at, manifest) ?? {}
  if (Object.hasOwn(here, at.chain))
    throw new PluginFault(
      'configuration',
      `bridges: '${at.chain}' is the connector's own chain`,
      `Deposits from there need no bridge: take it out of conf/connectors/${name}.yml.`,
    )
  return Object.fromEntries(Object.entries(here).map(([chain, bridge]) => [chain, spelt(name, chain, bridge, chains)]))
}

function spelt(name: string, chain: string, { network, ...addresses }: Bridge, chains: readonly LoadedChain[]): Bridge {
  const on = chains.find((each) => each.name === chain)?.venues.find((venue) => venue.network === network)
  const spell = (key: keyof typeof addresses): string => {
    const text = addresses[key]
    const address = on ? on.implementation.address(text) : text
    if (address !== undefined) return address
    throw new PluginFault(
      'configuration',
      `bridges: ${key} '${text}' is no address on ${chain} ${network}`,
      `Correct it in conf/connectors/${name}.yml: quoted, complete, and with the right checksum where it has one.`,
    )
  }
  return { network, token: spell('token'), recipient: spell('recipient') }
}
