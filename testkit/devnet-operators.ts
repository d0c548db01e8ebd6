import { parseUnits, type JsonRpcProvider } from 'ethers'
import type { Quoter, QuoterHop, PerpOperator, BookOperators } from '../core/contracts/devnet.ts'
import { deployerAddress, loadDevnetPlugin, devnetSite } from '../core/devnet/build-state.ts'

/**
 * An exchange's quoter for swaps that go several ways at once, too: each is asked about its share of the amount, rounded down, the last about
 * what is left.
 */
function splitQuoter(quoter: Quoter): Quoter {
  const sum = async (
    route: readonly QuoterHop[],
    amountRaw: bigint,
    ask: (part: readonly QuoterHop[], amountRaw: bigint) => Promise<bigint>,
  ) => {
    const parts = waysOf(route)
    let [leftRaw, otherRaw] = [amountRaw, 0n]
    for (const [index, part] of parts.entries()) {
      const shareRaw = index === parts.length - 1 ? leftRaw : (amountRaw * parseUnits(part[0]?.share ?? '1', 2)) / 100n
      leftRaw -= shareRaw
      otherRaw += await ask(part, shareRaw)
    }
    return otherRaw
  }
  return {
    exactIn: (route, amountRaw, block) => sum(route, amountRaw, (part, partRaw) => quoter.exactIn(part, partRaw, block)),
    exactOut: (route, amountRaw, block) => sum(route, amountRaw, (part, partRaw) => quoter.exactOut(part, partRaw, block)),
  }
}

/** No way comes back to the token that goes in: where it stands again, another begins. */
function waysOf(route: readonly QuoterHop[]): readonly (readonly QuoterHop[])[] {
  const ways: QuoterHop[][] = []
  for (const hop of route) {
    if (hop.tokenIn === route[0]?.tokenIn) ways.push([hop])
    else ways.at(-1)?.push(hop)
  }
  return ways
}

/** The quoter that a plugin's `devnet.ts` names, on a devnet that runs; undefined when it names none. */
export async function devnetQuoter(devnetFile: string, provider: JsonRpcProvider): Promise<Quoter | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  const quoter = plugin.quoter?.({ provider, deployer: deployerAddress(plugin.name) })
  return quoter && splitQuoter(quoter)
}

/** Who runs the perpetual exchange that a plugin's `devnet.ts` has deployed, on a devnet that runs; undefined when it names none. */
export async function devnetPerpOperator(devnetFile: string, provider: JsonRpcProvider): Promise<PerpOperator | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  return plugin.perpOperator?.(await devnetSite(plugin.name, provider))
}

/** Who else trades on the order books that a plugin's `devnet.ts` has deployed, on a devnet that runs; undefined when it names none. */
export async function devnetBookOperators(devnetFile: string, provider: JsonRpcProvider): Promise<BookOperators | undefined> {
  const plugin = await loadDevnetPlugin(devnetFile)
  return plugin.bookOperators?.(await devnetSite(plugin.name, provider))
}
