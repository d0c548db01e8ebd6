import { getCreate2Address, solidityPackedKeccak256 } from 'ethers'

/** Where an exchange's pairs come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** keccak256 of the pair's creation code: with the factory it gives every pair's address. */
  readonly initCodeHash: string
}

/** The order in which a factory keeps the tokens of a pair. */
export function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000

/** Addresses of an exchange's pairs, computed (CREATE2) and remembered: two hashes would cost more than the rest of a quote. */
export function pairFinder({ factory, initCodeHash }: Deployment): (a: string, b: string) => string {
  const known = new Map<string, string>()
  return (a, b) => {
    const tokens = sortTokens(a, b)
    const key = tokens.join('-')
    const found = known.get(key)
    if (found) return found
    const address = getCreate2Address(factory, solidityPackedKeccak256(['address', 'address'], tokens), initCodeHash)
    if (known.size >= mostRemembered) known.clear()
    known.set(key, address)
    return address
  }
}
