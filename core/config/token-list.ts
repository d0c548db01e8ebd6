// The tokens of a network: which lists have them, and what becomes of an entry that is wrong.
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import * as Type from 'typebox'
import type { Chain, Token } from '../contracts/index.ts'
import { isObject } from '../base/json.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { compile } from './check.ts'
import { fetchTokenList, maxTokenListBytes, type FetchOptions } from './fetch-token-list.ts'
import { maskUrl } from './mask.ts'
import type { TokenListSource } from './plugin-config.ts'
import { symbolPattern } from './patterns.ts'
import { ConfigError, type ConfigProblem, schemaProblems } from './problems.ts'
import { dottedPath } from './tree.ts'
import { readTextFile } from './yaml.ts'
import { addressKey } from '../base/addresses.ts'

/** What a list is read for. */
interface TokenListScope {
  chainId: number
  /** Spells addresses, and knows those that stand for the native coin. Absent: any text is an address. */
  chainImpl?: Pick<Chain, 'address' | 'nativeCurrency' | 'coinAddresses'>
  /** Gets each entry that is left out. */
  onLeftOut?: (entry: LeftOutToken) => void
  /** Gets each symbol that the operator's lists give to several tokens. */
  onAmbiguous?: (symbol: AmbiguousSymbol) => void
}

/** A symbol that names several tokens of a network: requests have to give the address. */
export interface AmbiguousSymbol {
  symbol: string
  tokens: readonly { symbol: string; address: string; list: string }[]
  /** So many symbols are ambiguous and not told one by one. */
  more?: number
}

/** An entry of a list that is not used: the other entries are. */
export interface LeftOutToken extends ConfigProblem {
  /** As the list has them, where it does. */
  symbol?: string
  address?: string
}

export interface TokenSources extends FetchOptions, TokenListScope {
  pluginFolder: string
  confDir: string
  chain: string
  network: string
  tokenLists: readonly TokenListSource[]
  /** Files are shown relative to it. */
  home: string
}

/**
 * The tokens of a network: those of the plugin's `tokens.json`, then of the settings' `tokenLists` in their order, then of
 * `data/tokens/<chain>/<network>.json`, which were added while a server ran, then of `conf/tokens/<chain>/<network>.json`. A later list's entry replaces an earlier one of the same address; symbols may repeat. Addresses are spelt as
 * in the lists. Entries of other chains are skipped; one of this chain that is wrong is left out, and told to `onLeftOut`.
 * @throws ConfigError with every list that cannot be read; problems caused only by an unreachable host are `temporary`
 */
export async function loadTokens({
  pluginFolder,
  confDir,
  chain,
  network,
  chainId,
  chainImpl,
  onLeftOut = () => {},
  onAmbiguous = () => {},
  tokenLists,
  home,
  ...fetching
}: TokenSources): Promise<Token[]> {
  const problems: ConfigProblem[] = []
  const parse = (text: string, file: string, own: boolean) =>
    parseTokenList(text, file, { chainId, own, onLeftOut, ...(chainImpl && { chainImpl }) }, problems)
  const fromFile = (path: string, file: string, { own = false, optional = false }) => {
    const read = readTextFile(path, maxTokenListBytes)
    if (read.is === 'text') return parse(read.text, file, own)
    if (read.is === 'bad') problems.push({ file, path: '', problem: read.problem, remedy: read.remedy })
    else if (!optional)
      problems.push({
        file,
        path: '',
        problem: 'does not exist, but tokenLists names it',
        remedy: `Put the list there, or take it out of tokenLists in ${basename(confDir)}/chains/${chain}.yml.`,
      })
    return []
  }
  const fromSource = async (source: TokenListSource) => {
    if (typeof source === 'string') return fromFile(source, shorter(source, home), {})
    const text = await fetchTokenList(source, fetching, problems)
    return text === undefined ? [] : parse(text, maskUrl(source.url), false)
  }

  const own = join('tokens', chain, `${network}.json`)
  const named = (list: string, tokens: readonly Token[]) => tokens.map((token) => ({ token, list }))
  const release = join(basename(pluginFolder), 'tokens.json')
  const ofPlugin = named(release, fromFile(join(pluginFolder, 'tokens.json'), release, { optional: true }))
  const published = await Promise.all(
    tokenLists.map(async (source) =>
      named(typeof source === 'string' ? shorter(source, home) : maskUrl(source.url), await fromSource(source)),
    ),
  )
  const [added, operators] = [
    { file: addedTokensFile(fetching.dataDir, chain, network), shown: join(basename(fetching.dataDir), own) },
    { file: join(confDir, own), shown: join(basename(confDir), own) },
  ].map(({ file, shown }) => named(shown, fromFile(file, shown, { own: true, optional: true })))
  if (problems.length > 0) throw new ConfigError(problems)
  const all = [ofPlugin, ...published, added ?? [], operators ?? []].flat()
  const found = [...new Map(all.map((each) => [addressKey(each.token.address), each])).values()]
  tellAmbiguous(found, release, chainImpl?.nativeCurrency, onAmbiguous)
  return found.map(({ token }) => token)
}

