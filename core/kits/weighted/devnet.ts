import { getCreateAddress } from 'ethers'
import type { DevnetPlugin } from '../../testing/devnet-plugin.ts'
import { deployPool, fillPool, type WeightedPoolFilling } from './devnet/pools.ts'
import { quoterOf } from './devnet/quoter.ts'

export type { WeightedPoolFilling } from './devnet/pools.ts'

export interface WeightedDevnetOptions {
  readonly name: string
  readonly pools: readonly WeightedPoolFilling[]
}

// The order of the second transaction of `deploy` below.
const vaultNonce = 1
// The longest that they take: TemporarilyPausable of npm @balancer-labs/v2-solidity-utils 4.0.0.
const pauseSeconds = { window: 90 * 86_400, buffer: 30 * 86_400 }
// As on mainnet: npm @balancer-labs/v2-deployments 3.2.0, tasks/20220725-protocol-fee-percentages-provider. Swaps pay none of it.
const mostProtocolFees = [10n ** 18n / 2n, 10n ** 18n / 2n] as const

/** Puts an exchange of weighted pools on the devnet: a Vault, filled pools, and the Vault's own query as the quoter. */
export function weightedDevnet({ name, pools }: WeightedDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const artifact = (contract: string) => site.artifact(contract, import.meta.url)
      const authorizer = await site.deploy(await artifact('Authorizer'), site.signer.address)
      const vaultContract = await artifact('Vault')
      const { window, buffer } = pauseSeconds
      const vault = await site.deploy(vaultContract, await authorizer.getAddress(), site.tokens.WETH.address, window, buffer)
      const feeProvider = await site.deploy(await artifact('ProtocolFeePercentagesProvider'), await vault.getAddress(), ...mostProtocolFees)
      const place = { site, vault, feeProvider: await feeProvider.getAddress(), pauseSeconds }
      // All of them first, so that their addresses do not follow from what is in them.
      const deployed = []
      for (const filling of pools) deployed.push({ filling, pool: await deployPool(place, filling) })
      for (const { filling, pool } of deployed) await fillPool(place, filling, pool)
    },
    quoter: ({ provider, deployer }) => quoterOf(provider, getCreateAddress({ from: deployer, nonce: vaultNonce })),
  }
}
