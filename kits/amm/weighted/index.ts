// "sluice/weighted": exchanges of weighted pools in a Vault.
import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, routerAddressKey } from '../deployment.ts'
import type { PoolExchange } from '../protocol.ts'
import { weightedProtocol } from './pools.ts'
import { vaultRouter } from './router.ts'

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
 * @throws Error where the plugin or its configuration lacks the network
 */
export function weighted(venue: Venue<Evm>, { pools }: WeightedOptions): PoolExchange {
  const ids = deploymentOn(venue, pools, 'pools')
  const vault = configuredAddress(venue, routerAddressKey(undefined))
  return {
    protocols: [weightedProtocol(version, vault, ids)],
    routers: [vaultRouter(version, vault, ids, venue.reader.wrapped.address)],
  }
}
