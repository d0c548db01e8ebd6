import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { listedVersions, type PoolExchange } from '../index.ts'
import type { Fee } from './math.ts'
import { type Deployment, v2Protocol } from './pools.ts'
import { routerAbi, type RouterAbi, v2Router } from './router.ts'

/** In what one exchange of this kind differs from another. */
export interface UniswapV2Options {
  /** The label of this protocol version in the configuration, where the exchange has several: "v2". */
  readonly version?: string
  /** What pools keep of the input: `[3n, 1000n]` is 0.3 %. */
  readonly fee: Fee
  /** By `<chain>/<network>`: factory and init-code hash differ from one network to the next. */
  readonly deployments: Readonly<Record<string, Deployment>>
  /** The coin in the names of the router's functions, where it is not ETH: "AVAX" for `swapExactAVAXForTokens`. */
  readonly coin?: string
}

/** An exchange on one network. */
export interface Exchange extends Deployment {
  readonly version: string
  readonly router: string
  readonly fee: Fee
  readonly abi: RouterAbi
}

/** Puts the plugin's constants and the configured router together; throws where one is missing, with what to do. */
function exchangeAt({ chain, network, contracts }: Venue<Evm>, options: UniswapV2Options): Exchange {
  const { version, fee, deployments, coin = 'ETH' } = options
  const deployment = deployments[`${chain}/${network}`]
  if (!deployment) {
    const known = Object.keys(deployments).join(', ')
    throw new Error(
      `The plugin has no factory and init-code hash for ${chain}/${network} (it has ${known || 'none'}): add them to its deployments, or take the network out of its available_networks.`,
    )
  }
  const key = version ? `${version}RouterAddress` : 'routerAddress'
  const router = contracts[key]
  if (!router)
    throw new Error(`The configuration has no ${key} for ${chain}/${network}: add it to the network's entry of contractAddresses.`)
  return { ...deployment, version: version ?? 'v2', router, fee, abi: routerAbi(coin) }
}

/**
 * Constant-product pools behind a router, as Uniswap v2 and its forks have them; nothing where the configuration lists
 * versions without this one. Throws where the plugin or its configuration lacks the network.
 */
export function uniswapV2(venue: Venue<Evm>, options: UniswapV2Options): PoolExchange {
  const { version } = options
  if (version !== undefined && listedVersions(venue.config)?.includes(version) === false) return { protocols: [], routers: [] }
  const exchange = exchangeAt(venue, options)
  return {
    protocols: [v2Protocol(exchange.version, exchange.fee, exchange)],
    routers: [v2Router(exchange, venue.reader)],
  }
}
