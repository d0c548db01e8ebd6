import type { AMMRange, Venue } from '../../contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import type { PoolExchange } from '../pools/index.ts'
import { exchangeAt, type UniswapV3Options } from './exchange.ts'
import { v3Protocol } from './pools/v3-protocol.ts'
import { v3Range } from './range/range.ts'
import { rangeRouter } from './router/router.ts'

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
