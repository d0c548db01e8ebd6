// Plugins that are data alone: a fork of a known exchange, or a chain of a known family. `plugin.yml` names a kit of the release, which makes the
// plugin of the data. No code of such a plugin is ever run, here or anywhere.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { checkTree, compile } from '../../config/check.ts'
import { ConfigError, suggestion, type ConfigProblem } from '../../config/problems.ts'
import { loadTokens, type LeftOutToken } from '../../config/token-list.ts'
import { mapTexts, type TreeProblem } from '../../config/tree.ts'
import { locate, readYaml } from '../../config/yaml.ts'
import type { DeclaredKit, DeclaredKits } from '../../contracts/declared.ts'
import type { Chain } from '../../contracts/index.ts'
import type { DevnetPlugin } from '../../contracts/devnet.ts'
import { isObject } from '../../base/json.ts'
import { entryPoints, moduleUrl } from '../../base/layout.ts'
import { readReleasePolicy } from '../../wallet/release-policy.ts'
import { PluginFault } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'

/** Kits know chains and exchanges, and core does not: it finds them by name. */
const loadKits = async (): Promise<DeclaredKits> => import(moduleUrl('kits/declared').href)

interface DeclaredData {
  readonly kit: DeclaredKit
  /** As the kit's schema has it. */
  readonly data: never
}

/** The plugin that a `plugin.yml` declares. @throws PluginFault that names file, line and field */
export async function declaredPlugin(entry: string): Promise<unknown> {
  const { kit, data } = await readDeclared(entry)
  const list = await tokensOf(entry, data)
  try {
    return kit.plugin(data, list)
  } catch (thrown) {
    throw new PluginFault('manifest', `${shownName(entry)}: ${messageOf(thrown)}`, `Correct ${path.basename(entry)}.`)
  }
}

/** The files that take its place, by their names: plugins that are data alone are deprecated. @throws PluginFault */
export async function declaredCode(entry: string): Promise<Readonly<Record<string, string>>> {
  const { kit, data } = await readDeclared(entry)
  return kit.code(data)
}

/** What it deploys on the devnet, for its tests; undefined where it says nothing of that. @throws PluginFault */
export async function declaredDevnet(entry: string): Promise<DevnetPlugin | undefined> {
  const { kit, data } = await readDeclared(entry)
  if (!kit.devnet || !isObject(data) || data['devnet'] === undefined) return undefined
  const module = await import(entryPoints()[kit.devnet.module] ?? kit.devnet.module)
  return kit.devnet.make(module as never, data)
}

const shownName = (entry: string): string => path.join(path.basename(path.dirname(entry)), path.basename(entry))

async function readDeclared(entry: string): Promise<DeclaredData> {
  const file = shownName(entry)
  const problems: ConfigProblem[] = []
  const read = readYaml(entry, file, problems)
  if (!read) throw faultWith(problems.length > 0 ? problems : [{ file, path: '', problem: 'is not there', remedy: 'Put it there.' }])
  const at = ({ pointer, ...each }: TreeProblem): ConfigProblem => ({ ...locate(pointer, [read], file), ...each })
  const { declaredKits, isMistypedAddress } = await loadKits()
  const { kit: name } = read.value
  const kit = typeof name === 'string' && Object.hasOwn(declaredKits, name) ? declaredKits[name] : undefined
  if (!kit) {
    const known = Object.keys(declaredKits)
    const remedy = typeof name === 'string' ? suggestion(name, known, 'Use one of') : `Use one of: ${known.join(', ')}.`
    throw faultWith([
      at({ pointer: '/kit', problem: name === undefined ? 'is missing' : 'is no kit for plugins that are data alone', remedy }),
    ])
  }
  // The schema is Sluice's own. Variables of the environment are the operator's.
  const checked = checkTree(read.value, { validate: compile(kit.schema as never), env: {}, mayName: () => false })
  if ('troubles' in checked) throw faultWith(checked.troubles.map(at))
  const mistyped: TreeProblem[] = []
  mapTexts(checked.value, (text, pointer) => {
    if (isMistypedAddress(text))
      mistyped.push({ pointer, problem: 'is an address with a wrong checksum', remedy: 'Copy it again, letter by letter.' })
    return text
  })
  if (mistyped.length > 0) throw faultWith(mistyped.map(at))
  return { kit, data: checked.value }
}

