import { getCreateAddress, type BaseContract } from 'ethers'
import type { DevnetSite } from '../../../contracts/devnet.ts'

export interface Place {
  readonly site: DevnetSite
  readonly vault: BaseContract
  readonly feeProvider: string
}

// The order of the second transaction of `deployVault` below.
const vaultNonce = 1
export const vaultOf = (deployer: string) => getCreateAddress({ from: deployer, nonce: vaultNonce })

// The longest that they take: TemporarilyPausable of npm @balancer-labs/v2-solidity-utils 4.0.0.
export const pauseSeconds = { window: 90 * 86_400, buffer: 30 * 86_400 }
// The most of yields and of assets under management that the protocol may keep, half of each. Of swaps it keeps nothing.
const mostProtocolFees = [10n ** 18n / 2n, 10n ** 18n / 2n] as const

/** What a pool's contracts need. Comes before all else that the signer does. */
export async function deployVault(site: DevnetSite, weth: string): Promise<Place> {
  const artifact = (contract: string) => site.artifact(contract, new URL('../../../../kits/amm/weighted/devnet.ts', import.meta.url).href)
  const authorizer = await site.deploy(await artifact('Authorizer'), site.signer.address)
  const { window, buffer } = pauseSeconds
  const vault = await site.deploy(await artifact('Vault'), await authorizer.getAddress(), weth, window, buffer)
  const feeProvider = await site.deploy(await artifact('ProtocolFeePercentagesProvider'), await vault.getAddress(), ...mostProtocolFees)
  return { site, vault, feeProvider: await feeProvider.getAddress() }
}
