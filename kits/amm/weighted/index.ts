// "sluice/weighted": exchanges of weighted pools in a Vault.
import type { AMMShares, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, routerAddressKey } from '../deployment.ts'
import type { PoolExchange } from '../protocol.ts'
import { weightedProtocol } from './pools.ts'
import { vaultRouter } from './router.ts'
import { weightedShares } from './shares.ts'

export { weightedEvents } from './router.ts'

export interface WeightedOptions {
  /**
   * By `<chain>/<network>`: the ids of the pools in the Vault. None with a token that takes a fee on transfer: the Vault counts what it sends,
   * not what arrives.
   */
  readonly pools: Readonly<Record<string, readonly string[]>>
}

const version = 'weighted'

/**
 * Pools of up to eight tokens with weights, in one Vault that holds all tokens and takes the swaps, as in Balancer's second version.
 * `shares` are of these pools: the trading type AMM_SHARES.
 * @throws Error where the plugin or its configuration lacks the network
 */
export function weighted(venue: Venue<Evm>, { pools }: WeightedOptions): PoolExchange & { readonly shares: AMMShares<Evm> } {
  const ids = deploymentOn(venue, pools, 'pools')
  const vault = configuredAddress(venue, routerAddressKey(undefined))
  const router = vaultRouter(version, vault, ids, venue.reader.wrapped.address)
  return {
    protocols: [weightedProtocol(version, vault, ids)],
    routers: [router],
    shares: weightedShares({ version, ids, router }, venue),
  }
}
