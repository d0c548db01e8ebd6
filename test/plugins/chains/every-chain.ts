import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import type { ChainPlugin } from '../../../core/contracts/index.ts'
import type { Evm, EvmChainConfig, EvmNetworkTable } from '../../../kits/evm/index.ts'

export interface ListedToken {
  chainId: number
  address: string
  symbol: string
  decimals: number
}

export interface OurChain {
  name: string
  folder: string
  plugin: ChainPlugin<Evm, EvmChainConfig>
  networks: Readonly<Record<string, EvmNetworkTable>>
  tokens: readonly ListedToken[]
  defaults: Readonly<Record<string, { rpcUrls: readonly string[]; enabled?: boolean }>>
  /** Lines of index.ts. */
  lines: number
}

const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))
const text = (folder: string, file: string) => readFileSync(path.join(folder, file), 'utf8')

/** Every folder of ours that has a token list is a chain's; those of the EVM family. */
const chains: readonly OurChain[] = await Promise.all(
  readdirSync(plugins)
    .filter((name) => readdirSync(path.join(plugins, name)).includes('tokens.json'))
    .map(async (file) => {
      const folder = path.join(plugins, file)
      const { default: plugin, networks } = await import(pathToFileURL(path.join(folder, 'index.ts')).href)
      return {
        // An exchange's own chain has a folder beside the exchange's.
        name: plugin.manifest.name,
        folder,
        plugin,
        networks,
        tokens: JSON.parse(text(folder, 'tokens.json')).tokens,
        defaults: parse(text(folder, 'defaults.yml')),
        lines: text(folder, 'index.ts').trim().split('\n').length,
      }
    }),
)

export const everyChain = chains.filter(({ plugin }) => plugin.family.name === 'evm')

/** Those of other families, where they are not switched off. */
export const otherNetworks = chains
  .filter((chain) => !everyChain.includes(chain))
  .flatMap(({ name, networks, defaults }) =>
    Object.keys(networks)
      .filter((network) => defaults[network]?.enabled !== false)
      .map((network) => ({ chain: name, network, name: `${name}/${network}` })),
  )

export const everyNetwork = everyChain.flatMap((chain) =>
  Object.entries(chain.networks).map(([network, table]) => ({ chain, network, table, name: `${chain.name}/${network}` })),
)
