// What the folder of a Hummingbot Gateway holds: of 2.8 and later (`conf/chains/<chain>/<network>.yml`) and of the versions before
// (`conf/<chain>.yml`). Layouts by the templates and the code of https://github.com/hummingbot/gateway (v1.17.0 to v2.13.0).
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { isObject } from '../base/json.ts'
import type { ConfigProblem } from '../config/problems.ts'
import type { Section } from '../config/tree.ts'
import { readTextFile, readYaml } from '../config/yaml.ts'

export interface GatewayFolder {
  readonly networks: readonly GatewayNetwork[]
  /** The networks that it uses where a request names none, as `ethereum-base`. */
  readonly defaultNetworks: readonly string[]
  readonly defaultWallets: readonly string[]
  readonly wallets: readonly GatewayWallet[]
  /** By connector: a percentage, or a fraction such as 2/100 before 2.8. */
  readonly slippage: ReadonlyMap<string, string>
  /** The exchanges that it is set up for, by its names. */
  readonly exchanges: readonly string[]
  readonly poolCount: number
  /** By chain: who makes the node URLs from a key of its own. */
  readonly providers: ReadonlyMap<string, string>
  /** What could not be read, in sentences. */
  readonly problems: readonly string[]
}

export interface GatewayNetwork {
  /** Of a chain and a network, as `ethereum-base`. */
  readonly name: string
  readonly chain: string
  readonly network: string
  readonly chainId?: number
  readonly nodeUrl?: string
  /** Who swaps where a request names no exchange, as `jupiter/router`. */
  readonly swapProvider?: string
  readonly tokens: readonly GatewayToken[]
}

export interface GatewayToken {
  readonly symbol: string
  readonly address: string
  readonly decimals: number
  /** Where its list says it. */
  readonly chainId?: number
}

export interface GatewayWallet {
  /** `ethereum` for all EVM chains. */
  readonly chain: string
  readonly address: string
  /** Its encrypted key. Absent: a hardware wallet, which signs by itself. */
  readonly file?: string
}

const maxListBytes = 32 << 20

/** @throws Error where the folder is none of a Gateway */
export function readGatewayFolder(given: string): GatewayFolder {
  const folder = existsSync(path.join(given, 'conf')) ? path.join(given, 'conf') : given
  if (!existsSync(path.join(folder, 'root.yml')))
    throw new Error(`${given} is no folder of Hummingbot's Gateway: there is no root.yml in it, nor in its folder conf.`)
  const problems: string[] = []
  const files = createFiles(folder, problems)
  const isNew = files.folders('.').includes('chains')
  const chains = isNew ? files.names('chains', '.yml') : files.names('.', '.yml').filter((name) => isChain(files.yaml(`${name}.yml`)))
  const settings = new Map(chains.map((chain) => [chain, files.yaml(isNew ? `chains/${chain}.yml` : `${chain}.yml`)]))
  const slippage = slippageOf(isNew ? 'connectors' : '.', files)
  const pools = files.names('pools', '.json')
  const textOf = (field: string) =>
    [...settings].flatMap(([chain, of]) => (typeof of[field] === 'string' ? [[chain, of[field]] as const] : []))
  return {
    networks: chains.flatMap((chain) => (isNew ? networksOf(chain, files) : olderNetworksOf(chain, settings.get(chain) ?? {}, files))),
    defaultNetworks: [
      ...new Set([
        ...textOf('defaultNetwork').map(([chain, network]) => `${chain}-${network}`),
        ...[...settings].flatMap(([chain, { defaultNetworks }]) =>
          Array.isArray(defaultNetworks) ? defaultNetworks.map((network) => `${chain}-${String(network)}`) : [],
        ),
      ]),
    ],
    // A template has `<ethereum-wallet-address>`.
    defaultWallets: textOf('defaultWallet').flatMap(([, wallet]) => (wallet.startsWith('<') ? [] : [wallet])),
    wallets: walletsOf(files, problems),
    slippage,
    exchanges: [...new Set([...(isNew ? files.names('connectors', '.yml') : slippage.keys()), ...pools])],
    poolCount: pools.reduce((sum, name) => sum + listOf(files.json(`pools/${name}.json`)).length, 0),
    providers: new Map(textOf('rpcProvider').filter(([, provider]) => provider !== 'url')),
    problems,
  }
}

type Files = ReturnType<typeof createFiles>

