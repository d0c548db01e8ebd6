// "sluice/uniswap-v2": exchanges of constant-product pools.
import type { AMMShares, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, isLeftOut, routerAddressKey } from '../deployment.ts'
import type { PoolExchange } from '../protocol.ts'
import { noShares } from '../shares.ts'
import { type Fee, v2Protocol, type Deployment } from './pools.ts'
import { v2Router } from './router.ts'
import { sharesFill } from './share-plans.ts'
import { v2Shares } from './shares.ts'

export { getAmountIn, getAmountOut } from './pools.ts'
export type { Deployment, Fee }

/** How one exchange of this kind differs from another. */
export interface UniswapV2Options {
  /** The label of this protocol version in the configuration, where the exchange has several: "v2". */
  readonly version?: string
  /** What pools keep of the input: `[3n, 1000n]` is 0.3 %. */
  readonly fee: Fee
  /** By `<chain>/<network>`: factory and init-code hash differ between networks. */
  readonly deployments: Readonly<Record<string, Deployment>>
  /** The coin in the names of the router's functions, where it is not ETH: "AVAX" for `swapExactAVAXForTokens`. */
  readonly coin?: string
  /** The protocol's part of what fees add to a pool, where its factory has it taken: Uniswap's `[1n, 6n]` where it is absent. */
  readonly protocolShare?: Fee
}

/**
 * Constant-product pools behind a router, as Uniswap v2 and its forks have them, and shares of them: the trading type AMM_SHARES. Empty where
 * the configuration lists versions without this one.
 * @throws Error where the plugin or its configuration lacks the network
 */
export function uniswapV2(
  venue: Venue<Evm>,
  { version, fee, deployments, coin = 'ETH', protocolShare }: UniswapV2Options,
): PoolExchange & { readonly shares: AMMShares<Evm> } {
  if (isLeftOut(venue, version)) return { protocols: [], routers: [], shares: noShares(version, sharesFill) }
  const deployment = deploymentOn(venue, deployments, 'factory and init-code hash')
  const address = configuredAddress(venue, routerAddressKey(version))
  const label = version ?? 'v2'
  const router = v2Router({ version: label, address, coin, factory: deployment.factory, wrapped: venue.reader.wrapped.address })
  return {
    protocols: [v2Protocol(label, fee, deployment)],
    routers: [router],
    shares: v2Shares({ ...deployment, version: label, router, coin, protocolShare }, venue.reader),
  }
}
