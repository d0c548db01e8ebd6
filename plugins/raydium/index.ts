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

/**
 * Numbers of the classes of pools that everybody may make, from 0.25 % up, whose pools are followed from before they are there. Which others there are the chain tells. Source: https://api-v3.raydium.io/main/cpmm-config, and the addresses
 * that the program derives of them: number 0 is D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2.
 */
export const classes = [0, 1, 2, 3] as const

/**
 * The bytes of the program that quotes were held against, by their sha256, as core/devnet/solana-programs.json has them. What each was judged by stands there. Which
 * bytes mainnet has now was asked of no node: a configuration adds them.
 */
const programs: Readonly<Record<string, 'creator-fees' | 'early-2025'>> = {
  // Its bytes: every swap of a walk moved what was quoted.
  '4ec452fc44ad608c638a08355b8f964c92109a646f63ab481f98ee5e90c00e7b': 'early-2025',
  // Its source: creator fees equal in 24,758 cases. Mainnet had these bytes in September 2026; they were not run here.
  '36537be95ba356056fa38b2847d928078c68bf6cd79b875c140e157e6452cc71': 'creator-fees',
}

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
