// What of a Hummingbot Gateway's folder becomes part of this home: what is new here. What differs stays as it is here, and is told.
import path from 'node:path'
import { maskUrl } from '../config/mask.ts'
import { mergedFiles } from '../config/yaml.ts'
import { getAt, pointerOf } from '../config/tree.ts'
import { curves, type CurveName } from '../keys/curves.ts'
import type { GatewayFolder, GatewayNetwork, GatewayWallet } from './hummingbot-folder.ts'
import { newTokens, type Target, type TokenPlan, type TokenSite } from './hummingbot-tokens.ts'

export interface ImportPlan {
  readonly nodes: readonly NodePlan[]
  readonly tokens: readonly TokenPlan[]
  /** Of Hummingbot's chains, by its name: the network that requests without one mean. */
  readonly defaultNetworks: ReadonlyMap<string, string>
  readonly keys: readonly KeyPlan[]
  /** In sentences: what stays as it is here, and what has no place here. */
  readonly differs: readonly string[]
  readonly left: readonly string[]
}

interface NodePlan {
  readonly chain: string
  readonly network: string
  readonly url: string
}

export interface KeyPlan {
  readonly wallet: GatewayWallet & { readonly file: string }
  /** The chains of this server that get the key. */
  readonly chains: readonly string[]
}

export interface ImportSite extends TokenSite {
  readonly confDir: string
  /** By chain: the folder of its plugin. */
  readonly chains: ReadonlyMap<string, { readonly folder: string; readonly curve: CurveName }>
  /** `ethereum-base` → `base/mainnet`. */
  readonly networks: Readonly<Record<string, unknown>>
  readonly defaultNetworks: Readonly<Record<string, unknown>>
  /** Whether the operator has set the default network of a chain of Hummingbot's. */
  readonly hasOwnDefault: (chain: string) => boolean
  /** Chains that get the keys besides those of the default networks. */
  readonly moreChains: readonly string[]
  readonly hasWallet: (chain: string, address: string) => boolean
  /** Names of the plugins that are not switched off. */
  readonly plugins: ReadonlySet<string>
}

export async function planImport(folder: GatewayFolder, site: ImportSite): Promise<ImportPlan> {
  const differs: string[] = []
  const left: string[] = [...folder.problems]
  const known = folder.networks.flatMap((network) => {
    const target = targetOf(network, site)
    if (!target) left.push(`${network.name}: this server has no such network.`)
    const chainId = target && site.chainIdOf(target)
    if (!target || chainId === undefined || (network.chainId ?? chainId) === chainId) return target ? [{ from: network, ...target }] : []
    left.push(`${network.name}: the chain is ${network.chainId} there, and ${chainId} here.`)
    return []
  })
  const shipped: string[] = []
  const nodes = known.flatMap(({ from, ...target }) => nodeOf(from, target, site, { left, shipped }) ?? [])
  if (shipped.length > 0) left.push(`The nodes that a Gateway comes with (${shipped.join(', ')}): this server asks its own.`)
  const tokens: TokenPlan[] = []
  for (const { from, ...target } of known) {
    const plan = await newTokens(from, target, site, { differs, left })
    if (plan) tokens.push(plan)
  }
  for (const [chain, provider] of folder.providers)
    left.push(
      `The nodes of ${provider} for ${chain} (rpcProvider, apiKeys.yml): write their URLs into conf/chains, as \${VARIABLE} with the key in the environment.`,
    )
  const slippage = [...folder.slippage].map(([connector, allowed]) => `${connector} ${allowed}`).join(', ')
  if (slippage !== '')
    left.push(`The slippage (${slippage}): this server has allowedSlippage in conf/connectors, and each bot may set a tighter one.`)
  left.push(...missingExchanges(folder, site))
  if (folder.poolCount > 0) left.push(`${folder.poolCount} saved pools: the exchanges' own pools are found without a list.`)
  for (const wallet of folder.defaultWallets)
    left.push(`The default wallet ${wallet}: each client sets its own (gateway connect, POST /wallet/setDefault).`)
  return { nodes, tokens, defaultNetworks: newDefaults(folder, site, differs), keys: keysOf(folder, known, site, left), differs, left }
}

