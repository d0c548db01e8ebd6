// What a plugin that is data alone may be: its `plugin.yml` names one of these kits, and the kit makes the plugin of the data. The loader reads and
// checks the file first (core/plugins/discover/declared.ts).
import type { DeclaredKit } from '../core/contracts/declared.ts'
import type { DevnetTokenSymbol } from '../core/contracts/devnet.ts'
import { defineConnector, versionedSchema } from '../core/contracts/index.ts'
import { networksIn, poolAMM, poolConnector, sharesConnector } from './amm/index.ts'
import { uniswapV2, type UniswapV2Options } from './amm/v2/index.ts'
import { algebra, algebraEvents, type AlgebraOptions } from './amm/algebra/index.ts'
import { uniswapV3, v3Events, type UniswapV3Options } from './amm/v3/index.ts'
import { weighted, weightedEvents } from './amm/weighted/index.ts'
import { evmChainPlugin, type EvmChainTables, type EvmNetworkTable } from './evm/chain.ts'
import { canonicalAddress } from './evm/encoding.ts'
import { evm } from './evm/family.ts'

const text = (pattern: string, description: string) => ({ type: 'string', pattern, description, maxLength: 200 }) as const
const address = text('^0x[0-9a-fA-F]{40}$', 'an address, quoted')
const hash = text('^0x[0-9a-fA-F]{64}$', '32 bytes, quoted')
const whole = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const
const yes = { type: 'boolean' } as const
const listOf = (items: object, maxItems: number) => ({ type: 'array', items, minItems: 1, maxItems }) as const
const objectOf = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const label = '[a-z0-9][a-z0-9-]{0,63}'
const networkName = '\\w{1,64}'
const byName = (pattern: string, entry: object) => ({
  type: 'object',
  patternProperties: { [`^${pattern}$`]: entry },
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 200,
})

/** What every such file has. */
interface DeclaredFile {
  readonly name: string
  readonly apiVersion: string
  readonly version?: string
}

function fileOf(kind: 'fork' | 'chain', networks: object, properties: object = {}, required: readonly string[] = []): object {
  return objectOf(
    {
      kind: { const: kind },
      kit: { type: 'string' },
      name: text(`^${label}$`, 'the name of the folder'),
      apiVersion: text('^[0-9]{1,6}\\.[0-9]{1,6}$', 'the version of the plugin interface, quoted'),
      version: text('^\\S{1,64}$', 'a version'),
      networks,
      ...properties,
    },
    ['kind', 'kit', 'name', 'apiVersion', 'networks', ...required],
  )
}

const manifestOf = ({ name, apiVersion, version }: DeclaredFile) => ({ name, apiVersion, ...(version !== undefined && { version }) })

const devnetToken = { type: 'string', enum: ['WETH', 'USDC', 'DAI', 'WBTC', 'USDT'] } as const
const devnetAmount = text('^[0-9]{1,12}(\\.[0-9]{1,18})?$', 'an amount, quoted')

interface V2Fork extends DeclaredFile, Pick<UniswapV2Options, 'coin'> {
  readonly networks: UniswapV2Options['deployments']
  readonly fee: string
  readonly devnet?: { readonly pools: readonly (readonly [DevnetTokenSymbol, string, DevnetTokenSymbol, string])[] }
}

const v2Fork = {
  schema: fileOf(
    'fork',
    byName(`${label}/${networkName}`, objectOf({ factory: address, initCodeHash: hash }, ['factory', 'initCodeHash'])),
    {
      fee: text('^[0-9]{1,9}/[1-9][0-9]{0,8}$', 'the part of the input that a pool keeps, such as 3/1000'),
      coin: text('^[A-Z]{1,10}$', "the coin in the names of the router's functions, where it is not ETH"),
      devnet: objectOf(
        {
          pools: listOf(
            {
              type: 'array',
              items: [devnetToken, devnetAmount, devnetToken, devnetAmount],
              minItems: 4,
              maxItems: 4,
              additionalItems: false,
              description: 'a token, its amount, another token, its amount',
            },
            20,
          ),
        },
        ['pools'],
      ),
    },
    ['fee'],
  ),
  plugin(data: V2Fork): unknown {
    const { networks: deployments, fee, coin } = data
    const [kept = 0n, all = 0n] = fee.split('/').map(BigInt)
    if (kept >= all) throw new Error(`fee is ${fee}, and has to be less than the whole input, such as 3/1000`)
    return sharesConnector({ ...manifestOf(data), deployments }, (venue) =>
      uniswapV2(venue, { fee: [kept, all], deployments, ...(coin !== undefined && { coin }) }),
    )
  },
  devnet: {
    module: 'sluice/uniswap-v2/devnet',
    make: ({ uniswapV2Devnet }: typeof import('./amm/v2/devnet.ts'), { name, devnet }: V2Fork) =>
      devnet && uniswapV2Devnet({ name, pools: devnet.pools }),
  },
}

