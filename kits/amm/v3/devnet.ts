// "sluice/uniswap-v3/devnet". Loaded on the devnet only.
import { type BaseContract, getCreateAddress, toQuantity, Contract, MaxUint256, parseUnits, solidityPacked, type Provider } from 'ethers'
import type {
  DevnetPlugin,
  DevnetSite,
  DevnetTokens,
  DevnetToken,
  DevnetTokenSymbol,
  Quoter,
  QuoterHop,
} from '../../../core/contracts/devnet.ts'
import { tokensAlong } from '../../pools/route-parts.ts'
import { getSqrtRatioAtTick } from './math.ts'
import type { RouterKind } from './router.ts'

export interface UniswapV3DevnetOptions {
  /** The exchange's constant-product pools, which are deployed first: routes may pass pools of both kinds. */
  readonly v2: DevnetPlugin
  readonly pools: readonly RangePoolFilling[]
  /** `SwapRouter02` where it is absent. */
  readonly router?: RouterKind
}

/**
 * Puts an exchange of the Uniswap v3 kind on the devnet: factory, position manager, router, filled pools, and the
 * exchange's own quoters.
 */
export function uniswapV3Devnet({ v2, pools, router = 'SwapRouter02' }: UniswapV3DevnetOptions): DevnetPlugin {
  return {
    name: v2.name,
    async deploy(site) {
      await v2.deploy?.(site)
      const contracts = v3DevnetAddresses(site.signer.address)
      const v3Factory = await deployContracts(site, contracts, router)
      await enableFees(site, v3Factory, pools)
      await fillPools(site, contracts, pools)
    },
    quoter: (site) => quoterOf(site.provider, v3DevnetAddresses(site.deployer), v2.quoter?.(site)),
  }
}

type Site = DevnetSite & { readonly tokens: DevnetTokens }

// A round number: addresses stay the same, however many transactions the constant-product pools take.
const firstNonce = 1000
// The first contract that the kit of constant-product pools deploys.
const v2FactoryNonce = 0

type Contracts = ReturnType<typeof v3DevnetAddresses>

/** The addresses of the contracts on the devnet. */
export function v3DevnetAddresses(deployer: string) {
  const at = (nonce: number) => getCreateAddress({ from: deployer, nonce })
  return {
    v2Factory: at(v2FactoryNonce),
    factory: at(firstNonce),
    positionManager: at(firstNonce + 1),
    router: at(firstNonce + 2),
    quoter: at(firstNonce + 3),
    mixedQuoter: at(firstNonce + 4),
  }
}

// Given, not estimated: an estimate would run everything twice, and whoever starts for the first time waits for it.
const maxGas = 15_000_000n

/** In the order of `v3DevnetAddresses`. */
async function deployContracts(site: Site, { v2Factory, factory, positionManager }: Contracts, router: RouterKind): Promise<BaseContract> {
  const weth = site.tokens.WETH.address
  await site.provider.send('anvil_setNonce', [site.signer.address, toQuantity(firstNonce)])
  // Without a descriptor: it draws the pictures of positions, which nobody needs here, and is half of the code.
  const descriptor = '0x0000000000000000000000000000000000000000'
  const deploy = async (name: string, ...args: readonly string[]) =>
    site.deploy(await site.artifact(name, import.meta.url), ...args, { gasLimit: maxGas })

  const v3Factory = await deploy('UniswapV3Factory')
  await deploy('NonfungiblePositionManager', factory, weth, descriptor)
  await deploy(router, ...(router === 'SwapRouter02' ? [v2Factory, factory, positionManager, weth] : [factory, weth]))
  await deploy('QuoterV2', factory, weth)
  if (router === 'SwapRouter02') await deploy('MixedRouteQuoterV1', factory, v2Factory, weth)
  return v3Factory
}

