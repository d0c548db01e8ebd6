import { Wallet, computeAddress, id } from 'ethers'
import type { Provider } from 'ethers'

/** The account that deploys a plugin's contracts: made from the plugin's name, so the same in every build. */
export function deployer(pluginName: string, provider: Provider): Wallet {
  return new Wallet(deployerKey(pluginName), provider)
}

export function deployerAddress(pluginName: string): string {
  return computeAddress(deployerKey(pluginName))
}

// No secret: whoever reads this has it, and it holds nothing but the devnet's play money.
function deployerKey(pluginName: string): string {
  return id(`sluice devnet: ${pluginName}`)
}