/** A bot that names one of them is refused here. */
function missingExchanges({ exchanges, networks }: GatewayFolder, { plugins }: ImportSite): string[] {
  const providers = networks.flatMap(({ name, swapProvider }) => {
    const [exchange = ''] = swapProvider?.split('/') ?? []
    return swapProvider === undefined || plugins.has(exchange) ? [] : [{ name, swapProvider, exchange }]
  })
  const missing = [...new Set([...exchanges, ...providers.map(({ exchange }) => exchange)])].filter((each) => !plugins.has(each)).toSorted()
  if (missing.length === 0) return []
  return [
    `The exchanges ${missing.join(', ')}: this server has none of that name. Bots name another one, or \`sluice\` for the best price of those that are here; close positions in them with the Gateway.`,
    ...providers.map(({ name, swapProvider }) => `The swapProvider of ${name} (${swapProvider}): here it is sluice/router.`),
  ]
}

/** Networks are named as clients of 2.x name them, and those of the first generation as this server does. */
function targetOf({ name, chain, network }: GatewayNetwork, { networks, chains }: ImportSite): Target | undefined {
  const mapped = networks[olderNames.get(name) ?? name]
  if (typeof mapped === 'string') {
    const [of = '', own = ''] = mapped.split('/')
    return chains.has(of) ? { chain: of, network: own } : undefined
  }
  const folder = chains.get(chain)?.folder
  return folder !== undefined && network in mergedFiles([path.join(folder, 'defaults.yml')]) ? { chain, network } : undefined
}

/** What versions before 2.3 called them. */
const olderNames: ReadonlyMap<string, string> = new Map([
  ['ethereum-arbitrum_one', 'ethereum-arbitrum'],
  ['avalanche-avalanche', 'ethereum-avalanche'],
  ['celo-celo', 'ethereum-celo'],
])

/**
 * Public nodes that the templates of a Gateway have named, beside those that this server has, too: nobody chose them, and some take no requests without a
 * key today. Source: `nodeURL` in src/templates of https://github.com/hummingbot/gateway (v1.13.0 to v2.13.0, and its newest files).
 */
const templateNodes: readonly RegExp[] = [
  /^rpc\.ankr\.com\/\w+$/,
  /^(eth|binance)\.llamarpc\.com$/,
  /^[\w-]+\.g\.alchemy\.com\/public$/,
  /^bsc-dataseed1\.binance\.org$/,
  /^data-seed-prebsc-1-s1\.binance\.org:8545$/,
  /^bsc-testnet\.publicnode\.com$/,
  /^evm(-t3)?\.cronos\.org$/,
  /^rpc\.worldcoin\.org$/,
]

const isOfTemplates = (url: string): boolean => {
  const place = url.replace(/^https:\/\//, '').replace(/\/$/, '')
  return templateNodes.some((node) => node.test(place))
}

function nodeOf(
  { name, nodeUrl }: GatewayNetwork,
  { chain, network }: Target,
  { confDir, chains }: ImportSite,
  { left, shipped }: { readonly left: string[]; readonly shipped: string[] },
): NodePlan | undefined {
  if (nodeUrl === undefined) return undefined
  const rpcUrls = (files: readonly string[]) => {
    const found = getAt(mergedFiles(files), pointerOf([network, 'rpcUrls']))
    return Array.isArray(found) ? found.map(String) : []
  }
  const folder = chains.get(chain)?.folder ?? ''
  if (rpcUrls([path.join(folder, 'defaults.yml')]).includes(nodeUrl)) return undefined
  const own = rpcUrls([path.join(confDir, 'chains', `${chain}.yml`)])
  if (own.includes(nodeUrl)) return undefined
  const told = `The node of ${name} (${maskUrl(nodeUrl)})`
  if (isOfTemplates(nodeUrl)) shipped.push(name)
  else if (own.length > 0) left.push(`${told}: conf/chains/${chain}.yml has nodes of its own for ${network}.`)
  else if (!isNodeUrl(nodeUrl)) left.push(`${told}: it is no URL of http or https.`)
  else return { chain, network, url: nodeUrl }
  return undefined
}

/** A text that stands for a variable of the environment is none. */
const isNodeUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text) && !text.includes('${')

