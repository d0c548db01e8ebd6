import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import type { PoolExchange, Router } from '../index.ts'
import { poolAddress, weightedProtocol } from './pools.ts'
import { readFill, planSwap, vaultCheck } from './router.ts'

export interface WeightedOptions {
  /**
   * By `<chain>/<network>`: the ids of the pools in the Vault. None with a token that takes a fee on transfer: the Vault counts
   * what it sends, not what arrives.
   */
  readonly pools: Readonly<Record<string, readonly string[]>>
}

const version = 'weighted'

/**
 * Pools of up to eight tokens with weights in one Vault that holds all they have and takes the swaps, as Balancer's second
 * version has them. Throws where the plugin or its configuration lacks the network.
 */
export function weighted({ chain, network, contracts, reader }: Venue<Evm>, { pools }: WeightedOptions): PoolExchange {
  const ids = pools[`${chain}/${network}`]
  if (!ids) {
    const known = Object.keys(pools).join(', ')
    throw new Error(
      `The plugin has no pools for ${chain}/${network} (it has ${known || 'none'}): add their ids, or take the network out of its available_networks.`,
    )
  }
  const vault = contracts['routerAddress']
  if (!vault)
    throw new Error(`The configuration has no routerAddress for ${chain}/${network}: add it to the network's entry of contractAddresses.`)
  const idsByPool = new Map(ids.map((id) => [poolAddress(id), id]))
  const idOf = (pool: string): string => {
    const id = idsByPool.get(pool)
    if (id === undefined) throw new Error(`No listed pool lies at ${pool}.`)
    return id
  }
  const router: Router = {
    address: vault,
    name: 'vault',
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, idOf),
    fill: readFill,
    check: vaultCheck(vault, ids, reader.wrapped.address),
  }
  return { protocols: [weightedProtocol(version, vault, ids)], routers: [router] }
}
