// What the limits of clients ask of networks and their market: tokens by name, and what an amount is worth. Nobody waits for it.
import type { GivenValue, LimitedToken } from '../limits/limit-checks.ts'
import type { Market } from '../market/market.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import type { NetworkName } from '../base/networks.ts'

type Networks = Pick<Registry, 'networks'>

export const networkOf = ({ chain, network }: NetworkName, { networks }: Networks): NetworkEntry | undefined =>
  networks.find((each) => each.chain === chain && each.network === network)

/** The listed token of a symbol or an address; undefined where there is none, or several. */
export function limitedToken(on: NetworkName, name: string, registry: Networks): LimitedToken | undefined {
  try {
    return networkOf(on, registry)?.tokens.known(name, 'token')
  } catch {
    // A name that stands for no token, or for several, limits none.
    return undefined
  }
}

/** What the client gives is worth at most, in millionths of the reference token. @param gives by token address, smallest units */
export function valueOf(
  on: NetworkName & { readonly client: string },
  gives: Readonly<Record<string, bigint>>,
  { registry, market }: { readonly registry: Networks; readonly market: Pick<Market, 'isChecked' | 'value'> },
): GivenValue {
  const network = networkOf(on, registry)
  if (!network || !market.isChecked(network)) return { is: 'no market' }
  const value = market.value(network, gives, on.client)
  if (value.is === 'priced') return value
  return { is: 'no market', ...((value.is === 'too short' || value.is === 'too new') && { seconds: Math.ceil(value.leftMs / 1000) }) }
}
