import type { LoadedChain, LoadedConnector } from '../loader/index.ts'
import type { SignerPolicy } from '../wallet/index.ts'

/** What may be signed, by what the loaded plugins declare. */
export function signerPolicy(chains: readonly LoadedChain[], connectors: readonly LoadedConnector[], allowedSpenders: readonly string[]): SignerPolicy {
  const networks = chains.flatMap(({ venues }) =>
    venues.map(({ chain, network, implementation }) => {
      const here = connectors.filter(({ venues: all }) => all.some((venue) => venue.chain === chain && venue.network === network))
      const venuesHere = here.flatMap((connector) => connector.venues.filter((venue) => venue.chain === chain && venue.network === network))
      return {
        chain,
        network,
        chainId: implementation.chainId,
        feeCapRaw: implementation.feeCapRaw.toString(),
        local: implementation.local,
        contracts: [...new Set(venuesHere.flatMap(({ contracts }) => Object.values(contracts)))],
        spenders: [...new Set(venuesHere.flatMap((venue) => Object.values(venue.implementation.spenders ?? {})))],
        typedData: here.flatMap(({ manifest }) => (manifest.signs ?? []).map((each) => ({ ...each }))),
      }
    }),
  )
  return { networks, allowedSpenders: [...allowedSpenders] }
}
