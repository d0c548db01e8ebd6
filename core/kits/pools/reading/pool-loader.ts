import type { At, Head } from '../../../contracts/index.ts'
import type { EvmReader } from '../../evm/types.ts'
import type { Pair } from '../protocol.ts'
import type { Router } from '../router.ts'
import type { Wanted } from '../routing/arrival.ts'
import { lanesOf, type Lanes } from '../routing/lanes.ts'
import type { Ways } from '../routing/ways.ts'

export interface Loaded {
  readonly head: Head
  readonly lanes: Lanes
}

/**
 * Loads the pools of all protocols at one block, in one round trip. A router that may be chosen is checked with the first
 * one: a configured address of another exchange would give the prices of one and the trades of the other.
 */
export function poolLoader(reader: EvmReader) {
  const checked = new Set<Router>()

  return async (ways: Ways, pairs: readonly Pair[], wanted: readonly Wanted[], at: At): Promise<Loaded> => {
    const readings = ways.protocols.map((protocol) => {
      const missing = wanted.filter((each) => each.protocol === protocol).map((each) => each.missing)
      return { protocol, reading: protocol.read(pairs, missing) }
    })
    const checks = ways.routers.filter((router) => router.check && !checked.has(router))
    const calls = [...readings.flatMap(({ reading }) => reading.calls), ...checks.flatMap(({ check }) => check?.calls ?? [])]
    const { head, results } = await reader.read(calls, at)

    let taken = 0
    const take = (count: number) => results.slice(taken, (taken += count))
    const pools = readings.flatMap(({ protocol, reading }) => reading.pools(take(reading.calls.length)).map((pool) => ({ protocol, pool })))
    for (const router of checks) {
      router.check?.verify(take(router.check.calls.length))
      checked.add(router)
    }
    return { head, lanes: lanesOf(pools) }
  }
}
