import type { PoolProtocol } from '../../../kits/amm/protocol.ts'
import type { Router } from './router.ts'

/** What a kit makes of one exchange on one network: pools to quote from, and routers to trade through. */
export interface PoolExchange {
  readonly protocols: readonly PoolProtocol[]
  /** In order of preference where several carry a route. */
  readonly routers: readonly Router[]
}
