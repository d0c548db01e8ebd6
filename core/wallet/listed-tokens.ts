// The token lists that the signer reads by itself: those of the release's chains and of conf/tokens. Lists of other plugins, those that conf names
// elsewhere and those that a server was given while it ran do not count: their authors would decide what is taken for a token.
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import * as Type from 'typebox'
import * as Value from 'typebox/value'
import { addressKey } from '../base/addresses.ts'
import { builtInPlugins } from '../base/layout.ts'
import { symbolPattern } from '../config/patterns.ts'
import { readTextFile } from '../config/yaml.ts'
import { curves, type CurveName } from '../keys/curves.ts'
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
  const note = (on: string, file: string) => {
    const scope = scopes.get(on) ?? { chainId: undefined, keys: 'secp256k1' as const }
    if (!kinds.includes(scope.keys)) return
    const here = found.get(on) ?? new Map<string, ListedToken>()
    for (const token of tokensOf(file, scope)) here.set(addressKey(token.address), token)
    if (here.size > 0) found.set(on, here)
  }
  for (const [name, { chain, keys, networks }] of Object.entries(chains))
    for (const [network, { chainId }] of Object.entries(networks)) {
      scopes.set(`${chain}/${network}`, { chainId, keys })
      note(`${chain}/${network}`, path.join(builtInPlugins, name, 'tokens.json'))
    }
  const own = path.join(confDir, 'tokens')
  for (const chain of foldersIn(own))
    for (const file of readdirSync(path.join(own, chain)))
      if (file.endsWith('.json')) note(`${chain}/${file.slice(0, -'.json'.length)}`, path.join(own, chain, file))
  return Object.fromEntries([...found].map(([on, tokens]) => [on, [...tokens.values()]]))
}

/** As the loader reads them. */
const maxTokenListBytes = 10_000_000

/** Folders that are mounted may be links. */
const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder).filter((name) => statSync(path.join(folder, name), { throwIfNoEntry: false })?.isDirectory())
    : []

const tokenList = Type.Object({ tokens: Type.Array(Type.Unknown()) })
const tokenEntry = Type.Object({
  chainId: Type.Integer(),
  address: Type.String(),
  symbol: Type.Optional(Type.Unknown()),
  decimals: Type.Optional(Type.Unknown()),
})

/** What cannot be read has no tokens: then the loader refuses the chain, and says why. An entry that is wrong is none, and the loader says so. */
function tokensOf(file: string, { chainId, keys }: ListScope): readonly ListedToken[] {
  const read = readTextFile(file, maxTokenListBytes)
  if (read.is !== 'text') return []
  let list: unknown
  try {
    list = JSON.parse(read.text)
  } catch {
    return []
  }
  if (!Value.Check(tokenList, list)) return []
  const found = new Map<string, ListedToken>()
  for (const each of list.tokens) {
    if (!Value.Check(tokenEntry, each) || (chainId !== undefined && each.chainId !== chainId)) continue
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
