import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { listedVersions, type PoolExchange } from '../index.ts'
import { exchangeAt, type StableSwapOptions, stableProtocol } from './pools.ts'
import { readFill, planSwap, routerCheck } from './router.ts'

/**
 * Pools of the StableSwap invariant, as Curve has them, behind a router of our own: their contracts know neither a deadline
 * nor an exact amount out. Nothing where the configuration lists versions without this one. Throws where the plugin or its
 * configuration lacks the network.
 */
export function stableSwap(venue: Venue<Evm>, options: StableSwapOptions): PoolExchange {
  if (options.version !== undefined && listedVersions(venue.config)?.includes(options.version) === false)
    return { protocols: [], routers: [] }
  const exchange = exchangeAt(venue, options)
  const { version, router, pools } = exchange
  return {
    protocols: [stableProtocol(version, pools)],
    routers: [
      {
        address: router,
        name: version,
        carries: (versions) => versions.every((each) => each === version),
        plan: (quote, terms) => planSwap(quote, terms, pools),
        fill: readFill,
        check: routerCheck(exchange),
      },
    ],
  }
}

// What the contracts emit: StableSwapSUSD.vy and its successors in https://github.com/curvefi/curve-contract, contracts/pools,
// and contracts/StableRouter.sol.
export const stableEvents = [
  'event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
] as const
