import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { basename, join, relative, dirname } from 'node:path'
import { withDeadline } from '../async.ts'
import * as Type from 'typebox'
import type { Dispatcher } from 'undici'
import type { Token } from '../contracts/index.ts'
import { writeWholeFile } from '../whole-file.ts'
import { compile } from './check.ts'
import { maskUrl, maskUrls } from './mask.ts'
import type { TokenListSource } from './plugin-config.ts'
import { ConfigError, type ConfigProblem, schemaProblems } from './problems.ts'
import { dottedPath } from './tree.ts'
import { readTextFile } from './yaml.ts'

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
 * The tokens of a network: those of the plugin's `tokens.json`, then of the settings' `tokenLists` in their order, then of
 * `data/tokens/<chain>/<network>.json`, which were added while a server ran, then of `conf/tokens/<chain>/<network>.json`. A later entry replaces an earlier one of the same address; symbols may repeat. Addresses are spelt as
 * in the lists.
 * @throws ConfigError with every problem; problems caused only by an unreachable host are `temporary`
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
        problem: 'does not exist, but tokenLists names it',
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
    fromFile(addedTokensFile(fetching.dataDir, chain, network), join(basename(fetching.dataDir), own), { own: true, optional: true }),
    fromFile(join(confDir, own), join(basename(confDir), own), { own: true, optional: true }),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return [...new Map(lists.flat().map((token) => [tokenKey(token.address), token])).values()]
}

const addedTokensFile = (dataDir: string, chain: string, network: string): string => join(dataDir, 'tokens', chain, `${network}.json`)

/**
 * Adds a token to those that were added while a server ran, whole or not at all. The signer does not read them, so that nobody who may only ask
 * the server makes it take a contract for a token.
 * One after the other for a network: the caller sees to that.
 * @throws ConfigError where the file is damaged: it stays as it is; the error of the file system where it cannot be written
 */
export async function addToken(
  { dataDir, chain, network, chainId }: Pick<TokenSources, 'dataDir' | 'chain' | 'network' | 'chainId'>,
  { symbol, address, decimals }: Token,
): Promise<void> {
  const file = addedTokensFile(dataDir, chain, network)
  const problems: ConfigProblem[] = []
  const read = readTextFile(file, maxBytes)
  if (read.is === 'bad') throw new ConfigError([{ file, path: '', problem: read.problem, cure: read.cure }])
  const known = read.is === 'text' ? parseTokenList(read.text, file, { chainId, own: true }, problems) : []
  if (problems.length > 0) throw new ConfigError(problems)
  const others = known.filter((each) => tokenKey(each.address) !== tokenKey(address))
  const tokens = [...others, { symbol, address, decimals }].map((each) => ({ chainId, ...each, name: each.symbol }))
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeWholeFile(file, `${JSON.stringify({ name: `Tokens added on ${chain}/${network}`, tokens }, null, 2)}\n`)
}

function shorter(path: string, home: string): string {
  const inside = relative(home, path)
  return inside.startsWith('..') ? path : inside
}

const symbolPattern = /^[^\s\p{C}]([^\p{C}]{0,62}[^\s\p{C}])?$/u

// The parts of the Uniswap Token Lists format that are used; the others (name, logoURI, tags …) are not checked.
// Symbols have no invisible characters, so that two symbols that look alike are alike.
const validate = compile(
  Type.Object({
    tokens: Type.Array(
      Type.Object({
        chainId: Type.Integer({ minimum: 1, description: 'the number of the chain' }),
        address: Type.String({ pattern: '^[!-~]{1,128}$', description: 'the address, without spaces' }),
        symbol: Type.String({
          pattern: symbolPattern.source,
          description: 'the symbol, up to 64 visible characters',
        }),
        decimals: Type.Integer({ minimum: 0, maximum: 255, description: 'the decimals of the token' }),
      }),
    ),
  }),
)

/** Whether a text can be a symbol of a list. */
export const isSymbol = (text: string): boolean => symbolPattern.test(text)

/** A file that is wrong throughout must not fill the screen. */
const maxProblems = 10

interface TokenListScope {
  chainId: number
  /** The list is only for this network: an entry of another chain is a mistake. */
  own: boolean
}

