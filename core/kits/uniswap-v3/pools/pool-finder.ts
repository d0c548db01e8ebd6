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

/** Two tokens in the pools' order, and the address of their pool for every fee. */
export interface PoolsBetween {
  readonly tokens: readonly [token0: string, token1: string]
  readonly addresses: readonly string[]
}

/** Where the pools of two tokens are, whether there are any or not: PoolAddress of @uniswap/v3-periphery@1.4.4. Remembered: hashes are slow. */
export function poolFinder({ factory, deployer = factory, initCodeHash }: PoolOrigin, fees: readonly number[]) {
  const known = new Map<string, Map<string, PoolsBetween>>()
  let remembered = 0

  return (a: string, b: string): PoolsBetween => {
    const found = known.get(a)?.get(b)
    if (found) return found
    const tokens = sortTokens(a, b)
    const addresses = fees.map((fee) => {
      const key = AbiCoder.defaultAbiCoder().encode(keyTypes, [...tokens, fee])
      return getCreate2Address(deployer, keccak256(key), initCodeHash)
    })
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const between = { tokens, addresses }
    const beside = known.get(a) ?? new Map<string, PoolsBetween>()
    known.set(a, beside.set(b, between))
    remembered += 1
    return between
  }
}
