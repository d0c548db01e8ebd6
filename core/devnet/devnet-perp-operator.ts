import type { JsonRpcProvider } from 'ethers'
import type { PerpOperator } from '../contracts/devnet.ts'
import { devnetSite } from './devnet-site.ts'
import { loadDevnetPlugin } from './load-devnet-plugin.ts'

/** Who runs the perpetual exchange that a plugin's `devnet.ts` has deployed, on a devnet that runs; undefined when it names none. */
export async function devnetPerpOperator(devnetFile: string, provider: JsonRpcProvider): Promise<PerpOperator | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  return plugin.perpOperator?.(await devnetSite(plugin.name, provider))
}
