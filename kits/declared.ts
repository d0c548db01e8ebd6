// What a plugin that is data alone may be: its `plugin.yml` names one of these kits, and the kit makes the plugin of the data. The loader reads and
// checks the file first (core/plugins/discover/declared.ts).
import { inspect } from 'node:util'
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

/** As code. The data is texts, numbers, lists and tables. */
const literal = (value: unknown): string => inspect(value, { depth: null, breakLength: 120, maxArrayLength: null, maxStringLength: null })

/** The beginning of an object with these fields, for which types are inferred. */
const fieldsOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${literal(value)}, `)
    .join('')

const importOf = (names: string, from: string) => `import { ${names} } from 'sluice/${from}'\n`

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
  code({ networks, fee, coin, devnet, ...data }: V2Fork) {
    const options = fieldsOf({ fee: fee.split('/').map(BigInt), ...(coin !== undefined && { coin }) })
    return {
      'index.ts': `${importOf('sharesConnector', 'pools')}${importOf('uniswapV2', 'uniswap-v2')}
const deployments = ${literal(networks)}

export default sharesConnector({ ${fieldsOf(manifestOf(data))}deployments }, (venue) => uniswapV2(venue, { ${options}deployments }))
`,
      ...(devnet && {
        'devnet.ts': `${importOf('uniswapV2Devnet', 'uniswap-v2/devnet')}
export default uniswapV2Devnet({ name: ${literal(data.name)}, pools: ${literal(devnet.pools)} })
`,
      }),
    }
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
  code: ({ networks, router, feeTiers, ...data }: V3Fork) => ({
    'index.ts': `${importOf('evm', 'evm')}${importOf('defineConnector, versionedSchema', 'plugin')}${importOf('networksIn, poolAMM', 'pools')}${importOf('uniswapV3, v3Events', 'uniswap-v3')}
const deployments = ${literal(networks)}

export default defineConnector({
  family: evm,
  manifest: {
    ${fieldsOf(manifestOf(data))}
    trading_type: ['AMM', 'AMM_RANGE'],
    available_networks: networksIn(deployments),
    schema: versionedSchema({ v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    const v3 = uniswapV3(venue, { ${fieldsOf({ ...(router && { router }), ...(feeTiers && { feeTiers }) })}deployments })
    const AMM = poolAMM(venue, v3)
    return { AMM, AMM_RANGE: v3.range, spenders: { ...AMM.spenders, positions: v3.range.positionManager }, events: v3Events }
  },
})
`,
  }),
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
  code: ({ networks, ...data }: AlgebraFork) => ({
    'index.ts': `${importOf('algebra, algebraEvents', 'algebra')}${importOf('poolConnector', 'pools')}
const deployments = ${literal(networks)}

export default poolConnector({ ${fieldsOf(manifestOf(data))}deployments, events: algebraEvents }, (venue) => algebra(venue, { deployments }))
`,
  }),
}

interface WeightedFork extends DeclaredFile {
  /** The ids of the pools in the Vault. */
  readonly networks: Readonly<Record<string, { readonly pools: readonly string[] }>>
}

const poolsOf = (networks: WeightedFork['networks']) => Object.fromEntries(Object.entries(networks).map(([on, each]) => [on, each.pools]))

const weightedFork = {
  schema: fileOf('fork', byName(`${label}/${networkName}`, objectOf({ pools: listOf(hash, 1_000) }, ['pools']))),
  plugin(data: WeightedFork): unknown {
    const pools = poolsOf(data.networks)
    return sharesConnector({ ...manifestOf(data), deployments: pools, events: weightedEvents }, (venue) => weighted(venue, { pools }))
  },
  code: ({ networks, ...data }: WeightedFork) => ({
    'index.ts': `${importOf('sharesConnector', 'pools')}${importOf('weighted, weightedEvents', 'weighted')}
// The ids of the pools in the Vault.
const pools = ${literal(poolsOf(networks))}

export default sharesConnector({ ${fieldsOf(manifestOf(data))}deployments: pools, events: weightedEvents }, (venue) => weighted(venue, { pools }))
`,
  }),
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

const networksOf = (networks: EvmDeclaredFile['networks']): EvmChainTables['networks'] =>
  Object.fromEntries(
    Object.entries(networks).map(([network, { maxGas, ...table }]) => [
      network,
      { ...table, ...(maxGas !== undefined && { maxGas: BigInt(maxGas) }) },
    ]),
  )

const evmChainKit = {
  schema: fileOf('chain', byName(networkName, evmNetwork)),
  plugin(data: EvmDeclaredFile, list: EvmChainTables['list']): unknown {
    return evmChainPlugin({ ...manifestOf(data), list, networks: networksOf(data.networks) })
  },
  code: ({ networks, ...data }: EvmDeclaredFile) => ({
    'index.ts': `${importOf('evmChainPlugin', 'evm')}import list from './tokens.json' with { type: 'json' }

export default evmChainPlugin({ ${fieldsOf(manifestOf(data))}list, networks: ${literal(networksOf(networks))} })
`,
  }),
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
