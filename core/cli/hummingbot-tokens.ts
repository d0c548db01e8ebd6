// The tokens of a Hummingbot Gateway that no list of this server has. What a list here says of a symbol or an address stays: with other decimals an amount
// would be wrong by powers of ten.
import path from 'node:path'
import { addressKey } from '../base/addresses.ts'
import { readNetworkSettings } from '../config/plugin-config.ts'
import { ConfigError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { canNameToken, loadTokens, type LeftOutToken } from '../config/token-list.ts'
import type { Token } from '../contracts/index.ts'
import { walletAddress } from '../keys/curves.ts'
import { originalOf } from '../live-state/looks.ts'
import { readReleasePolicy } from '../wallet/release-policy.ts'
import type { GatewayNetwork, GatewayToken } from './hummingbot-folder.ts'

/** A network of this server. */
export interface Target {
  readonly chain: string
  readonly network: string
}

export interface TokenPlan extends Target {
  readonly chainId: number
  readonly tokens: readonly GatewayToken[]
}

export interface TokenSite {
  /** Undefined of a chain that is not the release's. */
  chainIdOf(on: Target): number | undefined
  /** All that the server would load, as `loadTokens` merges them. @throws Error where a list cannot be read */
  tokensOf(on: Target, chainId: number): Promise<ListedTokens>
}

interface ListedTokens {
  readonly listed: readonly Token[]
  /** By `addressKey`: those of which a list here has an entry that is not used. */
  readonly leftOut: ReadonlySet<string>
}

export function tokenSite(settings: Settings, folderOf: (chain: string) => string | undefined): TokenSite {
  const { confDir, home, data } = settings
  const ofRelease = Object.values(readReleasePolicy().chains)
  return {
    chainIdOf: ({ chain, network }) => ofRelease.find((each) => each.chain === chain)?.networks[network]?.chainId,
    async tokensOf({ chain, network }, chainId) {
      const pluginFolder = folderOf(chain) ?? ''
      const { tokenLists } = readNetworkSettings({ confDir, home, chain, network }, pluginFolder)
      const wrong: LeftOutToken[] = []
      const onLeftOut = (entry: LeftOutToken) => void wrong.push(entry)
      const listed = await loadTokens({ pluginFolder, confDir, home, chain, network, chainId, tokenLists, dataDir: data.dir, onLeftOut })
      return {
        listed: listed.map((token) => ({ ...token, address: spelt(token.address) })),
        leftOut: new Set(wrong.flatMap(({ address }) => (address === undefined ? [] : addressKey(address)))),
      }
    },
  }
}

/** With its checksum, where its family has one: lists have it or not. */
const spelt = (address: string): string => walletAddress(address) ?? address

/** Undefined where there is none. */
export async function newTokens(
  { name, tokens: given }: GatewayNetwork,
  target: Target,
  { chainIdOf, tokensOf }: TokenSite,
  { differs, left }: { readonly differs: string[]; readonly left: string[] },
): Promise<TokenPlan | undefined> {
  const on = `${target.chain}/${target.network}`
  const chainId = chainIdOf(target)
  // A list may be that of several chains.
  const tokens = given.filter((token) => token.chainId === undefined || token.chainId === chainId)
  if (tokens.length === 0) return undefined
  if (chainId === undefined) {
    left.push(`The ${tokens.length} tokens of ${name}: ${on} is no network of the release.`)
    return undefined
  }
  const here = await tokensOf(target, chainId).catch(reasonOf)
  if (typeof here === 'string') {
    left.push(`The ${tokens.length} tokens of ${name}: they are not compared with those of ${on}, as ${here}.`)
    return undefined
  }
  const differences = new Set<string>()
  const added = addedTokens(tokens, here, differences)
  differs.push(...[...differences].map((difference) => `${on}: ${difference}`))
  return added.length === 0 ? undefined : { ...target, chainId, tokens: added }
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.map(({ file, problem }) => `${file} ${problem}`).join(', ')
  return error instanceof Error ? error.message : 'its lists cannot be read'
}

function addedTokens(tokens: readonly GatewayToken[], here: ListedTokens, differences: Set<string>): readonly GatewayToken[] {
  const byAddress = new Map(here.listed.map((token) => [addressKey(token.address), token]))
  const decimalsThere = decimalsByAddress(tokens)
  const bySymbol = new Map<string, Token>()
  const added: GatewayToken[] = []
  for (const given of tokens) {
    const token = { symbol: given.symbol, address: spelt(given.address), decimals: given.decimals }
    const key = addressKey(token.address)
    const known = byAddress.get(key)
    if (known) {
      if (known.decimals !== token.decimals)
        differences.add(`${token.symbol} ${token.address} has ${known.decimals} decimals here, and ${token.decimals} there.`)
      else if (known.symbol !== token.symbol) differences.add(`${token.address} is ${known.symbol} here, and ${token.symbol} there.`)
      continue
    }
    const problem = problemOf(token, here, decimalsThere.get(key) ?? [])
    const namesake = originalOf(token, here.listed) ?? bySymbol.get(token.symbol.toLowerCase())
    if (problem !== undefined) differences.add(problem)
    else if (namesake)
      differences.add(
        `${token.symbol} is ${described(namesake, token.symbol)} here, and ${token.address} (${token.decimals} decimals) there.`,
      )
    else {
      added.push(token)
      byAddress.set(key, token)
      bySymbol.set(token.symbol.toLowerCase(), token)
    }
  }
  return added
}

const described = ({ symbol, address, decimals }: Token, as: string): string =>
  `${symbol === as ? '' : `${symbol} `}${address} (${decimals} decimals)`

const maxDecimals = 255

/** Why it is no entry of its own, whatever its symbol. */
function problemOf(
  { symbol, address, decimals: given }: Token,
  { leftOut }: ListedTokens,
  decimals: readonly number[],
): string | undefined {
  const isEntry = walletAddress(address) !== undefined && canNameToken(symbol) && walletAddress(symbol) === undefined
  if (!isEntry || given < 0 || given > maxDecimals) return `${address} and its symbol are no entry that a list takes.`
  if (decimals.length > 1) return `${symbol} ${address} has ${decimals.join(' and ')} decimals there: nobody can tell which are right.`
  if (leftOut.has(addressKey(address))) return `${symbol} ${address} is on a list here that has it wrong: correct that list.`
  return undefined
}

function decimalsByAddress(tokens: readonly GatewayToken[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>()
  for (const { address, decimals } of tokens) {
    const key = addressKey(spelt(address))
    found.set(key, [...new Set([...(found.get(key) ?? []), decimals])])
  }
  return found
}

export const tokenFile = (chain: string, network: string): string => path.join('tokens', chain, `${network}.json`)
