// "sluice/algebra/devnet". Loaded on the devnet only.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Contract, MaxUint256, ZeroAddress, concat, getCreateAddress, type BaseContract, type Provider } from 'ethers'
import type { Artifact, DevnetPlugin, DevnetSite, DevnetTokens, Quoter, QuoterHop } from '../../../core/contracts/devnet.ts'
import { tokensAlong } from '../../pools/route-parts.ts'
import { inPoolOrder, mintFor, type RangeFilling } from '../v3/devnet.ts'
import { getSqrtRatioAtTick } from '../v3/math.ts'
import type { AlgebraKind } from './pools.ts'

export interface AlgebraDevnetOptions {
  readonly name: string
  /** "integral" unless given. */
  readonly kind?: AlgebraKind
  readonly pools: readonly AlgebraPoolFilling[]
}

export interface AlgebraPoolFilling extends RangeFilling {
  /** With Algebra's own plugin, which sets the fee before swaps by how much the price moved. Pools of 1.0 do so themselves. */
  readonly plugin?: true
}

/** Puts an exchange of Algebra on the devnet: factory, position manager, router, filled pools, and the exchange's own quoter. */
export function algebraDevnet({ name, kind = 'integral', pools }: AlgebraDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      await fillPools(site, kind, await deployContracts(site, kind), pools)
    },
    quoter: (site) => quoterOf(site.provider, kind, algebraDevnetAddresses(site.deployer).quoter),
  }
}

type Site = DevnetSite & { readonly tokens: DevnetTokens }

/** The addresses of the contracts on the devnet. Only Integral has a plugin factory. */
export function algebraDevnetAddresses(deployer: string) {
  const at = (nonce: number) => getCreateAddress({ from: deployer, nonce })
  return { poolDeployer: at(0), factory: at(1), positionManager: at(2), router: at(3), quoter: at(4), pluginFactory: at(5) }
}

// Given, not estimated: an estimate would run everything twice, and whoever starts for the first time waits for it.
const maxGas = 15_000_000n

/** In the order of `algebraDevnetAddresses`. Returns the factory. */
async function deployContracts(site: Site, kind: AlgebraKind): Promise<BaseContract> {
  const weth = site.tokens.WETH.address
  const { poolDeployer, factory } = algebraDevnetAddresses(site.signer.address)
  const options = { gasLimit: maxGas }
  const fromPackage = (contractName: ContractName) => readPackage(contractName, kind)
  // In 1.0 the deployer is told its factory later, and the factory is told where its fees go.
  const isIntegral = kind === 'integral'
  const deployer = await site.deploy(await fromPackage('AlgebraPoolDeployer'), ...(isIntegral ? [factory] : []), options)
  const vault = isIntegral ? [] : [site.signer.address]
  const deployed = await site.deploy(await fromPackage('AlgebraFactory'), poolDeployer, ...vault, options)
  // Without a descriptor: it draws the pictures of positions, which nobody needs here.
  await site.deploy(await fromPackage('NonfungiblePositionManager'), factory, weth, ZeroAddress, poolDeployer, options)
  await site.deploy(await fromPackage('SwapRouter'), factory, weth, poolDeployer, options)
  await site.deploy(await fromPackage('Quoter'), factory, weth, poolDeployer, options)
  if (isIntegral) await site.deploy(await fromPackage('BasePluginV1Factory'), factory, options)
  else await site.send(deployer, 'setFactory', factory)
  return deployed
}

const files = {
  integral: {
    AlgebraPoolDeployer: 'integral-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json',
    AlgebraFactory: 'integral-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json',
    NonfungiblePositionManager: 'integral-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
    SwapRouter: 'integral-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json',
    Quoter: 'integral-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json',
    BasePluginV1Factory: 'integral-base-plugin/artifacts/contracts/BasePluginV1Factory.sol/BasePluginV1Factory.json',
  },
  '1.0': {
    AlgebraPoolDeployer: 'v1-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json',
    AlgebraFactory: 'v1-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json',
    NonfungiblePositionManager: 'periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
    SwapRouter: 'periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json',
    Quoter: 'periphery/artifacts/contracts/lens/Quoter.sol/Quoter.json',
  },
} as const
type ContractName = keyof (typeof files)['integral']

/**
 * Algebra's own bytecode, which is under licences of its own (the pool: BUSL-1.1, for trying only), so it is read from the packages where the
 * devnet is deployed, and stands nowhere else.
 */
