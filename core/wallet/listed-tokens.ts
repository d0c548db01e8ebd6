// The token lists that the signer reads by itself: those of the release's chains and of conf/tokens. Lists of other plugins, those that conf names
// elsewhere and those that a server was given while it ran do not count: their authors would decide what is taken for a token.
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { addressKey } from '../base/addresses.ts'
import { isObject } from '../base/json.ts'
import { builtInPlugins } from '../base/layout.ts'
import { symbolPattern } from '../config/patterns.ts'
import { readTextFile } from '../config/yaml.ts'
import { curves, noteSpellings, type CurveName } from '../keys/curves.ts'
import type { ReleasePolicy } from './release-policy.ts'

/** What an entry says of a token, as far as it is right. The loader says what is wrong with it. */
interface ListedToken {
  readonly address: string
  readonly symbol?: string
  readonly decimals?: number
}

/** By `chain/network`. An entry of conf/tokens takes the place of that of the release, as in the loader. */
export type ListedTokens = Readonly<Record<string, readonly ListedToken[]>>

interface ListScope {
  readonly chainId: number | undefined
  readonly keys: CurveName
}

/** @param kinds of keys whose chains are read: `secp256k1` where absent */
export function listedTokens(
  { chains }: Pick<ReleasePolicy, 'chains'>,
  confDir: string,
  kinds: readonly CurveName[] = ['secp256k1'],
): ListedTokens {
  const found = new Map<string, Map<string, ListedToken>>()
  const scopes = new Map<string, ListScope>()
  const note = (on: string, list: readonly TokenEntry[]) => {
    const scope = scopes.get(on) ?? { chainId: undefined, keys: 'secp256k1' as const }
    if (!kinds.includes(scope.keys)) return
    const here = found.get(on) ?? new Map<string, ListedToken>()
    for (const token of tokensOf(list, scope)) here.set(addressKey(token.address), token)
    if (here.size > 0) found.set(on, here)
  }
  for (const [name, { chain, keys, networks }] of Object.entries(chains)) {
    const file = path.join(builtInPlugins, name, 'tokens.json')
    const list = entriesOf(file)
    noteSpellings(list.map(({ address }) => address).join(' '))
    for (const [network, { chainId }] of Object.entries(networks)) {
      scopes.set(`${chain}/${network}`, { chainId, keys })
      note(`${chain}/${network}`, list)
    }
  }
  const own = path.join(confDir, 'tokens')
  for (const chain of foldersIn(own))
    for (const file of readdirSync(path.join(own, chain)))
      if (file.endsWith('.json')) note(`${chain}/${file.slice(0, -'.json'.length)}`, entriesOf(path.join(own, chain, file)))
  return Object.fromEntries([...found].map(([on, tokens]) => [on, [...tokens.values()]]))
}

/** As the loader reads them. */
const maxTokenListBytes = 10_000_000

/** Folders that are mounted may be links. */
const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder).filter((name) => statSync(path.join(folder, name), { throwIfNoEntry: false })?.isDirectory())
    : []

interface TokenEntry {
  readonly chainId: number
  readonly address: string
  readonly symbol?: unknown
  readonly decimals?: unknown
}

/** What cannot be read has no tokens: then the loader refuses the chain, and says why. An entry that is wrong is none, and the loader says so. */
function entriesOf(file: string): readonly TokenEntry[] {
  const read = readTextFile(file, maxTokenListBytes)
  if (read.is !== 'text') return []
  try {
    const list: unknown = JSON.parse(read.text)
    return isObject(list) && Array.isArray(list['tokens']) ? list['tokens'].filter(isEntry) : []
  } catch {
    return []
  }
}

const isEntry = (entry: unknown): entry is TokenEntry =>
  isObject(entry) && Number.isInteger(entry['chainId']) && typeof entry['address'] === 'string'

function tokensOf(list: readonly TokenEntry[], { chainId, keys }: ListScope): readonly ListedToken[] {
  const found = new Map<string, ListedToken>()
  for (const each of list) {
    if (chainId !== undefined && each.chainId !== chainId) continue
    const address = curves[keys].address(each.address)
    if (address === undefined) continue
    const { symbol, decimals } = each
    const before = found.get(addressKey(address))
    // Of two entries of one address that contradict each other nobody can tell which is right.
    const isRight = typeof decimals === 'number' && Number.isInteger(decimals) && (before === undefined || before.decimals === decimals)
    found.set(addressKey(address), {
      address,
      ...(typeof symbol === 'string' && symbolPattern.test(symbol) && { symbol }),
      ...(isRight && { decimals }),
    })
  }
  return [...found.values()]
}
