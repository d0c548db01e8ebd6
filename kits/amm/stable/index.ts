// "sluice/stable": exchanges of pools of coins that are meant to be worth the same.
import { getAddress } from 'ethers'
import type { AMMShares, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, isLeftOut, routerAddressKey } from '../deployment.ts'
import type { PoolExchange } from '../protocol.ts'
import { noShares } from '../shares.ts'
import { poolKinds, stableProtocol, type Coin, type StablePool, type StableShares } from './pools.ts'
import { exchangeRouter } from './exchange-router.ts'
import { expectedCoins, stableRouter } from './router.ts'
import { sharesFill, stableShares } from './shares.ts'

export type { Coin, StablePool, StableShares }

/** How one exchange of such pools differs from another. */
export interface StableSwapOptions {
  /** The label of this protocol version in the configuration, where the exchange has several. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly pools: Readonly<Record<string, readonly StablePool[]>>
}

/**
 * Pools of the StableSwap invariant, as Curve has them, behind our own router: their contracts take neither a deadline nor an exact output. Where
 * `exchangeRouterAddress` is configured, sales go through the exchange's. `shares` are of the pools that say what token these are: the trading type
 * AMM_SHARES.
 * Empty where the configuration lists versions without this one.
 * @throws Error where the plugin or its configuration lacks the network
 */
export function stableSwap(venue: Venue<Evm>, { version, pools }: StableSwapOptions): PoolExchange & { readonly shares: AMMShares<Evm> } {
  if (isLeftOut(venue, version)) return { protocols: [], routers: [], shares: noShares(version, sharesFill) }
  const onNetwork = deploymentOn(venue, pools, 'pools').map(checkedPool)
  const router = configuredAddress(venue, routerAddressKey(version))
  const label = version ?? 'stable'
  const address = venue.contracts['exchangeRouterAddress']
  // Sales need no contract of ours where the exchange has a router of its own.
  const own = address ? [exchangeRouter({ version: label, address, pools: onNetwork, expected: expectedCoins(onNetwork) })] : []
  return {
    protocols: [stableProtocol(label, onNetwork)],
    routers: [...own, stableRouter(label, router, onNetwork)],
    shares: stableShares(label, onNetwork, venue),
  }
}

/** With addresses in their canonical spelling, by which tokens are told apart. No contract computes with more than 18 decimals. */
function checkedPool({ address, kind, coins, shares }: StablePool): StablePool {
  const wrongCoin = coins.find(({ decimals }) => !Number.isInteger(decimals) || decimals < 0 || decimals > 18)
  const problem = wrongCoin
    ? `the coin ${wrongCoin.address} has ${wrongCoin.decimals} decimals`
    : coins.length < 2
      ? 'it has fewer than two coins'
      : Object.hasOwn(poolKinds, kind)
        ? undefined
        : `its kind is ${kind}`
  if (problem !== undefined) throw new Error(`The pool ${address} is not supported: ${problem}. Correct the plugin's pools.`)
  return {
    address: getAddress(address),
    kind,
    coins: coins.map((coin) => ({ ...coin, address: getAddress(coin.address) })),
    ...(shares && { shares: { ...shares, token: getAddress(shares.token) } }),
  }
}

/**
 * The events of the contracts: StableSwapSUSD.vy and its successors in https://github.com/curvefi/curve-contract, contracts/pools, and
 * contracts/StableRouter.sol.
 */
export const stableEvents: readonly string[] = [
  'event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
  'event Exchange(address indexed sender, address indexed receiver, address[11] route, uint256[5][5] swap_params, address[5] pools, uint256 in_amount, uint256 out_amount)',
  // By the number of coins.
  ...[2, 3, 4].flatMap((coins) => [
    `event AddLiquidity(address indexed provider, uint256[${coins}] token_amounts, uint256[${coins}] fees, uint256 invariant, uint256 token_supply)`,
    `event RemoveLiquidity(address indexed provider, uint256[${coins}] token_amounts, uint256[${coins}] fees, uint256 token_supply)`,
  ]),
]
