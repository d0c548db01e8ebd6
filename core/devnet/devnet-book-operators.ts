import type { JsonRpcProvider } from 'ethers'
import type { BookOperators } from '../contracts/devnet.ts'
import { devnetSite } from './devnet-site.ts'
import { loadDevnetPlugin } from './load-devnet-plugin.ts'

/** Who else trades on the order books that a plugin's `devnet.ts` has deployed, on a devnet that runs; undefined when it names none. */
export async function devnetBookOperators(devnetFile: string, provider: JsonRpcProvider): Promise<BookOperators | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  return plugin.bookOperators?.(await devnetSite(plugin.name, provider))
}
