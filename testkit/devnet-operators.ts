import { parseUnits } from 'ethers'
import type { Quoter, QuoterHop } from '../core/contracts/devnet.ts'

/**
 * An exchange's quoter for swaps that go several ways at once, too: each is asked about its share of the amount, rounded down, the last about
 * what is left.
 */
export function quoterByParts(quoter: Quoter): Quoter {
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
