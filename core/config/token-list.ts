import { basename, join, relative } from 'node:path'
import type { Token } from '../contracts/index.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { fetchTokenList, type FetchOptions } from './tokens/fetch-token-list.ts'
import type { TokenListSource } from './plugins/network-settings.ts'
import { maskUrl } from './mask.ts'
import { parseTokenList, tokenKey } from './tokens/parse-token-list.ts'
import { readTextFile } from './yaml/read-text-file.ts'

const maxBytes = 10_000_000

export interface TokenSources extends FetchOptions {
  pluginFolder: string
  confDir: string
  chain: string
  network: string
  chainId: number
  tokenLists: readonly TokenListSource[]
  /** Files are shown relative to it. */
  home: string
}

/**
 * The tokens of a network: the plugin's `tokens.json`, over it the `tokenLists` of the settings in their order, over
 * them `conf/tokens/<chain>/<network>.json`. The same address is replaced; a symbol may be there several times.
 * Addresses are as the lists spell them.
 * @throws ConfigError with every problem; those that only an unreachable host causes are `temporary`
 */
export async function loadTokens({
  pluginFolder,
  confDir,
  chain,
  network,
  chainId,
  tokenLists,
  home,
  ...fetching
}: TokenSources): Promise<Token[]> {
  const problems: ConfigProblem[] = []
  const fromFile = (path: string, file: string, { own = false, optional = false }) => {
    const read = readTextFile(path, maxBytes)
    if (read.is === 'text') return parseTokenList(read.text, file, { chainId, own }, problems)
    if (read.is === 'bad') problems.push({ file, path: '', problem: read.problem, cure: read.cure })
    else if (!optional)
      problems.push({
        file,
        path: '',
        problem: 'does not exist, and tokenLists names it',
        cure: `Put the list there, or take it out of tokenLists in ${basename(confDir)}/chains/${chain}.yml.`,
      })
    return []
  }
  const fromSource = async (source: TokenListSource) => {
    if (typeof source === 'string') return fromFile(source, shorter(source, home), {})
    const text = await fetchTokenList(source, fetching, problems)
    return text === undefined ? [] : parseTokenList(text, maskUrl(source.url), { chainId, own: false }, problems)
  }

  const own = join('tokens', chain, `${network}.json`)
  const lists = [
    fromFile(join(pluginFolder, 'tokens.json'), join(basename(pluginFolder), 'tokens.json'), { optional: true }),
    ...(await Promise.all(tokenLists.map(fromSource))),
    fromFile(join(confDir, own), join(basename(confDir), own), { own: true, optional: true }),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return [...new Map(lists.flat().map((token) => [tokenKey(token.address), token])).values()]
}

function shorter(path: string, home: string): string {
  const inside = relative(home, path)
  return inside.startsWith('..') ? path : inside
}