const theCoin = 'the native coin'
/** Lists of thousands of tokens have hundreds of such symbols. */
const maxToldSymbols = 10

/** Those that the lists of the release alone make ambiguous are not the operator's doing. */
function tellAmbiguous(
  found: readonly { readonly token: Token; readonly list: string }[],
  release: string,
  coin: Token | undefined,
  tell: (symbol: AmbiguousSymbol) => void,
): void {
  const bySymbol = new Map<string, { symbol: string; address: string; list: string }[]>()
  // Some chains have their coin as a token, too: one of its address is that coin.
  const isCoin = (token: Token) => coin !== undefined && addressKey(token.address) === addressKey(coin.address)
  const ofChain = coin && !found.some(({ token }) => isCoin(token)) ? [{ token: coin, list: theCoin }] : []
  for (const { token, list } of [...ofChain, ...found]) {
    const { symbol, address } = token
    // Characters of other scripts may become letters of ASCII in lower case, and do not stand for the symbol of others.
    const folded = /^[ -~]+$/.test(symbol) ? symbol.toLowerCase() : symbol
    bySymbol.set(folded, [...(bySymbol.get(folded) ?? []), { symbol, address, list }])
  }
  const ambiguous = [...bySymbol.values()].filter(
    (tokens) => tokens.length > 1 && tokens.some(({ list }) => list !== release && list !== theCoin),
  )
  const more = ambiguous.length - maxToldSymbols
  for (const [index, tokens] of ambiguous.slice(0, maxToldSymbols).entries())
    tell({ symbol: tokens[0]?.symbol ?? '', tokens, ...(index === maxToldSymbols - 1 && more > 0 && { more }) })
}

const addedTokensFile = (dataDir: string, chain: string, network: string): string => join(dataDir, 'tokens', chain, `${network}.json`)

/**
 * Adds a token to those that were added while a server ran, whole or not at all. Entries that are left out stay as they are: somebody may
 * correct them. The signer does not read them, so that nobody who may only ask the server makes it take a contract for a token.
 * One after the other for a network: the caller sees to that.
 * @throws ConfigError where the file is damaged: it stays as it is; the error of the file system where it cannot be written
 */
export async function addToken(
  { dataDir, chain, network, chainId }: Pick<TokenSources, 'dataDir' | 'chain' | 'network' | 'chainId'>,
  { symbol, address, decimals }: Token,
): Promise<void> {
  const file = addedTokensFile(dataDir, chain, network)
  const problems: ConfigProblem[] = []
  const read = readTextFile(file, maxTokenListBytes)
  if (read.is === 'bad') throw new ConfigError([{ file, path: '', problem: read.problem, remedy: read.remedy }])
  const known = read.is === 'text' ? entriesOf(read.text, file, problems) : []
  if (problems.length > 0) throw new ConfigError(problems)
  const isOther = (entry: unknown) => !isObject(entry) || addressKey(String(entry['address'])) !== addressKey(address)
  const tokens = [...known.filter(isOther), { chainId, symbol, address, decimals, name: symbol }]
  const text = `${JSON.stringify({ name: `Tokens added on ${chain}/${network}`, tokens }, null, 2)}\n`
  const bytes = Buffer.byteLength(text)
  if (bytes > maxTokenListBytes)
    throw new ConfigError([
      {
        file,
        path: '',
        problem: `would have ${bytes} bytes, and at most ${maxTokenListBytes} are read`,
        remedy: 'Take tokens out of it that nobody trades.',
      },
    ])
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeWholeFile(file, text)
}

function shorter(path: string, home: string): string {
  const inside = relative(home, path)
  return inside.startsWith('..') ? path : inside
}

// The parts of the Uniswap Token Lists format that are used; the others (name, logoURI, tags …) are not checked.
// Symbols have no invisible characters, so that two symbols that look alike are alike.
const isEntry = compile(
  Type.Object({
    chainId: Type.Integer({ minimum: 1, description: 'the number of the chain' }),
    address: Type.String({ pattern: '^[!-~]{1,128}$', description: 'the address, without spaces' }),
    symbol: Type.String({
      pattern: symbolPattern.source,
      description: 'the symbol, up to 64 visible characters',
    }),
    decimals: Type.Integer({ minimum: 0, maximum: 255, description: 'the decimals of the token' }),
  }),
)
const isList = compile(Type.Object({ tokens: Type.Array(Type.Unknown(), { description: 'a list of tokens' }) }))

/** Whether a symbol can name a token in requests: with a colon or a comma it would be several names, and an address names what is there. */
export const canNameToken = (symbol: string): boolean =>
  symbolPattern.test(symbol) && !/[:,]/.test(symbol) && !/^0x[0-9a-f]*$/i.test(symbol)