interface V3Fork extends DeclaredFile, Pick<UniswapV3Options, 'router' | 'feeTiers'> {
  readonly networks: UniswapV3Options['deployments']
}

const v3Fork = {
  schema: fileOf(
    'fork',
    byName(`${label}/${networkName}`, objectOf({ factory: address, deployer: address, initCodeHash: hash }, ['factory', 'initCodeHash'])),
    { router: { type: 'string', enum: ['SwapRouter02', 'SwapRouter'] }, feeTiers: byName('[A-Z]{1,20}', whole(1, 999_999)) },
  ),
  plugin(data: V3Fork): unknown {
    const { networks: deployments, router, feeTiers } = data
    return defineConnector({
      family: evm,
      manifest: {
        ...manifestOf(data),
        trading_type: ['AMM', 'AMM_RANGE'],
        available_networks: networksIn(deployments),
        schema: versionedSchema({ v3: ['v3RouterAddress', 'positionManagerAddress'] }),
      },
      create(venue) {
        const v3 = uniswapV3(venue, { deployments, ...(router && { router }), ...(feeTiers && { feeTiers }) })
        const AMM = poolAMM(venue, v3)
        return { AMM, AMM_RANGE: v3.range, spenders: { ...AMM.spenders, positions: v3.range.positionManager }, events: v3Events }
      },
    })
  },
}

interface AlgebraFork extends DeclaredFile {
  readonly networks: AlgebraOptions['deployments']
}

const algebraFork = {
  schema: fileOf(
    'fork',
    byName(
      `${label}/${networkName}`,
      objectOf({ factory: address, poolDeployer: address, initCodeHash: hash }, ['factory', 'poolDeployer', 'initCodeHash']),
    ),
  ),
  plugin: (data: AlgebraFork): unknown =>
    poolConnector({ ...manifestOf(data), deployments: data.networks, events: algebraEvents }, (venue) =>
      algebra(venue, { deployments: data.networks }),
    ),
}

interface WeightedFork extends DeclaredFile {
  /** The ids of the pools in the Vault. */
  readonly networks: Readonly<Record<string, { readonly pools: readonly string[] }>>
}

const weightedFork = {
  schema: fileOf('fork', byName(`${label}/${networkName}`, objectOf({ pools: listOf(hash, 1_000) }, ['pools']))),
  plugin(data: WeightedFork): unknown {
    const pools = Object.fromEntries(Object.entries(data.networks).map(([on, each]) => [on, each.pools]))
    return sharesConnector({ ...manifestOf(data), deployments: pools, events: weightedEvents }, (venue) => weighted(venue, { pools }))
  },
}

interface EvmDeclaredFile extends DeclaredFile {
  readonly networks: Readonly<Record<string, Omit<EvmNetworkTable, 'maxGas'> & { readonly maxGas?: number }>>
}

const symbol = text('^\\S{1,32}$', "a token's symbol")
const gwei = { type: 'number', minimum: 0, maximum: 1_000_000, description: 'gwei' } as const

/** Nothing here says that well-known keys may sign, as `local` of a chain with code does. */
const evmNetwork = objectOf(
  {
    chainId: whole(1, Number.MAX_SAFE_INTEGER),
    nativeCurrency: symbol,
    coinAddresses: listOf(address, 10),
    tokens: listOf(symbol, 50),
    blockSeconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600 },
    confirmations: whole(1, 10_000),
    minTipGwei: gwei,
    feeCapGwei: gwei,
    legacyFees: yes,
    leastBumpPercent: whole(1, 900),
    maxGas: whole(21_000, 1_000_000_000),
    rollup: { const: 'op-stack' },
    gasPaysLayer1: yes,
    gasLimitIsPaid: yes,
    reserveBalance: objectOf({ amount: text('^\\d{1,12}(\\.\\d{1,18})?$', 'whole coins'), blocks: whole(1, 100) }, ['amount', 'blocks']),
    coinIsToken: yes,
    multicall: address,
  },
  ['chainId', 'nativeCurrency', 'tokens', 'blockSeconds', 'confirmations'],
)

const evmChainKit = {
  schema: fileOf('chain', byName(networkName, evmNetwork)),
  plugin(data: EvmDeclaredFile, list: EvmChainTables['list']): unknown {
    const networks = Object.fromEntries(
      Object.entries(data.networks).map(([network, { maxGas, ...table }]) => [
        network,
        { ...table, ...(maxGas !== undefined && { maxGas: BigInt(maxGas) }) },
      ]),
    )
    return evmChainPlugin({ ...manifestOf(data), list, networks })
  },
}

/** By the `kit` of the file. */
export const declaredKits: Readonly<Record<string, DeclaredKit>> = {
  'uniswap-v2': v2Fork,
  'uniswap-v3': v3Fork,
  algebra: algebraFork,
  weighted: weightedFork,
  evm: evmChainKit,
}

/** Whether a text that looks like an address is none: its checksum is wrong. */
export const isMistypedAddress = (value: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(value) && canonicalAddress(value) === undefined
