import { badFields, SluiceError } from '../../api/index.ts'
import type { EvmVerbs } from '../../contracts/index.ts'
import type { Directory, NetworkEntry } from '../../handlers/registry.ts'
import { didYouMean } from '../did-you-mean.ts'

export interface Spenders {
  addresses: readonly string[]
  /** Named by a registered connector, so that everybody may approve it. */
  registered: boolean
}

/** What `spender` stands for: a connector's name (all of its spenders), `name/version`, or an address. */
export async function readSpenders(text: string, { impl, chain, network }: NetworkEntry, directory: Directory): Promise<Spenders> {
  const [name = '', ...rest] = text.split('/')
  const version = rest.length === 0 ? undefined : rest.join('/')
  if (directory.hasConnector(name)) {
    // For the request itself only the network was woken.
    await directory.woken(chain, network, name)
    const spenders = directory.venue(name, chain, network).impl.spenders ?? {}
    const addresses = version === undefined ? Object.values(spenders) : Object.hasOwn(spenders, version) ? [spenders[version] ?? ''] : []
    if (addresses.length > 0) return { addresses: [...new Set(addresses)], registered: true }
    const known =
      Object.keys(spenders)
        .map((each) => `${name}/${each}`)
        .join(', ') || 'none'
    throw badFields([{ field: 'spender', problem: `"${text}" names no contract of ${name} (${known})` }])
  }
  const address = impl.address(text)
  if (address !== undefined) {
    const own = directory.venuesOn(chain, network).flatMap((venue) => Object.values(venue.impl.spenders ?? {}))
    return { addresses: [address], registered: own.includes(address) }
  }
  const connectors = directory.connectors.map((each) => each.name)
  throw badFields([
    { field: 'spender', problem: `"${text}" is neither a registered connector${didYouMean(name, connectors)} nor an address` },
  ])
}

/** @throws SluiceError UNSUPPORTED on a chain of another family */
export function evmOf({ impl, chain }: NetworkEntry): EvmVerbs {
  if (impl.evm) return impl.evm
  throw new SluiceError('UNSUPPORTED', `${chain} is no EVM chain: it has no allowances and no nonces of that kind.`)
}