/** The entries of a file in the Uniswap Token Lists format, whatever they are. A file that is none is a problem. */
function entriesOf(text: string, file: string, problems: ConfigProblem[]): readonly unknown[] {
  const remedy = 'Correct the file: it has the Uniswap Token Lists format.'
  const list = fromJson(text)
  if (list instanceof Error) {
    problems.push({ file, path: '', problem: `is not JSON: ${list.message}`, remedy })
    return []
  }
  if (isList(list)) return list.tokens
  for (const { pointer, problem, remedy: how } of schemaProblems(isList.errors ?? []))
    problems.push({ file, path: dottedPath(pointer), problem, remedy: how })
  return []
}

/** A list that is wrong throughout must not fill the log. */
const maxToldEntries = 10

interface ParsedScope extends TokenListScope {
  /** The list is only for this network: an entry of another chain is a mistake. */
  own: boolean
}

/** Picks a chain's tokens out of a list. A file that is no list is added to `problems`. */
function parseTokenList(text: string, file: string, scope: ParsedScope, problems: ConfigProblem[]): Token[] {
  const tokens = new Map<string, Token>()
  /** Entries of one address that contradict each other: nobody can tell which is right. */
  const contradicted = new Set<string>()
  let untold = 0
  let told = 0
  const leaveOut = (
    entry: unknown,
    index: number,
    { path = '', problem, remedy }: Pick<ConfigProblem, 'problem' | 'remedy'> & { path?: string },
  ) => {
    told += 1
    if (told > maxToldEntries) return void (untold += 1)
    const given = isObject(entry) ? entry : {}
    const word = (key: string) => (typeof given[key] === 'string' ? { [key]: given[key].slice(0, 128) } : {})
    scope.onLeftOut?.({
      file,
      path: [`tokens[${index}]`, path].filter(Boolean).join('.'),
      problem,
      remedy,
      ...word('symbol'),
      ...word('address'),
    })
  }
  for (const [index, entry] of entriesOf(text, file, problems).entries()) {
    const read = readEntry(entry, scope)
    if (read === 'of another chain' || read === 'the coin') continue
    if ('problem' in read) {
      leaveOut(entry, index, read)
      continue
    }
    const key = addressKey(read.address)
    const before = tokens.get(key)
    if (contradicted.has(key) || (before && before.decimals !== read.decimals)) {
      // An amount by the wrong one would be wrong by powers of ten.
      contradicted.add(key)
      tokens.delete(key)
      leaveOut(entry, index, {
        path: 'address',
        problem: 'is also that of another entry, with other decimals: both are left out',
        remedy: 'Keep the right one.',
      })
    } else if (before && before.symbol !== read.symbol)
      leaveOut(entry, index, { path: 'address', problem: `is also that of an entry above, ${before.symbol}`, remedy: 'Keep one of them.' })
    else tokens.set(key, read)
  }
  if (untold > 0)
    scope.onLeftOut?.({
      file,
      path: '',
      problem: `has ${untold} more such entries`,
      remedy: 'Correct the file: it has the Uniswap Token Lists format.',
    })
  return [...tokens.values()]
}

type EntryProblem = Pick<ConfigProblem, 'problem' | 'remedy'> & { path: string }

function readEntry(entry: unknown, { chainId, own, chainImpl }: ParsedScope): Token | EntryProblem | 'of another chain' | 'the coin' {
  // Whatever else is wrong with it, it is nothing of ours.
  const of = isObject(entry) ? entry['chainId'] : undefined
  if (!own && Number.isSafeInteger(of) && of !== chainId) return 'of another chain'
  if (!isEntry(entry)) {
    const found = schemaProblems(isEntry.errors ?? [])
    const [first] = found
    const path = first === undefined ? '' : dottedPath(first.pointer)
    const others = found.slice(1).map(({ pointer, problem }) => `; ${dottedPath(pointer)} ${problem}`)
    return { path, problem: `${first?.problem ?? 'is wrong'}${others.join('')}`, remedy: first?.remedy ?? 'Correct the entry.' }
  }
  const { symbol, address, decimals } = entry
  if (entry.chainId !== chainId)
    return {
      path: 'chainId',
      problem: `is ${entry.chainId}, and this network's is ${chainId}`,
      remedy: `Write ${chainId}, or move the entry to its own network's file.`,
    }
  const spelt = chainImpl ? chainImpl.address(address) : address
  if (spelt === undefined)
    return {
      path: 'address',
      problem: 'is no address of this chain',
      remedy: 'Copy it again: complete, and with the right checksum where its letters have one.',
    }
  if (chainImpl?.coinAddresses?.includes(spelt)) {
    const { nativeCurrency: coin } = chainImpl
    if (coin.symbol === symbol && coin.decimals === decimals) return 'the coin'
    return {
      path: 'address',
      problem: `stands for the native coin, which is ${coin.symbol} with ${coin.decimals} decimals here`,
      remedy: `Take the entry out, and write ${coin.symbol} in requests.`,
    }
  }
  return { symbol, address, decimals }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