async function readPackage(contractName: ContractName, kind: AlgebraKind): Promise<Artifact> {
  const ofKind: Readonly<Partial<Record<ContractName, string>>> = files[kind]
  const file = createRequire(import.meta.url).resolve(`@cryptoalgebra/${ofKind[contractName]}`)
  const { abi, bytecode }: Artifact = JSON.parse(await readFile(file, 'utf8'))
  return { contractName, abi, bytecode, license: contractName.startsWith('Algebra') ? 'BUSL-1.1' : 'GPL-2.0-or-later' }
}

// A pool of Integral has a deployer: that of custom pools, or the zero address.
const managerAbi = (deployer: string, data: string) => [
  'function multicall(bytes[] data) payable returns (bytes[])',
  `function createAndInitializePoolIfNecessary(address token0, address token1, ${deployer}uint160 sqrtPriceX96${data}) payable returns (address)`,
  `function mint((address token0, address token1, ${deployer}int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable`,
]
const managers = {
  integral: { abi: managerAbi('address deployer, ', ', bytes data'), deployer: [ZeroAddress], data: ['0x'] },
  '1.0': { abi: managerAbi('', ''), deployer: [], data: [] },
} as const

/** One transaction makes a pool with all its positions. */
async function fillPools(site: Site, kind: AlgebraKind, factory: BaseContract, pools: readonly AlgebraPoolFilling[]): Promise<void> {
  const { positionManager, pluginFactory } = algebraDevnetAddresses(site.signer.address)
  const { abi, deployer, data } = managers[kind]
  const manager = new Contract(positionManager, abi)
  const sorted = pools.map(({ plugin, ...pool }) => ({ plugin, ...inPoolOrder(pool, site.tokens, tickSpacing) }))
  await mintFor(sorted, positionManager, site)
  let current = ZeroAddress
  for (const { token0, token1, plugin, tick, positions } of sorted) {
    const wanted = plugin ? pluginFactory : ZeroAddress
    if (wanted !== current) await site.send(factory, 'setDefaultPluginFactory', wanted, { gasLimit: maxGas })
    current = wanted
    const pool = [token0.address, token1.address, ...deployer]
    const calls = [
      manager.interface.encodeFunctionData('createAndInitializePoolIfNecessary', [...pool, getSqrtRatioAtTick(tick), ...data]),
      ...positions.map(({ tickLower, tickUpper, amount0Raw, amount1Raw }) => {
        const mint = [...pool, tickLower, tickUpper, amount0Raw, amount1Raw, 0n, 0n, site.signer.address, MaxUint256]
        return manager.interface.encodeFunctionData('mint', [mint])
      }),
    ]
    await site.send(manager, 'multicall', calls, { gasLimit: maxGas })
  }
}

/** INIT_DEFAULT_TICK_SPACING of the library Constants, @cryptoalgebra/integral-core@1.2.10; TICK_SPACING in @cryptoalgebra/v1-core@1.0.0. */
const tickSpacing = 60

// QuoterV2 of Integral, Quoter of 1.0: what comes in and goes out of each pool, or of all together.
const quoters = {
  integral: [
    'function quoteExactInput(bytes path, uint256 amountInRequired) returns (uint256[] amounts, uint256[], uint160[], uint32[], uint256, uint16[])',
    'function quoteExactOutput(bytes path, uint256 amountOutRequired) returns (uint256[], uint256[] amounts, uint160[], uint32[], uint256, uint16[])',
  ],
  '1.0': [
    'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amounts, uint16[] fees)',
    'function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256 amounts, uint16[] fees)',
  ],
} as const

/** The exchange's quoter. */
function quoterOf(provider: Provider, kind: AlgebraKind, quoter: string): Quoter {
  const { deployer } = managers[kind]
  const pathOf = (tokens: readonly string[]) => concat(tokens.flatMap((token, index) => (index === 0 ? [token] : [...deployer, token])))
  const contract = new Contract(quoter, quoters[kind], provider)
  const ask = async (method: string, tokens: readonly string[], amountRaw: bigint, blockTag?: number) => {
    const { amounts } = await contract.getFunction(method).staticCall(pathOf(tokens), amountRaw, { blockTag })
    return BigInt(Array.isArray(amounts) ? amounts.at(-1) : amounts)
  }
  return {
    exactIn: (route: readonly QuoterHop[], amountInRaw, blockTag) => ask('quoteExactInput', tokensAlong(route), amountInRaw, blockTag),
    exactOut: (route: readonly QuoterHop[], amountOutRaw, blockTag) =>
      ask('quoteExactOutput', tokensAlong(route).toReversed(), amountOutRaw, blockTag),
  }
}
