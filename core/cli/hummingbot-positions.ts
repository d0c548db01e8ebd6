// `sluice hummingbot positions`: the way back. What was opened here, as Hummingbot's own Gateway takes it.
import path from 'node:path'
import { Command } from 'commander'
import { isObject } from '../base/json.ts'
import { plainJson } from '../base/printable.ts'
import type { Settings } from '../config/settings.ts'
import { mergedFiles } from '../config/yaml.ts'
import { complain, examples, printResult } from './output.ts'
import { findPositions, type OpenedPosition } from './positions.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'

/** What the interface for Hummingbot's clients is set up with. */
export const interfaceFile = path.join('interfaces', 'hummingbot.yml')

/** A section of the interface's settings, with its defaults. @param folder of the plugin */
export function interfaceSection({ confDir }: Pick<Settings, 'confDir'>, folder: string, key: string): Readonly<Record<string, unknown>> {
  const merged = mergedFiles([path.join(folder, 'defaults.yml'), path.join(confDir, interfaceFile)])
  const section: unknown = Reflect.get(merged, key)
  return isObject(section) ? section : {}
}

interface PositionsOptions extends ServerOptions {
  readonly orphaned?: true
  readonly client?: string
  readonly address?: string
}

export function hummingbotPositionsCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('positions')
      .description(
        'ranges of liquidity that were opened here and are still there, each as a line that Hummingbot’s own Gateway takes: the body of POST /trading/clmm/close of 2.17',
      )
      .option('--orphaned', 'only those whose client was never told of them, and whose id nobody has used since')
      .option('--client <name>', 'only those that this client asked for')
      .option('--address <address>', 'only those of this wallet'),
  )
    .addHelpText('after', examples('hummingbot positions', 'hummingbot positions --address 0x…'))
    .action((options: PositionsOptions) =>
      printResult(async () => {
        const settings = settingsOf()
        const { findPlugins } = await import('../plugins/index.ts')
        const { found } = findPlugins(settings.plugins.folders, settings.plugins.disabled)
        const { folder = '' } = found.find(({ name, builtIn }) => builtIn && name === 'hummingbot') ?? {}
        const names = namesByNetwork(interfaceSection(settings, folder, 'networks'))
        const positions = await findPositions(serverOf(settings, options), options)
        return positions.flatMap((each) => lineOf(each, names) ?? []).join('\n')
      }),
    )
}

/** Hummingbot's name of each network, by the one that it has here. Where it has several, the first one: an own name comes after theirs. */
export const namesByNetwork = (networks: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(networks)
      .map(([name, own]): [string, string] => [String(own), name])
      .toReversed(),
  )

/** Exchanges of EVM chains that `connector` of `POST /trading/clmm/close` may name at 2.17. */
const theirConnectors: ReadonlySet<string> = new Set(['uniswap', 'pancakeswap'])

/** undefined, with a warning, where their Gateway has no such position. */
function lineOf(position: OpenedPosition, names: ReadonlyMap<string, string>): string | undefined {
  const { chain, network, connector, version = 'v3', tokenId, txHash } = position
  const found = closeOf(position, names)
  if (typeof found !== 'string') return plainJson(JSON.stringify(found))
  complain(`warning: ${connector} ${version} ${tokenId ?? `of ${txHash}`} on ${chain}/${network} is not listed: ${found}`)
  return undefined
}

/** The body that closes it there, or why there is none. */
export function closeOf(
  { chain, network, connector, version = 'v3', address, tokenId }: OpenedPosition,
  names: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> | string {
  const chainNetwork = names.get(`${chain}/${network}`)
  if (tokenId === undefined) return 'it has no id yet: ask again'
  if (chainNetwork === undefined) return 'Hummingbot’s Gateway does not name that network: close it here'
  if (version !== 'v3') return `Hummingbot’s Gateway has no positions of ${version}: close it here`
  if (!theirConnectors.has(connector)) return `Hummingbot’s Gateway has no positions on ${connector}: close it here`
  return { connector, chainNetwork, walletAddress: address, positionAddress: tokenId }
}
