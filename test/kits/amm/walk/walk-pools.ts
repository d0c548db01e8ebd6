import { Interface } from 'ethers'
import type { Token } from '../../../../core/contracts/index.ts'
import type { TestChain } from '../../evm/test-chain.ts'

/** A pool of the walk; a v2 pool has no fee tier. */
export interface WalkPool {
  readonly version: 'v2' | 'v3'
  readonly address: string
  readonly tokens: readonly [string, string]
  /** Hundredths of a basis point. */
  readonly fee: number
}

/** By fee tier. */
export const spacings: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10_000: 200 }
export const fees: readonly number[] = Object.keys(spacings).map(Number)
const abi = new Interface([
  'function getPair(address, address) view returns (address pool)',
  'function getPool(address, address, uint24) view returns (address pool)',
])

/** All pools of the exchange between these tokens, by its factories. */
export async function poolsAmong(
  tokens: readonly Token[],
  { v2Factory, factory }: { readonly v2Factory: string; readonly factory: string },
  rpc: TestChain['rpc'],
): Promise<readonly WalkPool[]> {
  const pools: WalkPool[] = []
  const ask = async (to: string, name: string, args: readonly unknown[]): Promise<string> => {
    const answer = String(await rpc('eth_call', { to, data: abi.encodeFunctionData(name, args) }, 'latest'))
    return abi.decodeFunctionResult(name, answer).getValue('pool')
  }
  for (const [index, { address: a }] of tokens.entries()) {
    for (const { address: b } of tokens.slice(index + 1)) {
      const pair = await ask(v2Factory, 'getPair', [a, b])
      if (BigInt(pair) !== 0n) pools.push({ version: 'v2', address: pair, tokens: [a, b], fee: 3000 })
      for (const fee of fees) {
        const pool = await ask(factory, 'getPool', [a, b, fee])
        if (BigInt(pool) !== 0n) pools.push({ version: 'v3', address: pool, tokens: [a, b], fee })
      }
    }
  }
  return pools
}

/** A route through pools, the tokens in order. */
export interface WalkRoute {
  readonly tokens: readonly string[]
  readonly pools: readonly WalkPool[]
}

/** Every route of up to three hops over the other tokens, through pools of these versions, without a token twice. */
export function routesBetween(
  pools: readonly WalkPool[],
  tokenIn: string,
  tokenOut: string,
  between: readonly string[],
  allowed: (versions: readonly string[]) => boolean,
): readonly WalkRoute[] {
  const found: WalkRoute[] = []
  const follow = (tokens: readonly string[], through: readonly WalkPool[]): void => {
    const here = tokens.at(-1)
    for (const pool of pools) {
      if (here === undefined || !pool.tokens.includes(here)) continue
      const next = pool.tokens[0] === here ? pool.tokens[1] : pool.tokens[0]
      if (tokens.includes(next)) continue
      const route = { tokens: [...tokens, next], pools: [...through, pool] }
      if (next === tokenOut) {
        if (allowed(route.pools.map(({ version }) => version))) found.push(route)
      } else if (route.pools.length < 3 && between.includes(next)) follow(route.tokens, route.pools)
    }
  }
  follow([tokenIn], [])
  return found
}
