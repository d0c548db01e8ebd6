// Raydium's pools of a constant product (CPMM) on Solana.
import { defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import {
  accountsAMM,
  constantProductPools,
  examinePrograms,
  listedPoolsOf,
  programRefusals,
  programSchema,
  programsOf,
  requireProgram,
} from 'sluice/solana-pools'
import { classes, programs } from './deployments.ts'

/** What it refuses by, of those that a trade may meet. Source: github.com/raydium-io/raydium-cp-swap at 609780f, programs/cp-swap/src/error.rs; the first one is 6000. */
const refusals = {
  6000: 'this pool does not let the wallet trade',
  6005: 'the price has moved past the limit',
  6006: 'the amount is too small to be traded',
}

/** Of the program, those that there is arithmetic of. */
const versions = ['creator-fees', 'early-2025'] as const

export default defineConnector({
  family: solana,
  manifest: {
    name: 'raydium',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'solana', networks: ['mainnet', 'local'] }],
    schema: programSchema(versions),
  },
  create({ config, contracts, network, reader }) {
    const programVersion = { ...programs, ...programsOf(config, versions) }
    const pools = constantProductPools({ programVersion, classes, listed: listedPoolsOf(config, network) })
    requireProgram(pools.program, { contracts, network })
    return {
      AMM: accountsAMM(reader, { protocols: [pools] }),
      refusals: programRefusals(pools.program, refusals),
      examine: examinePrograms(reader, [pools], versions),
    }
  },
})
