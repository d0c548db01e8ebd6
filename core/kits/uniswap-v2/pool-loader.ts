import type { At, Head } from '../../contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import type { Exchange } from './exchange.ts'
import { pairFinder } from './pairs.ts'
import { getReservesData, readPool, type Pool, type PoolBetween } from './pools.ts'
import { routerCheck } from './router-check.ts'
import type { Path } from './routes.ts'

/** Loads the pools of all paths at one block, in one round trip. The first one checks the configured router as well. */
export function poolLoader(
  exchange: Exchange,
  reader: EvmReader,
): (paths: readonly Path[], at: At) => Promise<{ head: Head; poolBetween: PoolBetween }> {
  const pairBetween = pairFinder(exchange)
  const check = routerCheck(exchange, reader)
  let checked = false

  return async (paths, at) => {
    const pairs = [...new Set(paths.flatMap((path) => pairsAlong(path, pairBetween)))]
    const calls = pairs.map((pair) => ({ to: pair, data: getReservesData }))
    const { head, results } = await reader.read(checked ? calls : [...calls, ...check.calls], at)
    if (!checked) check.verify(results.slice(calls.length))
    checked = true

    const pools = new Map<string, Pool>()
    for (const [index, pair] of pairs.entries()) {
      const result = results[index]
      const pool = result && readPool(pair, result)
      if (pool) pools.set(pair, pool)
    }
    return { head, poolBetween: (a, b) => pools.get(pairBetween(a, b)) }
  }
}

function pairsAlong(path: Path, pairBetween: (a: string, b: string) => string): readonly string[] {
  let tokenIn = path[0]
  return path.slice(1).map((tokenOut) => {
    const pair = pairBetween(tokenIn, tokenOut)
    tokenIn = tokenOut
    return pair
  })
}
