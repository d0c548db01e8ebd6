// Meteora's pools of one range of prices (DAMM v2) on Solana.
import { defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import { accountsAMM, dammPools, listedPoolsOf, poolsSchema, programRefusals, requireProgram } from 'sluice/solana-pools'
import { configs } from './deployments.ts'

/** What it refuses by, of those that a trade may meet. Source: @meteora-ag/cp-amm-sdk 1.5.0, src/idl/cp_amm.json, errors. */
const refusals = {
  6002: 'the price has moved past the limit',
  6003: 'this pool does not let the wallet trade',
}

export default defineConnector({
  family: solana,
  manifest: {
    name: 'meteora',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'solana', networks: ['mainnet', 'local'] }],
    schema: poolsSchema,
  },
  create({ config, contracts, network, reader }) {
    const pools = dammPools({ configs, listed: listedPoolsOf(config, network) })
    requireProgram(pools.program, { contracts, network })
    return { AMM: accountsAMM(reader, { protocols: [pools] }), refusals: programRefusals(pools.program, refusals) }
  },
})
