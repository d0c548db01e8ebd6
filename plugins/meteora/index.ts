// Meteora's pools of one range of prices (DAMM v2) on Solana.
import { defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import {
  accountsAMM,
  dammPools,
  examinePrograms,
  listedPoolsOf,
  programRefusals,
  programSchema,
  programsOf,
  requireProgram,
} from 'sluice/solana-pools'
import { configs, programs } from './deployments.ts'

/** What it refuses by, of those that a trade may meet. Source: @meteora-ag/cp-amm-sdk 1.5.0, src/idl/cp_amm.json, errors. */
const refusals = {
  6002: 'the price has moved past the limit',
  6003: 'this pool does not let the wallet trade',
}

/** Of the program, those that there is arithmetic of. */
const versions = ['damm-v2'] as const

export default defineConnector({
  family: solana,
  manifest: {
    name: 'meteora',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'solana', networks: ['mainnet', 'local'] }],
    schema: programSchema(versions),
  },
  create({ config, contracts, network, reader }) {
    const known = { ...programs, ...programsOf(config, versions) }
    const pools = dammPools({ configs, programs: known, listed: listedPoolsOf(config, network) })
    requireProgram(pools.program, { contracts, network })
    return {
      AMM: accountsAMM(reader, { protocols: [pools] }),
      refusals: programRefusals(pools.program, refusals),
      examine: examinePrograms(reader, [pools], versions),
    }
  },
})