function faultWith(problems: readonly ConfigProblem[]): PluginFault {
  const [first] = problems
  const text = problems.map(
    ({ file, line, path: at, problem }) => `${file}${line === undefined ? '' : `:${line}`} ${at}`.trimEnd() + ` ${problem}`,
  )
  return new PluginFault(
    'manifest',
    text.join('; '),
    first && problems.length === 1 ? first.remedy : problems.map((each) => each.remedy).join(' '),
  )
}

/** Nothing of the operator's counts here. */
const onlyItsOwn = { confDir: '/nowhere/conf', dataDir: '/nowhere/data', home: '/nowhere', chain: '', tokenLists: [] }

/** Of a chain: what `tokens.json` has for its networks. */
async function tokensOf(entry: string, data: unknown): Promise<Parameters<DeclaredKit['plugin']>[1]> {
  if (!isObject(data) || data['kind'] !== 'chain' || !isObject(data['networks'])) return { tokens: [] }
  const folder = path.dirname(entry)
  if (existsSync(path.join(folder, 'defaults.yml')))
    throw new PluginFault(
      'configuration',
      `${path.basename(folder)}/defaults.yml: a chain that is data alone brings no settings, since its nodes say what a trade does`,
      `Remove the file, and name the nodes in conf/chains/${String(data['name'])}.yml.`,
    )
  const lists = await Promise.all(
    Object.entries(data['networks']).map(async ([network, table]) => {
      const chainId = isObject(table) ? Number(table['chainId']) : 0
      try {
        const leftOut: LeftOutToken[] = []
        const tokens = await loadTokens({
          pluginFolder: folder,
          network,
          chainId,
          ...onlyItsOwn,
          onLeftOut: (entry) => void leftOut.push(entry),
        })
        // Entries that are wrong matter here where one of them may be a token that the network itself names.
        const named = isObject(table) && Array.isArray(table['tokens']) ? table['tokens'] : []
        if (leftOut.length > 0 && named.some((symbol) => tokens.every((token) => token.symbol !== symbol))) throw new ConfigError(leftOut)
        return tokens.map((token) => ({ ...token, chainId }))
      } catch (thrown) {
        throw thrown instanceof ConfigError ? faultWith(thrown.problems) : thrown
      }
    }),
  )
  return { tokens: lists.flat() }
}

/**
 * A second chain with the id of another would sign for that one, by nodes and nonces of its own. Local chains of different programs have the
 * same ids.
 * @param others chains of third parties that are loaded
 * @param besidesRelease whether the release's chains do not count
 * @throws PluginFault
 */
export function refuseTakenChainId(
  { name, venues }: ChainVenues,
  others: readonly ChainVenues[],
  { besidesRelease = false }: { besidesRelease?: boolean } = {},
): void {
  for (const { network, implementation } of venues) {
    const { chainId, local } = implementation
    if (besidesRelease && local === true) continue
    const released = besidesRelease
      ? undefined
      : Object.values(readReleasePolicy().chains).find(({ networks }) => Object.values(networks).some((each) => each.chainId === chainId))
    const other = others.find((each) => each.venues.some((venue) => venue.implementation.chainId === chainId))
    const owner = released ? `${released.chain} of this release` : other?.name
    if (owner !== undefined)
      throw new PluginFault(
        'create',
        `networks.${network}.chainId is ${chainId}, which is that of the chain ${owner}`,
        `Use ${released?.chain ?? owner}, or correct the chain id of ${name}.`,
      )
  }
}

interface ChainVenues {
  readonly name: string
  readonly venues: readonly { readonly network: string; readonly implementation: Pick<Chain, 'chainId' | 'local'> }[]
}
