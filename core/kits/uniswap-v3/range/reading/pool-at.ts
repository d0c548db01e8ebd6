import { AbiCoder, getCreate2Address, keccak256 } from 'ethers'
import type { RangeExchange } from '../exchange.ts'

/** Where the pool of two tokens and a fee is, whether there is one or not: PoolAddress of @uniswap/v3-periphery@1.4.4. */
export function poolAt({ factory, deployer = factory, initCodeHash }: RangeExchange, token0: string, token1: string, fee: number): string {
  const key = AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint24'], [token0, token1, fee])
  return getCreate2Address(deployer, keccak256(key), initCodeHash)
}

/** The order in which pools keep two tokens. */
export function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}
