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

/**
 * Numbers of the configurations that everybody may make pools with and whose pools are followed from before they are there, beside the one pool of a pair that has no
 * configuration. Which others there are the chain tells; there were 72: https://docs.meteora.ag/developer-guides/damm-v2/pool-fee-configs
 */
export const configs = [0, 1, 2, 3, 4, 5, 6, 7] as const

/**
 * The bytes of the program that quotes were held against, by their sha256, as core/devnet/solana-programs.json has them. What each was judged by stands there. Which
 * bytes mainnet has now was asked of no node: a configuration adds them.
 */
const programs = {
  // Their bytes: every swap of a walk moved what was quoted, of the second one in 1,500 of 1,500.
  '171e53bbc797459dde7f62d7b57943b0b596087e9364e25f4c3127e9893cb1b1': 'damm-v2',
  a6ae5c0dcc42f2e22b035ca5b55e815d23a05040d0f08272d186db5ae2336a0c: 'damm-v2',
} as const

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