/** Reads a list in the Uniswap Token Lists format and picks the chain's tokens. Problems are added to `problems`. */
function parseTokenList(text: string, file: string, { chainId, own }: TokenListScope, problems: ConfigProblem[]): Token[] {
  const report = (path: string, problem: string, cure: string) => void problems.push({ file, path, problem, cure })
  const list = fromJson(text)
  if (list instanceof Error) {
    report('', `is not JSON: ${list.message}`, 'Correct the file: it has the Uniswap Token Lists format.')
    return []
  }
  if (!validate(list)) {
    const found = schemaProblems(validate.errors ?? [])
    for (const { pointer, problem, cure } of found.slice(0, maxProblems)) report(dottedPath(pointer), problem, cure)
    if (found.length > maxProblems)
      report('', `has ${found.length - maxProblems} more such problems`, 'Correct the file: it has the Uniswap Token Lists format.')
    return []
  }
  const tokens = new Map<string, Token>()
  for (const [index, { chainId: of, symbol, address, decimals }] of list.tokens.entries()) {
    const entry = `tokens[${index}]`
    if (of !== chainId) {
      if (own)
        report(
          `${entry}.chainId`,
          `(${symbol}) is ${of}, and this network's is ${chainId}`,
          `Write ${chainId}, or move the entry to its own network's file.`,
        )
      continue
    }
    const before = tokens.get(tokenKey(address))
    if (before && (before.decimals !== decimals || before.symbol !== symbol))
      report(
        `${entry}.address`,
        `(${symbol}) is also that of another entry, ${before.symbol} with ${before.decimals} decimals`,
        'Keep the right one.',
      )
    tokens.set(tokenKey(address), { symbol, address, decimals })
  }
  return [...tokens.values()]
}

/** Equal for two spellings of one address. The case of hexadecimal digits is only a checksum; in other alphabets it matters. */
function tokenKey(address: string): string {
  return /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

const timeoutMs = 15_000

interface RemoteTokenList {
  url: string
  /** Lower-case hex. */
  sha256: string
}

interface FetchOptions {
  /** Holds the cache of fetched lists. */
  dataDir: string
  signal?: AbortSignal
  /** How to reach the host, e.g. through a proxy. */
  dispatcher?: Dispatcher
}

/**
 * The text of a list, from the cache or by HTTPS, if it has the given SHA-256. Redirects are not followed. Returns undefined after a problem,
 * which is added to `problems`.
 */
async function fetchTokenList(
  { url, sha256 }: RemoteTokenList,
  options: FetchOptions,
  problems: ConfigProblem[],
): Promise<string | undefined> {
  const cached = join(options.dataDir, 'token-lists', `${sha256}.json`)
  const report = (problem: string, cure: string, temporary?: true) =>
    void problems.push({ file: maskUrl(url), path: '', problem, cure, ...(temporary ? { temporary } : {}) })

  const saved = await readFile(cached).catch(() => undefined)
  if (saved && sha256Of(saved) === sha256) return saved.toString('utf8')
  if (!url.startsWith('https://')) {
    report('is not fetched without TLS', 'Give an https:// URL.')
    return undefined
  }
  let bytes
  try {
    bytes = await withDeadline(options.signal, timeoutMs, (signal) => download(url, options.dispatcher, signal))
  } catch (error) {
    report(
      `cannot be fetched: ${reason(error)}`,
      'Try again when the host can be reached, or save the list to a file and name that in tokenLists.',
      true,
    )
    return undefined
  }
  if ('problem' in bytes) {
    report(bytes.problem, bytes.cure)
    return undefined
  }
  if (sha256Of(bytes.body) !== sha256) {
    report(
      `has the SHA-256 ${sha256Of(bytes.body)}, not the expected one`,
      'The list has changed: review the change, then write the new hash.',
    )
    return undefined
  }
  await saveToCache(cached, bytes.body)
  return bytes.body.toString('utf8')
}

type Download = { body: Buffer } | { problem: string; cure: string }

async function download(url: string, dispatcher: Dispatcher | undefined, signal: AbortSignal): Promise<Download> {
  const { request } = await import('undici')
  const response = await request(url, { signal, ...(dispatcher ? { dispatcher } : {}) })
  if (response.statusCode !== 200) {
    // Destroying the body emits an error, which would end the process without a listener.
    response.body.on('error', () => {}).destroy()
    const redirect = response.statusCode >= 300 && response.statusCode < 400
    if (!redirect) throw new Error(`the host answers ${response.statusCode}`)
    return { problem: `answers with a redirect (${response.statusCode}), which is not followed`, cure: 'Give the URL of the list itself.' }
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    // Leaving the loop closes the connection.
    if (size > maxBytes) return { problem: `is larger than ${maxBytes} bytes`, cure: 'Give the URL of a token list.' }
    chunks.push(bytes)
  }
  return { body: Buffer.concat(chunks) }
}

/** Failures are ignored: the cache only saves the next fetch, and other parts report a disk that cannot be written. */
async function saveToCache(file: string, body: Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    .then(() => writeWholeFile(file, body))
    .catch(() => undefined)
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A refused connection has no message of its own, only a code. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return maskUrls(error.message || ('code' in error ? String(error.code) : error.name))
}
