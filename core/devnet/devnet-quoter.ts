import type { JsonRpcProvider } from 'ethers'
import type { Quoter } from '../contracts/devnet.ts'
import { deployerAddress } from './deployer.ts'
import { loadDevnetPlugin } from './load-devnet-plugin.ts'
import { quoterByParts } from '../../testkit/devnet-operators.ts'

/** The quoter that a plugin's `devnet.ts` names, on a devnet that runs; undefined when it names none. */
export async function devnetQuoter(devnetFile: string, provider: JsonRpcProvider): Promise<Quoter | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  const quoter = plugin.quoter?.({ provider, deployer: deployerAddress(plugin.name) })
  return quoter && quoterByParts(quoter)
}