function newDefaults(
  { defaultNetworks }: GatewayFolder,
  { networks, defaultNetworks: here, hasOwnDefault }: ImportSite,
  differs: string[],
): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>()
  for (const name of defaultNetworks) {
    const [chain = '', ...rest] = name.split('-')
    const network = rest.join('-')
    // The first is the one that the chain's own key names.
    if (!(name in networks) || wanted.has(chain)) continue
    wanted.set(chain, network)
  }
  for (const [chain, network] of wanted) {
    if (here[chain] !== network && !hasOwnDefault(chain)) continue
    if (here[chain] !== network) differs.push(`The default network of ${chain} is ${String(here[chain])} here, and ${network} there.`)
    wanted.delete(chain)
  }
  return wanted
}

/**
 * A key of an EVM chain signs on all of them there; here it is added for each chain by itself: those of the default networks, or `ethereum` where the Gateway
 * names none, as before 2.8.
 */
function keysOf(
  { wallets, defaultNetworks }: GatewayFolder,
  known: readonly (Target & { readonly from: GatewayNetwork })[],
  { chains, moreChains, hasWallet }: ImportSite,
  left: string[],
): KeyPlan[] {
  const isDefault = ({ from }: { readonly from: GatewayNetwork }) => defaultNetworks.includes(from.name)
  const isOfEthereum = ({ from }: { readonly from: GatewayNetwork }) => from.chain === 'ethereum'
  const defaults = known.filter(isDefault)
  // One that this server does not have is named, too: keys are given to no other chain in its place.
  const named = defaultNetworks.filter((name) => name.startsWith('ethereum-'))
  const wanted = new Set([...defaults.map(({ chain }) => chain), ...(named.length > 0 ? [] : ['ethereum']), ...moreChains])
  const isUnknown = named.length > 0 && moreChains.length === 0 && !defaults.some(isOfEthereum)
  const asksForChains = 'so name their chains, such as --chain base.'
  if (moreChains.length === 0 && wallets.some(({ chain, file }) => chain === 'ethereum' && file !== undefined)) {
    if (named.length === 0) left.push(`The keys of ethereum for its other networks: the Gateway names no default one, ${asksForChains}`)
    else if (isUnknown)
      left.push(`The keys of ethereum: its default network (${named.join(', ')}) is none of this server, ${asksForChains}`)
  }
  return wallets.flatMap((wallet): KeyPlan[] => {
    const { chain, address, file } = wallet
    if (file === undefined) {
      left.push(`The hardware wallet ${address} of ${chain}: this server signs with keys that it holds.`)
      return []
    }
    const curve = curveOf(address)
    const own = chains.has(chain) && chain !== 'ethereum' ? [chain] : [...wanted]
    const fitting = own.filter((each) => curve !== undefined && chains.get(each)?.curve === curve)
    const missing = fitting.filter((each) => !hasWallet(each, address))
    if (fitting.length === 0 && isUnknown && chain === 'ethereum') return []
    if (fitting.length === 0) left.push(`The wallet ${address} of ${chain}: no chain of this server has such keys.`)
    else if (missing.length === 0) left.push(`The wallet ${address}: the keystore has it.`)
    return missing.length === 0 ? [] : [{ wallet: { ...wallet, file }, chains: missing }]
  })
}

const curveOf = (address: string): CurveName | undefined =>
  (['secp256k1', 'ed25519'] as const).find((curve) => curves[curve].address(address) !== undefined)
