import type { Venue } from '../../contracts/index.ts'
import type { Evm } from '../../../kits/evm/types.ts'
import { listedVersions, type PoolExchange } from '../../../kits/amm/index.ts'
import { exchangeAt, type UniswapV2Options } from '../../../kits/amm/v2/exchange.ts'
import { pairProtocol } from '../../../kits/amm/v2/pools.ts'
import { pairRouter } from '../../../kits/amm/v2/router.ts'

/**
 * Constant-product pools behind a router, as Uniswap v2 and its forks have them; nothing where the configuration lists
 * versions without this one. Throws where the plugin or its configuration lacks the network.
 */
export function uniswapV2(venue: Venue<Evm>, options: UniswapV2Options): PoolExchange {
  const { version } = options
  if (version !== undefined && listedVersions(venue.config)?.includes(version) === false) return { protocols: [], routers: [] }
  const exchange = exchangeAt(venue, options)
  return {
    protocols: [pairProtocol(exchange.version, exchange.fee, exchange)],
    routers: [pairRouter(exchange, venue.reader)],
  }
}
