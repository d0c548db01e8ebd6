import type { Chain, Family } from './contracts/index.ts'
import type { LoadedChain, LoadedConnector, LoadedVenue } from './loader/loaded-plugin.ts'
import { StartError } from './start-error.ts'
import { curves } from './wallet/keys.ts'
import { type NetworkPolicy, type SignerPolicy } from './wallet/policy.ts'

type Keys = Family['keys']

/**
 * What may be signed, by what the loaded plugins declare. What a plugin declares wrongly is left out, and so refused by the
 * signer: it must not keep the server from starting.
 * @throws StartError for a spender of the settings that is no address
 */
export function signerPolicy(
  chains: readonly LoadedChain[],
  connectors: readonly LoadedConnector[],
  allowedSpenders: readonly string[],
): SignerPolicy {
  const signable = chains.map(({ keys, venues }) => ({ keys, venues: venues.filter((venue) => isSignable(venue, keys)) }))
  const withSpenders = chains.flatMap(({ keys, venues }) => (keys === 'secp256k1' ? venues : []))
  return {
    networks: signable.flatMap(({ keys, venues }) => venues.map((venue) => networkPolicy(venue, keys, connectors))),
    allowedSpenders: withSpenders.length === 0 ? [] : allowedSpenders.map((text) => spenderOf(text, withSpenders)),
  }
}

function networkPolicy(on: LoadedVenue<Chain>, keys: Keys, connectors: readonly LoadedConnector[]): NetworkPolicy {
  const { chain, network, implementation } = on
  const isHere = (venue: { chain: string; network: string }) => venue.chain === chain && venue.network === network
  const here = connectors.filter(({ venues }) => venues.some(isHere))
  const venuesHere = here.flatMap(({ venues }) => venues.filter(isHere))
  const declared = (what: string, of: (venue: (typeof venuesHere)[number]) => object) => [
    ...new Set(
      venuesHere.flatMap((venue) => Object.values(of(venue)).flatMap((value: unknown) => addressOf(value, what, on, keys, venue))),
    ),
  ]
  const everywhere = {
    chain,
    network,
    feeCapRaw: implementation.feeCapRaw.toString(),
    local: implementation.local === true,
    contracts: declared('contract', ({ contracts }) => contracts),
  }
  if (keys === 'ed25519') return { keys, ...everywhere }
  return {
    keys,
    ...everywhere,
    chainId: implementation.chainId,
    spenders: declared('spender', ({ implementation: { spenders } }) => spenders ?? {}),
    deposits: depositsOn(on, keys, connectors),
    typedData: here.flatMap(({ manifest }) =>
      (manifest.signs ?? []).map(({ own, ...each }) => ({ ...each, ...(own && { own: [...own] }) })),
    ),
  }
}

/** By the bridges of exchanges elsewhere that begin on this network. */
function depositsOn(on: LoadedVenue<Chain>, keys: Keys, connectors: readonly LoadedConnector[]) {
  return connectors.flatMap(({ venues }) =>
    venues.flatMap((venue) => {
      const bridge = Object.hasOwn(venue.bridges, on.chain) ? venue.bridges[on.chain] : undefined
      if (bridge?.network !== on.network) return []
      const [token, recipient] = [bridge.token, bridge.recipient].map((text) => addressOf(text, 'bridge', on, keys, venue)[0])
      return token === undefined || recipient === undefined ? [] : [{ token, recipient }]
    }),
  )
}

function isSignable({ plugin, chain, network, implementation: { chainId, feeCapRaw }, log }: LoadedVenue<Chain>, keys: Keys): boolean {
  if ((keys !== 'secp256k1' || chainId > 0) && typeof feeCapRaw === 'bigint' && feeCapRaw >= 0n) return true
  log.warn(
    { plugin, chain, network },
    'nothing is signed for this network: the plugin gives no chain id above 0, or no feeCapRaw (a bigint)',
  )
  return false
}

/** As the signer reads it, or nothing. */
function addressOf(
  value: unknown,
  what: string,
  { chain, network, implementation }: LoadedVenue<Chain>,
  keys: Keys,
  { plugin, log }: LoadedVenue<object>,
): string[] {
  const address = typeof value === 'string' ? canonical(value, implementation, keys) : undefined
  if (address !== undefined) return [address]
  log.warn({ plugin, chain, network, what }, 'the plugin declares what is no address that the signer knows; it signs nothing for it')
  return []
}

/** What the signer can compare with a transaction's bytes; undefined for anything else. */
function canonical(text: string, chain: Chain, keys: Keys): string | undefined {
  try {
    const spelt: unknown = chain.address(text)
    return typeof spelt === 'string' ? curves[keys].address(spelt) : undefined
  } catch {
    return undefined
  }
}

function spenderOf(text: string, venues: readonly LoadedVenue<Chain>[]): string {
  const address = venues.map(({ implementation }) => canonical(text, implementation, 'secp256k1')).find((each) => each !== undefined)
  if (address !== undefined) return address
  throw new StartError(
    `wallet.allowedSpenders in conf/server.yml holds "${text}", which is no address: copy it anew, complete and with the right checksum, or write it in lower case.`,
  )
}
