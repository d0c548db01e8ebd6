import { evm, evmChain, evmChainSchema } from 'sluice/evm'
import type { EvmChainConfig } from 'sluice/evm'
import { defineChain } from 'sluice/plugin'
import type { ChainVenue } from 'sluice/plugin'
import { networkNamed, networks } from './networks.ts'

export default defineChain({
  family: evm,
  manifest: {
    name: 'ethereum',
    apiVersion: '1.0',
    trading_type: [],
    available_networks: [{ chain: 'ethereum', networks: Object.keys(networks) }],
    schema: evmChainSchema,
  },
  create: (venue: ChainVenue<EvmChainConfig>) => evmChain(venue, networkNamed(venue.network)),
})
