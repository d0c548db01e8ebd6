import type { AMMRange, Venue } from '../../contracts/index.ts'
import type { Evm } from '../../../kits/evm/types.ts'
import type { PoolExchange } from '../../../kits/amm/index.ts'
import { exchangeAt, type UniswapV3Options } from '../../../kits/amm/v3/exchange.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { v3Range } from '../../../kits/amm/v3/range.ts'
import { rangeRouter } from '../../../kits/amm/v3/router.ts'

/**
 * Pools of concentrated liquidity behind a router, and positions in them, as Uniswap v3 and its forks have them. Throws
 * where the plugin or its configuration lacks the network.
 */
export function uniswapV3(venue: Venue<Evm>, options: UniswapV3Options): PoolExchange & { readonly range: AMMRange<Evm> } {
  const exchange = exchangeAt(venue, options)
  return {
    protocols: [v3Protocol(exchange)],
    routers: [rangeRouter(exchange, venue.reader.wrapped.address)],
    range: v3Range(exchange, venue.reader),
  }
}