/** A pool and what it holds; prices are human units of the second token for one of the first. */
export interface RangeFilling {
  readonly pair: readonly [DevnetTokenSymbol, DevnetTokenSymbol]
  readonly price: number
  /** Between two prices: at most this amount of the first token, and its worth of the second. */
  readonly positions: readonly (readonly [lowerPrice: number, upperPrice: number, amount: string])[]
}

export interface RangePoolFilling extends RangeFilling {
  /** Hundredths of a basis point. */
  readonly fee: keyof typeof tickSpacings
}

// UniswapV3Factory of @uniswap/v3-core@1.0.1 begins with some tiers, and others are added later: 100 on mainnet
// (https://github.com/Uniswap/v3-core, proposal of November 2021), 2500 at PancakeSwap (@pancakeswap/v3-sdk@3.10.2).
const tickSpacings = { 100: 1, 500: 10, 2500: 50, 3000: 60, 10000: 200 } as const
const initialFees: readonly number[] = [500, 3000, 10000]

// A pool's first swap of a block writes an observation: with a block every second, the oracle reaches back that many seconds.
const observations = 120

const managerAbi = [
  'function multicall(bytes[] data) payable',
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable',
]
const factoryAbi = ['function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)']
const poolAbi = ['function increaseObservationCardinalityNext(uint16 observationCardinalityNext)', 'function fee() view returns (uint24)']
// The ABI has no return value, because some tokens return none.
const tokenAbi = ['function approve(address spender, uint256 value)']

/** Adds the tiers of these pools that the factory does not begin with. */
async function enableFees(site: DevnetSite, factory: BaseContract, pools: readonly RangePoolFilling[]): Promise<void> {
  const fees = new Set(pools.map(({ fee }) => fee).filter((fee) => !initialFees.includes(fee)))
  for (const fee of fees) await site.send(factory, 'enableFeeAmount', fee, tickSpacings[fee])
}

/** One transaction makes a pool with all its positions. */
async function fillPools(site: Site, { factory, positionManager }: Contracts, pools: readonly RangePoolFilling[]): Promise<void> {
  const manager = new Contract(positionManager, managerAbi)
  const sorted = pools.map(({ fee, ...pool }) => ({ fee, ...inPoolOrder(pool, site.tokens, tickSpacings[fee]) }))
  await mintFor(sorted, positionManager, site)
  for (const { token0, token1, fee, tick, positions } of sorted) {
    const [address0, address1] = [token0.address, token1.address]
    const calls = [
      manager.interface.encodeFunctionData('createAndInitializePoolIfNecessary', [address0, address1, fee, getSqrtRatioAtTick(tick)]),
      ...positions.map(({ tickLower, tickUpper, amount0Raw, amount1Raw }) => {
        const mint = [address0, address1, fee, tickLower, tickUpper, amount0Raw, amount1Raw, 0n, 0n, site.signer.address, MaxUint256]
        return manager.interface.encodeFunctionData('mint', [mint])
      }),
    ]
    await site.send(manager, 'multicall', calls, { gasLimit: maxGas })
    const pool = await new Contract(factory, factoryAbi, site.provider).getFunction('getPool').staticCall(address0, address1, fee)
    await site.send(new Contract(pool, poolAbi), 'increaseObservationCardinalityNext', observations, { gasLimit: maxGas })
  }
}

