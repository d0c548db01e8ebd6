import type { Place, PoolMemory, PoolProtocol } from '../../../kits/amm/protocol.ts'

/** Pools that can be kept in memory are read for a single quote as they are loaded into it. */
export const readBy =
  <State, At extends Place>(memory: PoolMemory<State, At>): PoolProtocol<State>['read'] =>
  (pairs, missing) => {
    const { calls, pools } = memory.read(memory.places(pairs), missing)
    return { calls, pools: (results) => pools(results).filter((pool) => pool !== null) }
  }
