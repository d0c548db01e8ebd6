import type { Chain } from '../contracts/index.ts'
import type { LoadedChain, LoadedConnector, LoadedVenue } from '../loader/index.ts'
import { StartError } from '../start-error.ts'
import type { NetworkPolicy, SignerPolicy } from '../wallet/index.ts'

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
  const venues = chains.flatMap((chain) => chain.venues)
  return {
    networks: venues.filter(isSignable).map((venue) => networkPolicy(venue, connectors)),
    allowedSpenders: venues.length === 0 ? [] : allowedSpenders.map((text) => spenderOf(text, venues)),
  }
}

function networkPolicy(on: LoadedVenue<Chain>, connectors: readonly LoadedConnector[]): NetworkPolicy {
  const { chain, network, implementation } = on
  const isHere = (venue: { chain: string; network: string }) => venue.chain === chain && venue.network === network
  const here = connectors.filter(({ venues }) => venues.some(isHere))
  const venuesHere = here.flatMap(({ venues }) => venues.filter(isHere))
  const declared = (what: string, of: (venue: (typeof venuesHere)[number]) => object) => [
    ...new Set(venuesHere.flatMap((venue) => Object.values(of(venue)).flatMap((value: unknown) => addressOf(value, what, on, venue)))),
  ]
  return {
    chain,
    network,
    chainId: implementation.chainId,
    feeCapRaw: implementation.feeCapRaw.toString(),
    local: implementation.local === true,
    contracts: declared('contract', ({ contracts }) => contracts),
    spenders: declared('spender', ({ implementation: { spenders } }) => spenders ?? {}),
    typedData: here.flatMap(({ manifest }) => (manifest.signs ?? []).map((each) => ({ ...each }))),
  }
}

function isSignable({ plugin, chain, network, implementation: { chainId, feeCapRaw }, log }: LoadedVenue<Chain>): boolean {
  if (chainId > 0 && typeof feeCapRaw === 'bigint' && feeCapRaw >= 0n) return true
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
  { plugin, log }: LoadedVenue<object>,
): string[] {
  const address = typeof value === 'string' ? canonical(value, implementation) : undefined
  if (address !== undefined) return [address]
  log.warn({ plugin, chain, network, what }, 'the plugin declares what is no address that the signer knows; it signs nothing for it')
  return []
}

/** What the signer can compare with a transaction's bytes; undefined for anything else. */
function canonical(text: string, chain: Chain): string | undefined {
  try {
    const spelt: unknown = chain.address(text)
    return typeof spelt === 'string' && /^0x[0-9a-f]{40}$/i.test(spelt) ? spelt : undefined
  } catch {
    return undefined
  }
}

function spenderOf(text: string, venues: readonly LoadedVenue<Chain>[]): string {
  const address = venues.map(({ implementation }) => canonical(text, implementation)).find((each) => each !== undefined)
  if (address !== undefined) return address
  throw new StartError(
    `wallet.allowedSpenders in conf/server.yml holds "${text}", which is no address: copy it anew, complete and with the right checksum, or write it in lower case.`,
  )
}
