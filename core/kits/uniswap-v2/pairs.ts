import { getCreate2Address, solidityPackedKeccak256 } from 'ethers'

/** Where an exchange's pairs come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** keccak256 of the pair's creation code: with the factory it gives every pair's address. */
  readonly initCodeHash: string
}

/** A pair, whether it is deployed or not. */
export interface PairAt {
  readonly address: string
  /** In the order in which the factory keeps them. */
  readonly tokens: readonly [token0: string, token1: string]
}

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000

/**
 * An exchange's pairs, computed (CREATE2) and remembered: two hashes would cost more than the rest of a quote. A quote asks
 * some twenty times, so what is known is found by the names as they are, without sorting or joining them.
 */
export function pairFinder({ factory, initCodeHash }: Deployment): (a: string, b: string) => PairAt {
  const known = new Map<string, Map<string, PairAt>>()
  let remembered = 0
  return (a, b) => {
    const found = known.get(a)?.get(b)
    if (found !== undefined) return found
    const tokens = sortTokens(a, b)
    const pair = { address: getCreate2Address(factory, solidityPackedKeccak256(['address', 'address'], tokens), initCodeHash), tokens }
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const beside = known.get(a) ?? new Map<string, PairAt>()
    known.set(a, beside.set(b, pair))
    remembered += 1
    return pair
  }
}

function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}
