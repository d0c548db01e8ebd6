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

const keyTypes = ['address', 'address', 'uint24']

/** Where the pool of two tokens in their order and a fee is, whether there is one or not: PoolAddress of @uniswap/v3-periphery@1.4.4. */
export function poolAt({ factory, deployer = factory, initCodeHash }: PoolOrigin, tokens: readonly [string, string], fee: number): string {
  const key = AbiCoder.defaultAbiCoder().encode(keyTypes, [...tokens, fee])
  return getCreate2Address(deployer, keccak256(key), initCodeHash)
}
