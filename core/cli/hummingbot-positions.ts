// `sluice hummingbot positions`: the way back. What was opened here, as Hummingbot's own Gateway takes it.
import path from 'node:path'
import { Command } from 'commander'
import * as Type from 'typebox'
import { fits } from '../base/schema-check.ts'
import { isObject } from '../base/json.ts'
import { plainJson } from '../base/printable.ts'
import type { Settings } from '../config/settings.ts'
import { mergedFiles } from '../config/yaml.ts'
import { complain, examples, printNotice, say } from './output.ts'
import { findPositions, liquidityChanges, orphanedMeans, type OpenedPosition } from './positions.ts'
import type { ServerClient } from './server-client.ts'
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
        'liquidity that was added here and is still there, each as a line that Hummingbot’s own Gateway of 2.17 takes: of a range the body of POST /trading/clmm/close, of shares of a pool that of POST /trading/amm/remove',
      )
      .option('--orphaned', orphanedMeans)
      .option('--client <name>', 'only those that this client asked for')
      .option('--address <address>', 'only those of this wallet'),
  )
    .addHelpText('after', examples('hummingbot positions', 'hummingbot positions --address 0x…'))
    .action((options: PositionsOptions) =>
      printNotice(async () => {
        const settings = settingsOf()
        const { findPlugins } = await import('../plugins/index.ts')
        const { found } = findPlugins(settings.plugins.folders, settings.plugins.disabled)
        const { folder = '' } = found.find(({ name, builtIn }) => builtIn && name === 'hummingbot') ?? {}
        const names = namesByNetwork(interfaceSection(settings, folder, 'networks'))
        const positions = await findPositions(serverOf(settings, options), options)
        // Shares have no id that a client could lose.
        const shares = options.orphaned ? [] : await findShares(serverOf(settings, options), options)
        const [ranges, ofPools] = [
          positions.flatMap((each) => lineOf(each, names) ?? []),
          shares.flatMap((each) => lineOfShares(each, names) ?? []),
        ]
        for (const line of [...ranges, ...ofPools]) say(line)
        return `For Hummingbot’s Gateway to close: ${ranges.length} of positions, ${ofPools.length} of shares.`
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

interface OwnedShares {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly address: string
  readonly pool: string
  readonly version: string
}

const Planned = Type.Object({ pool: Type.String(), version: Type.String(), tokens: Type.Array(Type.String()) })
const Held = Type.Object({ shares: Type.String() })

/** Of pools to which wallets added through this server. */
async function findShares(server: ServerClient, { client, address }: PositionsOptions): Promise<OwnedShares[]> {
  const asked = new Map<string, OwnedShares & { readonly tokens: readonly string[] }>()
  for (const { chain, network, connector, planned, request, ...each } of await liquidityChanges(server, { address })) {
    const isOther = client !== undefined && each.client !== client
    if (isOther || connector === undefined || request?.path !== '/amm/shares/add' || !fits(Planned, planned)) continue
    const { pool, version, tokens } = planned
    asked.set(JSON.stringify([chain, network, connector, each.address, pool.toLowerCase()]), {
      chain,
      network,
      connector,
      address: each.address,
      pool,
      version,
      tokens,
    })
  }
  const found: OwnedShares[] = []
  for (const { version, ...of } of asked.values()) {
    const { status, text } = await server.post('/amm/shares/position', of)
    const answer: unknown = JSON.parse(text)
    if (status !== 200 || !fits(Held, answer)) complain(`warning: the shares of ${of.pool} are not listed: ${text}`)
    else if (Number(answer.shares) > 0) found.push({ version, ...of })
  }
  return found
}

/** Exchanges of EVM chains that `connector` of `POST /trading/clmm/close` and `POST /trading/amm/remove` may name at 2.17. */
const theirConnectors: ReadonlySet<string> = new Set(['uniswap', 'pancakeswap'])

/** undefined, with a warning, where their Gateway has no such position. */
function lineOf(position: OpenedPosition, names: ReadonlyMap<string, string>): string | undefined {
  const { chain, network, connector, version = 'v3', tokenId, txHash } = position
  const found = closeOf(position, names)
  if (typeof found !== 'string') return plainJson(JSON.stringify(found))
  complain(`warning: ${connector} ${version} ${tokenId ?? `of ${txHash}`} on ${chain}/${network} is not listed: ${found}`)
  return undefined
}

/** undefined, with a warning, where their Gateway has no such pool. */
function lineOfShares(
  { chain, network, connector, version, address, pool }: OwnedShares,
  names: ReadonlyMap<string, string>,
): string | undefined {
  const chainNetwork = names.get(`${chain}/${network}`)
  if (chainNetwork !== undefined && version === 'v2' && theirConnectors.has(connector))
    return plainJson(JSON.stringify({ connector, chainNetwork, walletAddress: address, poolAddress: pool, percentageToRemove: 100 }))
  complain(
    `warning: shares of ${connector} ${version} ${pool} on ${chain}/${network} are not listed: Hummingbot’s Gateway has none of them: remove them here`,
  )
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
