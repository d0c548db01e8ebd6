// "sluice/uniswap-v3": exchanges of concentrated liquidity.
import type { AMMRange, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import type { PoolExchange } from '../protocol.ts'
import { exchangeAt, type UniswapV3Options } from './exchange.ts'
import { v3Protocol } from './pools.ts'
import { v3Range } from './range.ts'
import { v3Router } from './router.ts'

export type { Deployment } from './pools.ts'
export type { RouterKind } from './router.ts'
export type { UniswapV3Options }

/**
 * Pools of concentrated liquidity behind a router, and positions in them, as Uniswap v3 and its forks have them.
 * @throws Error where the plugin or its configuration lacks the network
 */
export function uniswapV3(venue: Venue<Evm>, options: UniswapV3Options): PoolExchange & { readonly range: AMMRange<Evm> } {
  const exchange = exchangeAt(venue, options)
  return {
    protocols: [v3Protocol(exchange)],
    routers: [v3Router(exchange, venue.reader.wrapped.address)],
    range: v3Range(exchange, venue.reader),
  }
}

/**
 * The events of the contracts: IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, and INonfungiblePositionManager of
 * @uniswap/v3-periphery@1.4.4.
 */
export const v3Events = [
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  // PancakeSwap's adds the protocol's share.
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
  'event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)',
] as const