function createFiles(folder: string, problems: string[]) {
  const at = (name: string) => path.join(folder, name)
  const entries = (name: string) => (existsSync(at(name)) ? readdirSync(at(name), { withFileTypes: true }) : [])
  return {
    at,
    names: (name: string, ending: string): readonly string[] =>
      entries(name)
        .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
        .map((entry) => entry.name.slice(0, -ending.length)),
    folders: (name: string): readonly string[] =>
      entries(name)
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name),
    yaml(name: string): Section {
      const found: ConfigProblem[] = []
      const yaml = readYaml(at(name), name, found, true)
      for (const { problem, line } of found) problems.push(`${name}${line === undefined ? '' : `:${line}`} ${problem}: it is left out.`)
      return yaml?.value ?? {}
    },
    /** undefined where there is none, or it cannot be read. */
    json(name: string): unknown {
      const read = readTextFile(at(name), maxListBytes)
      if (read.is === 'bad') problems.push(`${name} ${read.problem}: it is left out.`)
      if (read.is !== 'text') return undefined
      try {
        return JSON.parse(read.text)
      } catch {
        problems.push(`${name} is not JSON: it is left out.`)
        return undefined
      }
    },
  }
}

/** Files of connectors have `networks`, too, with their contracts or pools. */
const isChain = ({ networks }: Section): boolean =>
  isObject(networks) && Object.values(networks).some((of) => isObject(of) && ('nodeURL' in of || 'rpcURL' in of))

const networksOf = (chain: string, files: Files): GatewayNetwork[] =>
  files.names(`chains/${chain}`, '.yml').map((network) => ({
    ...networkOf(chain, network, files.yaml(`chains/${chain}/${network}.yml`)),
    tokens: tokensOf(files.json(`tokens/${chain}/${network}.json`)),
  }))

/** The path of a token list is one of the machine, or of the container: its name counts. */
const olderNetworksOf = (chain: string, { networks }: Section, files: Files): GatewayNetwork[] =>
  Object.entries(isObject(networks) ? networks : {}).map(([network, of]) => {
    const settings = isObject(of) ? of : {}
    const source = settings['tokenListSource']
    const list = typeof source === 'string' && settings['tokenListType'] !== 'URL' ? `lists/${path.posix.basename(source)}` : undefined
    return { ...networkOf(chain, network, settings), tokens: list === undefined ? [] : tokensOf(files.json(list)) }
  })

const networkOf = (chain: string, network: string, { chainID, nodeURL, swapProvider }: Section): Omit<GatewayNetwork, 'tokens'> => ({
  name: `${chain}-${network}`,
  chain,
  network,
  ...(typeof chainID === 'number' && { chainId: chainID }),
  ...(typeof nodeURL === 'string' && nodeURL !== '' && { nodeUrl: nodeURL }),
  ...(typeof swapProvider === 'string' && swapProvider !== '' && { swapProvider }),
})

const listOf = (json: unknown): readonly unknown[] => (Array.isArray(json) ? json : [])

/** A bare list, or a list of the Uniswap Token Lists format. */
function tokensOf(json: unknown): GatewayToken[] {
  return listOf(isObject(json) ? json['tokens'] : json).flatMap((each) => {
    const { symbol, address, decimals, chainId } = isObject(each) ? each : {}
    return typeof symbol === 'string' && typeof address === 'string' && typeof decimals === 'number' && Number.isInteger(decimals)
      ? [{ symbol, address, decimals, ...(typeof chainId === 'number' && { chainId }) }]
      : []
  })
}

function walletsOf(files: Files, problems: string[]): GatewayWallet[] {
  return files.folders('wallets').flatMap((chain) =>
    files.names(`wallets/${chain}`, '.json').flatMap((name): GatewayWallet[] => {
      const file = `wallets/${chain}/${name}.json`
      return name === 'hardware-wallets' ? hardwareWallets(chain, file, files, problems) : [{ chain, address: name, file: files.at(file) }]
    }),
  )
}

/** Source: `saveHardwareWallets` in its src/wallet/utils.ts, `{ wallets: [{ address, … }] }`. */
function hardwareWallets(chain: string, file: string, files: Files, problems: string[]): GatewayWallet[] {
  const json = files.json(file)
  const list = isObject(json) ? json['wallets'] : json
  const wallets = listOf(list).flatMap((each) =>
    isObject(each) && typeof each['address'] === 'string' ? [{ chain, address: each['address'] }] : [],
  )
  // That it is no JSON is told already.
  if (json !== undefined && (!Array.isArray(list) || wallets.length < list.length))
    problems.push(`${file} does not name the address of each hardware wallet: what it does not name is left out.`)
  return wallets
}

const slippageOf = (folder: string, files: Files): ReadonlyMap<string, string> =>
  new Map(
    files.names(folder, '.yml').flatMap((connector) => {
      const { slippagePct, allowedSlippage = slippagePct } = files.yaml(path.posix.join(folder, `${connector}.yml`))
      return typeof allowedSlippage === 'number' || typeof allowedSlippage === 'string'
        ? [[connector, String(allowedSlippage)] as const]
        : []
    }),
  )
