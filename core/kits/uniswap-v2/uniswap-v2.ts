import type { Venue } from '../../contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { listedVersions, type PoolExchange } from '../pools/index.ts'
import { exchangeAt, type UniswapV2Options } from './exchange.ts'
import { pairProtocol } from './protocol.ts'
import { pairRouter } from './router.ts'

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
