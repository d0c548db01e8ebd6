import { defineChain } from '../../contracts/index.ts'
import type { Chain, ChainPlugin, ChainVenue } from '../../contracts/index.ts'
import { solanaChain } from '../../../kits/solana/chain.ts'
import { solanaChainSchema } from '../../../kits/solana/network.ts'
import type { SolanaChainConfig } from '../../../kits/solana/network.ts'
import type { SolanaNetwork } from './network.ts'
import { solana } from '../../../kits/solana/types.ts'
import type { Solana } from '../../../kits/solana/types.ts'

export interface SolanaChainTables {
  /** The chain's, and its folder's. */
  readonly name: string
  /** The version of the plugin interface that it is written for. */
  readonly apiVersion: string
  readonly version?: string
  readonly networks: Readonly<Record<string, SolanaNetwork>>
}

/** A whole chain plugin: what is true of its networks. Its tokens lie beside it, in `tokens.json`. */
export function solanaChainPlugin({ name, apiVersion, version, networks }: SolanaChainTables): ChainPlugin<Solana, SolanaChainConfig> {
  return defineChain({
    family: solana,
    manifest: {
      name,
      apiVersion,
      ...(version !== undefined && { version }),
      trading_type: [],
      available_networks: [{ chain: name, networks: Object.keys(networks) }],
      schema: solanaChainSchema,
    },
    create(venue: ChainVenue<SolanaChainConfig>): Chain<Solana> {
      const definition = networks[venue.network]
      if (!definition) throw new Error(`Chain ${name} has no network "${venue.network}": it has ${Object.keys(networks).join(', ')}.`)
      return solanaChain(venue, definition)
    },
  })
}