/** The pool in its contract's terms: tokens sorted by address, prices as ticks. */
export function inPoolOrder({ pair: [base, quote], price, positions }: RangeFilling, tokens: DevnetTokens, tickSpacing: number) {
  const isForward = tokens[base].address.toLowerCase() < tokens[quote].address.toLowerCase()
  const [token0, token1] = isForward ? [tokens[base], tokens[quote]] : [tokens[quote], tokens[base]]
  // Floats are enough: the devnet's prices are approximate.
  const tickOf = (price: number, spacing = 1) => {
    const rawPrice = price * 10 ** (tokens[quote].decimals - tokens[base].decimals)
    return Math.round(((isForward ? 1 : -1) * Math.log(rawPrice)) / Math.log(1.0001) / spacing) * spacing
  }
  return {
    token0,
    token1,
    tick: tickOf(price),
    positions: positions.map(([lowerPrice, upperPrice, amount]) => {
      const bounds = [tickOf(lowerPrice, tickSpacing), tickOf(upperPrice, tickSpacing)]
      const baseRaw = parseUnits(amount, tokens[base].decimals)
      const quoteRaw = parseUnits((Number(amount) * price).toFixed(tokens[quote].decimals), tokens[quote].decimals)
      const [amount0Raw, amount1Raw] = isForward ? [baseRaw, quoteRaw] : [quoteRaw, baseRaw]
      return { tickLower: Math.min(...bounds), tickUpper: Math.max(...bounds), amount0Raw, amount1Raw }
    }),
  }
}

/** What the positions need, approved for the manager. */
export async function mintFor(
  pools: readonly ReturnType<typeof inPoolOrder>[],
  positionManager: string,
  site: Pick<DevnetSite, 'signer' | 'send'>,
): Promise<void> {
  for (const token of new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]))) {
    await token.mint(
      site.signer.address,
      pools.map((pool) => needed(pool, token)).reduce((a, b) => a + b, 0n),
    )
    await site.send(new Contract(token.address, tokenAbi), 'approve', positionManager, MaxUint256)
  }
}

function needed({ token0, token1, positions }: ReturnType<typeof inPoolOrder>, token: DevnetToken): bigint {
  return positions
    .map(({ amount0Raw, amount1Raw }) => (token === token0 ? amount0Raw : token === token1 ? amount1Raw : 0n))
    .reduce((a, b) => a + b, 0n)
}

const quoterAbi = [
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[], uint32[], uint256)',
  'function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256 amountIn, uint160[], uint32[], uint256)',
]
// Stands for the fee of a constant-product pool: MixedRouteQuoterV1 of @uniswap/swap-router-contracts@1.3.1, `flagBitmask`.
const constantProduct = 0x800000n

/** The exchange's quoters: for concentrated liquidity, for constant-product pools, and for routes through both. */
function quoterOf(provider: Provider, { quoter, mixedQuoter }: Contracts, v2: Quoter | undefined): Quoter {
  const feeOf = async ({ pool, version }: QuoterHop): Promise<bigint> =>
    version === 'v2' ? constantProduct : new Contract(pool, poolAbi, provider).getFunction('fee').staticCall()
  const quote = async (
    address: string,
    method: string,
    tokens: readonly string[],
    fees: readonly bigint[],
    raw: bigint,
    blockTag: number,
  ) => {
    const types = tokens.flatMap((_, index) => (index === 0 ? ['address'] : ['uint24', 'address']))
    const values = tokens.flatMap((token, index) => (index === 0 ? [token] : [fees[index - 1], token]))
    const path = solidityPacked(types, values)
    const [amountRaw] = await new Contract(address, quoterAbi, provider).getFunction(method).staticCall(path, raw, { blockTag })
    return BigInt(amountRaw)
  }

  return {
    async exactIn(route, amountInRaw, block) {
      if (v2 && all(route, 'v2')) return v2.exactIn(route, amountInRaw, block)
      const fees = await Promise.all(route.map(feeOf))
      return quote(all(route, 'v3') ? quoter : mixedQuoter, 'quoteExactInput', tokensAlong(route), fees, amountInRaw, block)
    },
    async exactOut(route, amountOutRaw, block) {
      if (v2 && all(route, 'v2')) return v2.exactOut(route, amountOutRaw, block)
      if (!all(route, 'v3')) throw new Error('The exchange quotes no exact output of a route through pools of several versions.')
      const fees = await Promise.all(route.map(feeOf))
      return quote(quoter, 'quoteExactOutput', tokensAlong(route).toReversed(), fees.toReversed(), amountOutRaw, block)
    },
  }
}

const all = (route: readonly QuoterHop[], version: string) => route.every((hop) => hop.version === version)
