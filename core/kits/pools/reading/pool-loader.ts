import type { At, Head } from '../../../contracts/index.ts'
import type { EvmReader } from '../../../../kits/evm/types.ts'
import { poolAsOf } from '../pool-as-of.ts'
import type { Pair } from '../../../../kits/amm/protocol.ts'
import type { Wanted } from '../routing/arrival.ts'
import { lanesOf, type Lanes } from '../../../../kits/amm/routing/graph.ts'
import type { Ways } from '../routing/ways.ts'
import type { RouterChecks } from './router-checks.ts'

export interface Loaded {
  readonly head: Head
  readonly lanes: Lanes
}

/** Loads the pools of all protocols at one block, in one round trip, and checks the routers that may be chosen with it. */
export function poolLoader(reader: EvmReader, checks: RouterChecks) {
  return async (ways: Ways, pairs: readonly Pair[], wanted: readonly Wanted[], at: At): Promise<Loaded> => {
    const readings = ways.protocols.map((protocol) => {
      const missing = wanted.filter((each) => each.protocol === protocol).map((each) => each.missing)
      return { protocol, reading: protocol.read(pairs, missing) }
    })
    const due = checks.due(ways.routers)
    const calls = [...readings.flatMap(({ reading }) => reading.calls), ...checks.calls(due)]
    const { head, results } = await reader.read(calls, at)

    let taken = 0
    const take = (count: number) => results.slice(taken, (taken += count))
    const pools = readings.flatMap(({ protocol, reading }) =>
      reading.pools(take(reading.calls.length)).flatMap((read) => {
        const pool = poolAsOf({ protocol, pool: read }, head)
        return pool ? [{ protocol, pool }] : []
      }),
    )
    checks.verify(due, results.slice(taken))
    return { head, lanes: lanesOf(pools) }
  }
}
