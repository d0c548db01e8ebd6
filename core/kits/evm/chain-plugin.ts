import { defineChain } from '../../contracts/index.ts'
import type { Chain, ChainPlugin, ChainVenue, Token } from '../../contracts/index.ts'
import { evmChain } from '../../../kits/evm/chain.ts'
import { evmChainSchema } from './chain-config.ts'
import type { EvmChainConfig } from './chain-config.ts'
import { multicall3 } from '../../../kits/evm/network.ts'
import type { EvmNetwork } from '../../../kits/evm/network.ts'
import { evm } from '../../../kits/evm/types.ts'
import type { Evm } from '../../../kits/evm/types.ts'

/** One network as a chain plugin writes it down: its tokens are symbols of the plugin's `tokens.json`. */
export interface EvmNetworkTable extends Omit<EvmNetwork, 'wrapped' | 'intermediates' | 'multicall'> {
  /** The token that wraps the native coin, or with `coinIsToken` is it, then those that routes usually pass through. */
  readonly tokens: readonly [string, ...string[]]
  /** Where Multicall3 lies elsewhere than usual. */
  readonly multicall?: string
}

export interface EvmChainTables {
  /** The chain's, and its folder's. */
  readonly name: string
  /** The version of the plugin interface that it is written for. */
  readonly apiVersion: string
  readonly version?: string
  readonly networks: Readonly<Record<string, EvmNetworkTable>>
  /** `tokens.json`, in the Uniswap Token Lists format. */
  readonly list: { readonly tokens: readonly ListedToken[] }
}

interface ListedToken {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

/** A whole chain plugin: what is true of its networks, and a list of tokens. Throws where the two do not fit. */
export function evmChainPlugin({ name, apiVersion, version, networks, list }: EvmChainTables): ChainPlugin<Evm, EvmChainConfig> {
  const tables = new Map(Object.entries(networks).map(([network, table]) => [network, definitionOf(table, list.tokens)]))
  return defineChain({
    family: evm,
    manifest: {
      name,
      apiVersion,
      ...(version !== undefined && { version }),
      trading_type: [],
      available_networks: [{ chain: name, networks: [...tables.keys()] }],
      schema: evmChainSchema,
    },
    create(venue: ChainVenue<EvmChainConfig>): Chain<Evm> {
      const definition = tables.get(venue.network)
      if (!definition) throw new Error(`Chain ${name} has no network "${venue.network}": it has ${[...tables.keys()].join(', ')}.`)
      return evmChain(venue, definition)
    },
  })
}

function definitionOf({ tokens, ...table }: EvmNetworkTable, list: readonly ListedToken[]): EvmNetwork {
  const [wrapped, ...others] = tokens
  const coin = tokenNamed(list, table.chainId, wrapped)
  const intermediates = [coin, ...others.map((symbol) => tokenNamed(list, table.chainId, symbol))]
  return { multicall: multicall3, ...table, wrapped: coin, intermediates }
}

function tokenNamed(list: readonly ListedToken[], chainId: number, symbol: string): Token {
  const found = list.find((token) => token.chainId === chainId && token.symbol === symbol)
  if (!found) throw new Error(`tokens.json has no ${symbol} for chain id ${chainId}.`)
  return { symbol, address: found.address, decimals: found.decimals }
}
