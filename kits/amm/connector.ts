// Whole plugins of exchanges that differ from others of their kind in nothing but constants: one kind of pool, one router.
import {
  defineConnector,
  singleRouterSchema,
  type AMMShares,
  type ConnectorConfig,
  type ConnectorPlugin,
  type Manifest,
  type Venue,
} from '../../core/contracts/index.ts'
import { evm } from '../evm/family.ts'
import type { Evm } from '../evm/types.ts'
import { networksIn } from './deployment.ts'
import { poolAMM } from './pool-amm.ts'
import type { PoolExchange } from './protocol.ts'

export interface PoolConnectorOptions extends Pick<Manifest, 'name' | 'apiVersion' | 'version'> {
  /** By `<chain>/<network>`: the networks that it is on. */
  readonly deployments: Readonly<Record<string, unknown>>
  /** Signatures of the events of its pools. */
  readonly events?: readonly string[]
}

const manifestOf = ({ name, apiVersion, version, deployments }: PoolConnectorOptions) => ({
  name,
  apiVersion,
  ...(version !== undefined && { version }),
  available_networks: networksIn(deployments),
  schema: singleRouterSchema,
})

/** Trades in the pools of an exchange. */
export function poolConnector(
  options: PoolConnectorOptions,
  exchangeOn: (venue: Venue<Evm>) => PoolExchange,
): ConnectorPlugin<Evm, readonly ['AMM'], ConnectorConfig> {
  return defineConnector({
    family: evm,
    manifest: { ...manifestOf(options), trading_type: ['AMM'] },
    create(venue) {
      const AMM = poolAMM(venue, exchangeOn(venue))
      return { AMM, spenders: AMM.spenders, ...(options.events && { events: options.events }) }
    },
  })
}

/** Trades in the pools of an exchange, and shares of them. */
export function sharesConnector(
  options: PoolConnectorOptions,
  exchangeOn: (venue: Venue<Evm>) => PoolExchange & { readonly shares: AMMShares<Evm> },
): ConnectorPlugin<Evm, readonly ['AMM', 'AMM_SHARES'], ConnectorConfig> {
  return defineConnector({
    family: evm,
    manifest: { ...manifestOf(options), trading_type: ['AMM', 'AMM_SHARES'] },
    create(venue) {
      const exchange = exchangeOn(venue)
      const AMM = poolAMM(venue, exchange)
      return { AMM, AMM_SHARES: exchange.shares, spenders: AMM.spenders, ...(options.events && { events: options.events }) }
    },
  })
}
