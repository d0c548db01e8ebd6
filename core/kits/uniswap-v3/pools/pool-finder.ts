import { AbiCoder, getCreate2Address, keccak256 } from 'ethers'

/** Who makes an exchange's pools, and of what, on one network. */
export interface PoolOrigin {
  readonly factory: string
  /** Makes the pools: the factory itself where it is absent. */
  readonly deployer?: string
  /** keccak256 of a pool's creation code. */
  readonly initCodeHash: string
}

/** The order in which pools keep two tokens. */
export function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000
const keyTypes = ['address', 'address', 'uint24']

/** The pool of two tokens and a fee: whether there is one or not. */
export interface Place {
  readonly address: string
  /** In the pools' order. */
  readonly tokens: readonly [token0: string, token1: string]
}

/**
 * Where the pools of two tokens are, one for every fee: PoolAddress of @uniswap/v3-periphery@1.4.4. What `made` makes of each
 * is remembered with it, for two hashes cost more than the rest of reading a pool.
 */
export function poolFinder<T>(
  { factory, deployer = factory, initCodeHash }: PoolOrigin,
  fees: readonly number[],
  made: (place: Place) => T,
): (a: string, b: string) => readonly T[] {
  const known = new Map<string, Map<string, readonly T[]>>()
  let remembered = 0

  return (a, b) => {
    const found = known.get(a)?.get(b)
    if (found) return found
    const tokens = sortTokens(a, b)
    const pools = fees.map((fee) => {
      const key = AbiCoder.defaultAbiCoder().encode(keyTypes, [...tokens, fee])
      return made({ address: getCreate2Address(deployer, keccak256(key), initCodeHash), tokens })
    })
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const beside = known.get(a) ?? new Map<string, readonly T[]>()
    known.set(a, beside.set(b, pools))
    remembered += 1
    return pools
  }
}
