import { expect } from 'chai'
import { pluginTable } from '../../core/cli/plugin-list.ts'
import type { LoadedInterface } from '../../core/plugins/load-interfaces.ts'
import type { LoadedPlugin } from '../../core/plugins/loaded-plugin.ts'

const plugin = (name: string, trading_type: readonly string[], chains: readonly string[]) =>
  ({
    name,
    kind: trading_type.length === 0 ? 'chain' : 'connector',
    tier: 'built in',
    manifest: { name, trading_type, version: '12.345.6789' },
    available_networks: chains.map((chain) => ({ chain, networks: ['mainnet', 'testnet'] })),
    deprecated: [],
    unserved: [
      { chain: 'solana', network: 'local', reason: 'It has no settings, or its settings disable it', remedy: 'Add the network to conf.' },
    ],
  }) as unknown as LoadedPlugin

describe('the table of sluice plugin list', () => {
  it('fits a terminal of 80 columns, whatever plugins name', () => {
    const chains = Array.from({ length: 20 }, (_, index) => `a-chain-of-the-name-${index}`)
    const loaded = [
      plugin('binance-smart-chain', [], ['binance-smart-chain']),
      plugin('hyperliquid', ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'], chains),
      plugin('n'.repeat(64), ['AMM', 'AMM_RANGE'], chains),
    ]
    const refused = {
      name: 'mis-net',
      kind: 'connector' as const,
      trading_type: ['AMM'],
      available_networks: [{ chain: 'ethereum', networks: ['local'] }],
      step: 'networks' as const,
      reason: "index.ts:19: available_networks has 'locla', which is not a network of ethereum, while contractAddresses has local",
      remedy: "Write 'local' instead of 'locla' in available_networks of the manifest (index.ts:19).",
      folder: `/srv/${'plugins/'.repeat(12)}mis-net`,
    }

    const lines = pluginTable({ loaded, interfaces: [], refused: [refused] }, ['fluffy']).split('\n')

    // What is to be copied stays whole.
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([`  ${refused.folder}`])
    expect(lines[0]).to.match(/^NAME +KIND +STATE +VERSION +TYPES +NETWORKS$/)
    expect(lines.join('\n').replaceAll(/\s+/g, ' '))
      .to.contain('MARGIN_CLOB')
      .and.contain('40 networks')
      .and.contain(refused.reason)
      .and.contain(`→ ${refused.remedy}`)
    expect(lines).to.satisfy((all: readonly string[]) =>
      all.some((line) => /^mis-net +connector +refused +- +AMM +ethereum\/local$/.test(line)),
    )
  })

  it('cuts no name of a usual length', () => {
    const loaded = [
      plugin('binance-smart-chain', [], ['binance-smart-chain']),
      plugin('uniswap', ['AMM', 'MARGIN_CLOB'], ['ethereum']),
      { ...plugin('pangolin', ['AMM'], []), available_networks: [{ chain: 'avalanche', networks: ['mainnet'] }] },
    ]
    const lines = pluginTable({ loaded, interfaces: [], refused: [] }, []).split('\n')
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([])
    expect(lines.join('\n'))
      .to.match(/^binance-smart-chain /m)
      .and.match(/^pangolin .* avalanche\/(mainnet)?$/m)
  })

  it('lists interfaces after what trades, without networks', () => {
    const desk = { ...plugin('desk', [], []), kind: 'interface' } as unknown as LoadedInterface
    const lines = pluginTable({ loaded: [plugin('uniswap', ['AMM'], ['ethereum'])], interfaces: [desk], refused: [] }, []).split('\n')
    expect(lines.at(-1)).to.match(/^desk +interface +built in +12\.345\.6789 +- +-$/)
  })

  it('keeps the name of a network in one line where all names fit', () => {
    const riverswap = {
      ...plugin('riverswap', ['AMM'], []),
      tier: 'contained',
      manifest: { name: 'riverswap', trading_type: ['AMM'], version: '0.1.0' },
      available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    } as unknown as LoadedPlugin
    const loaded = [
      {
        ...plugin('binance-smart-chain', [], ['binance-smart-chain']),
        manifest: { name: 'binance-smart-chain', trading_type: [] },
      } as unknown as LoadedPlugin,
      {
        ...plugin('hyperliquid', ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'], ['hyperliquid']),
        manifest: { name: 'hyperliquid', trading_type: ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'] },
      } as unknown as LoadedPlugin,
      riverswap,
    ]
    const lines = pluginTable({ loaded, interfaces: [], refused: [] }, []).split('\n')
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([])
    expect(lines).to.satisfy((all: readonly string[]) =>
      all.some((line) => /^riverswap +connector +contained +0\.1\.0 +AMM +ethereum\/local$/.test(line)),
    )
  })
})
