import type { Head } from '../../contracts/index.ts'
import type { Pool, PoolProtocol } from '../../../kits/amm/protocol.ts'

/** A pool as it is after a block, with what the time alone makes of it; null where there is none, or it can do nothing. */
export function poolAsOf({ protocol, pool }: { readonly protocol: PoolProtocol; readonly pool: Pool | null }, head: Head): Pool | null {
  return pool && protocol.memory?.asOf ? protocol.memory.asOf(pool, head) : pool
}
