import path from 'node:path'
import { parseUnits, type JsonRpcProvider } from 'ethers'
import type { ClusterSite, DevnetShares, Quoter, QuoterHop, PerpOperator, BookOperators } from '../core/contracts/devnet.ts'
import { deployerAddress, loadDevnetPlugin, devnetSite } from '../core/devnet/build-state.ts'
import { registerHook } from '../core/plugins/index.ts'
import type { TestServer } from './server.ts'

/** Extends an exchange's quoter to split swaps: each route is quoted for its share of the amount, rounded down, and the last for the rest. */
function splitQuoter(quoter: Quoter): Quoter {
  const sum = async (
    route: readonly QuoterHop[],
    amountRaw: bigint,
    quote: (part: readonly QuoterHop[], amountRaw: bigint) => Promise<bigint>,
  ) => {
    const parts = splitRoutes(route)
    let [leftRaw, otherRaw] = [amountRaw, 0n]
    for (const [index, part] of parts.entries()) {
      const shareRaw = index === parts.length - 1 ? leftRaw : (amountRaw * parseUnits(part[0]?.share ?? '1', 2)) / 100n
      leftRaw -= shareRaw
      otherRaw += await quote(part, shareRaw)
    }
    return otherRaw
  }
  return {
    exactIn: (route, amountRaw, block) => sum(route, amountRaw, (part, partRaw) => quoter.exactIn(part, partRaw, block)),
    exactOut: (route, amountRaw, block) => sum(route, amountRaw, (part, partRaw) => quoter.exactOut(part, partRaw, block)),
  }
}

/** The routes of a split swap. No route returns to the input token, so that each hop from it begins another one. */
function splitRoutes(route: readonly QuoterHop[]): readonly (readonly QuoterHop[])[] {
  const routes: QuoterHop[][] = []
  for (const hop of route) {
    if (hop.tokenIn === route[0]?.tokenIn) routes.push([hop])
    else routes.at(-1)?.push(hop)
  }
  return routes
}

/** In the author's own test process: the server runs it in another one. */
async function importDevnetFile(file: string) {
  await registerHook([{ folder: path.dirname(file), builtIn: false }])
  return loadDevnetPlugin(file)
}

/** Whether the exchange's contracts take no deadline, by the plugin's `devnet.ts`. */
export const devnetNoDeadline = async (devnetFile: string): Promise<boolean> => (await importDevnetFile(devnetFile)).noDeadline === true

/** What the plugin's `devnet.ts` says of its pools with shares, with the tokens of the pool that the cards use. */
export async function devnetShares(devnetFile: string): Promise<SharesOnDevnet | undefined> {
  const { name, shares } = await importDevnetFile(devnetFile)
  if (!shares) return undefined
  const { tokens, ...terms } = shares
  return { ...terms, ...(tokens && { tokens: tokens({ deployer: deployerAddress(name) }) }) }
}

export type SharesOnDevnet = Omit<DevnetShares, 'tokens'> & { readonly tokens?: readonly string[] }

/** The quoter of a plugin's `devnet.ts` on a running devnet. Undefined if it has none. */
export async function devnetQuoter(devnetFile: string, provider: JsonRpcProvider): Promise<Quoter | undefined> {
  const plugin = await importDevnetFile(devnetFile)
  const quoter = plugin.quoter?.({ provider, deployer: deployerAddress(plugin.name) })
  return quoter && splitQuoter(quoter)
}

/** The same of a plugin on Solana. */
export async function clusterQuoter(devnetFile: string, site: ClusterSite): Promise<Quoter | undefined> {
  return (await importDevnetFile(devnetFile)).clusterQuoter?.(site)
}

/** The operator of the perpetual exchange in a plugin's `devnet.ts`, on a running devnet. Undefined if it has none. */
export async function devnetPerpOperator(devnetFile: string, provider: JsonRpcProvider): Promise<PerpOperator | undefined> {
  const plugin = await importDevnetFile(devnetFile)
  return plugin.perpOperator?.(await devnetSite(plugin.name, provider))
}

/** The other traders on the order books in a plugin's `devnet.ts`, on a running devnet. Undefined if it has none. */
export async function devnetBookOperators(devnetFile: string, provider: JsonRpcProvider): Promise<BookOperators | undefined> {
  const plugin = await importDevnetFile(devnetFile)
  return plugin.bookOperators?.(await devnetSite(plugin.name, provider))
}

/** @throws Error with what went wrong in the plugin's devnet.ts: without its contracts no card says anything */
export function requireDeployed({ devnet }: Pick<TestServer['kernel'], 'devnet'>, name: string): void {
  const refusal = devnet?.refused.find(({ file }) => path.basename(path.dirname(file)) === name)
  if (refusal) throw new Error(refusal.reason)
}
