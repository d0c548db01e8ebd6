// "sluice/uniswap-v4/devnet". Loaded on the devnet only.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import {
  AbiCoder,
  Contract,
  Interface,
  MaxUint256,
  TypedDataEncoder,
  ZeroAddress,
  concat,
  dataLength,
  getCreateAddress,
  id,
  parseUnits,
  toQuantity,
  type BaseContract,
  type Provider,
} from 'ethers'
import type {
  Artifact,
  DevnetPlugin,
  DevnetSite,
  DevnetToken,
  DevnetTokens,
  DevnetTokenSymbol,
  Quoter,
  QuoterHop,
} from '../../../core/contracts/devnet.ts'
import { getLiquidityForAmounts, getSqrtRatioAtTick } from '../v3/math.ts'
import { v3DevnetAddresses } from '../v3/devnet.ts'

/** The same on every chain: https://github.com/Uniswap/permit2 */
export const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

export interface UniswapV4DevnetOptions {
  /** The exchange's older pools, which are deployed first: the router takes routes through them, too. */
  readonly v3: DevnetPlugin
  /** keccak256 of the creation code of the pairs of v2 and of the pools of v3. */
  readonly initCodeHashes: { readonly v2: string; readonly v3: string }
  readonly pools: readonly KeptPoolFilling[]
}

/** A pool and what it holds; prices are human units of the second token for one of the first. */
export interface KeptPoolFilling {
  /** ETH is the coin itself. */
  readonly pair: readonly [DevnetTokenSymbol | 'ETH', DevnetTokenSymbol]
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  readonly price: number
  /** Between two prices: at most this amount of the first token, and its worth of the second. */
  readonly positions: readonly (readonly [lowerPrice: number, upperPrice: number, amount: string])[]
  /** Hundredths of a basis point for the protocol: of the currency with the lower address, and of the other. */
  readonly protocolFees?: readonly [number, number]
}

/** Puts Uniswap v4 on the devnet: Permit2, pool manager, position manager, Universal Router, filled pools, and the exchange's own quoter. */
export function uniswapV4Devnet({ v3, initCodeHashes, pools }: UniswapV4DevnetOptions): DevnetPlugin {
  return {
    name: v3.name,
    async deploy(site) {
      await v3.deploy?.(site)
      const manager = await deployContracts(site, initCodeHashes)
      await fillPools(site, manager, pools)
    },
    quoter: (site) => quoterOf(site.provider, v4DevnetAddresses(site.deployer), v3.quoter?.(site)),
  }
}

type Site = DevnetSite & { readonly tokens: DevnetTokens }

// A round number: addresses stay the same, however many transactions the older pools take.
const firstNonce = 2000

/** The addresses of the contracts on the devnet. */
export function v4DevnetAddresses(deployer: string) {
  const at = (nonce: number) => getCreateAddress({ from: deployer, nonce })
  return {
    poolManager: at(firstNonce),
    positionManager: at(firstNonce + 1),
    router: at(firstNonce + 2),
    quoter: at(firstNonce + 3),
  }
}

// Given, not estimated: an estimate would run everything twice, and whoever starts for the first time waits for it.
const maxGas = 20_000_000n
const unsubscribeGas = 300_000n

/**
 * The package's script has the code of a deployment at another address on a chain of the same id, and the constructor stored what it hashes with
 * all that is signed for it: that is set to what a deployment at this address stores.
 */
async function putPermit2({ provider, artifact }: Site): Promise<void> {
  const code = await provider.call({ data: (await artifact('Permit2', import.meta.url)).bytecode })
  if (dataLength(code) === 0) throw new Error('The creation code of Permit2 gave no code.')
  await provider.send('anvil_setCode', [permit2Address, code])
  const { chainId } = await provider.getNetwork()
  const stored = await provider.call({ to: permit2Address, data: id('DOMAIN_SEPARATOR()').slice(0, 10) })
  const own = TypedDataEncoder.hashDomain({ name: 'Permit2', chainId, verifyingContract: permit2Address })
  await provider.send('anvil_setCode', [permit2Address, code.replaceAll(stored.slice(2), own.slice(2))])
}

/** In the order of `v4DevnetAddresses`. */
async function deployContracts(site: Site, initCodeHashes: UniswapV4DevnetOptions['initCodeHashes']): Promise<BaseContract> {
  const weth = site.tokens.WETH.address
  const { poolManager, positionManager } = v4DevnetAddresses(site.signer.address)
  const older = v3DevnetAddresses(site.signer.address)
  await putPermit2(site)
  await site.provider.send('anvil_setNonce', [site.signer.address, toQuantity(firstNonce)])
  const options = { gasLimit: maxGas }

  const manager = await site.deploy(await fromPackage('PoolManager'), site.signer.address, options)
  await site.deploy(await fromPackage('PositionManager'), poolManager, permit2Address, unsubscribeGas, ZeroAddress, weth, options)
  const routerParameters = [
    permit2Address,
    weth,
    older.v2Factory,
    older.factory,
    initCodeHashes.v2,
    initCodeHashes.v3,
    poolManager,
    older.positionManager,
    positionManager,
    ZeroAddress,
  ]
  await site.deploy(await fromPackage('UniversalRouter'), routerParameters, options)
  await site.deploy(await site.artifact('V4Quoter', import.meta.url), poolManager, options)
  await site.send(manager, 'setProtocolFeeController', site.signer.address, options)
  return manager
}

/**
 * Uniswap's own bytecode, which is under licences of its own (PoolManager: BUSL-1.1, for trying only), so it is read from the package where the
 * devnet is deployed, and stands nowhere else.
 */
async function fromPackage(contractName: 'PoolManager' | 'PositionManager' | 'UniversalRouter'): Promise<Artifact> {
  const require = createRequire(import.meta.url)
  const read = (file: string) => readFile(require.resolve(`@uniswap/universal-router/${file}`), 'utf8')
  if (contractName === 'UniversalRouter') {
    const { abi, bytecode }: Artifact = JSON.parse(await read('artifacts/contracts/UniversalRouter.sol/UniversalRouter.json'))
    return { contractName, abi, bytecode, license: 'GPL-2.0-or-later' }
  }
  const [bytecode] = (await read(`typechain/factories/${contractName}__factory.ts`)).match(/0x[0-9a-f]{10000,}/) ?? []
  if (bytecode === undefined) throw new Error(`@uniswap/universal-router has no bytecode of ${contractName}.`)
  return { contractName, abi: constructors[contractName], bytecode, license: contractName === 'PoolManager' ? 'BUSL-1.1' : 'MIT' }
}

const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const managerAbi = [
  'constructor(address initialOwner)',
  'function setProtocolFeeController(address controller)',
  `function setProtocolFee(${keyTuple} key, uint24 newProtocolFee)`,
]
const positionManagerAbi = [
  'constructor(address poolManager, address permit2, uint256 unsubscribeGasLimit, address tokenDescriptor, address weth9)',
  'function multicall(bytes[] data) payable returns (bytes[])',
  `function initializePool(${keyTuple} key, uint160 sqrtPriceX96) payable returns (int24)`,
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
  `function poolKeys(bytes25 id) view returns (${keyTuple})`,
]
const constructors = { PoolManager: managerAbi, PositionManager: positionManagerAbi }
// The ABI has no return value, because some tokens return none.
const tokenAbi = ['function approve(address spender, uint256 value)']
const permit2Abi = ['function approve(address token, address spender, uint160 amount, uint48 expiration)']

// The library Actions of @uniswap/v4-periphery@1.0.3.
const actions = { mintPosition: '0x02', settlePair: '0x0d', sweep: '0x14' } as const
const coder = AbiCoder.defaultAbiCoder()

/** One transaction makes a pool with all its positions. */
async function fillPools(site: Site, manager: BaseContract, pools: readonly KeptPoolFilling[]): Promise<void> {
  const { positionManager } = v4DevnetAddresses(site.signer.address)
  const positions = new Contract(positionManager, positionManagerAbi)
  const permit2 = new Contract(permit2Address, permit2Abi)
  const sorted = pools.map((pool) => inPoolOrder(pool, site.tokens))
  const used = new Set(sorted.flatMap(({ currencies }) => currencies.flatMap(({ token }) => token ?? [])))
  for (const token of used) {
    const needed = sorted.flatMap(({ currencies, amounts }) =>
      amounts.map(({ amount0Raw, amount1Raw }) =>
        currencies[0].token === token ? amount0Raw : currencies[1].token === token ? amount1Raw : 0n,
      ),
    )
    await token.mint(
      site.signer.address,
      needed.reduce((a, b) => a + b, 0n),
    )
    await site.send(new Contract(token.address, tokenAbi), 'approve', permit2Address, MaxUint256)
    await site.send(permit2, 'approve', token.address, positionManager, 2n ** 160n - 1n, 2n ** 48n - 1n)
  }
  for (const { currencies, fee, tickSpacing, tick, amounts, protocolFees } of sorted) {
    const [{ address: currency0 }, { address: currency1 }] = currencies
    const key = [currency0, currency1, fee, tickSpacing, ZeroAddress]
    const sqrtPriceX96 = getSqrtRatioAtTick(tick)
    const mints = amounts.map(({ tickLower, tickUpper, amount0Raw, amount1Raw }) => {
      const liquidity = getLiquidityForAmounts(
        sqrtPriceX96,
        getSqrtRatioAtTick(tickLower),
        getSqrtRatioAtTick(tickUpper),
        amount0Raw,
        amount1Raw,
      )
      return coder.encode(
        [keyTuple, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes'],
        [key, tickLower, tickUpper, liquidity, 2n ** 127n, 2n ** 127n, site.signer.address, '0x'],
      )
    })
    const isOfCoin = currency0 === ZeroAddress
    const settle = coder.encode(['address', 'address'], [currency0, currency1])
    const sweep = coder.encode(['address', 'address'], [ZeroAddress, site.signer.address])
    const names = concat([...mints.map(() => actions.mintPosition), actions.settlePair, ...(isOfCoin ? [actions.sweep] : [])])
    const unlockData = coder.encode(['bytes', 'bytes[]'], [names, [...mints, settle, ...(isOfCoin ? [sweep] : [])]])
    const calls = [
      positions.interface.encodeFunctionData('initializePool', [key, sqrtPriceX96]),
      positions.interface.encodeFunctionData('modifyLiquidities', [unlockData, MaxUint256]),
    ]
    const value = isOfCoin ? amounts.map(({ amount0Raw }) => amount0Raw + 1n).reduce((a, b) => a + b, 0n) : 0n
    await site.send(positions, 'multicall', calls, { gasLimit: maxGas, value })
    if (protocolFees) {
      const [of0, of1] = protocolFees
      const options = { gasLimit: maxGas }
      await site.send(new Contract(await manager.getAddress(), managerAbi), 'setProtocolFee', key, of0 + (of1 << 12), options)
    }
  }
}

/** The pool in its contract's terms: currencies sorted by address, prices as ticks. */
function inPoolOrder({ pair: [base, quote], fee, tickSpacing, price, positions, protocolFees }: KeptPoolFilling, tokens: DevnetTokens) {
  const currencyOf = (symbol: KeptPoolFilling['pair'][number]): { address: string; decimals: number; token?: DevnetToken } =>
    symbol === 'ETH' ? { address: ZeroAddress, decimals: 18 } : { ...tokens[symbol], token: tokens[symbol] }
  const [first, second] = [currencyOf(base), currencyOf(quote)]
  const isForward = first.address.toLowerCase() < second.address.toLowerCase()
  // Floats are enough: the devnet's prices are approximate.
  const tickOf = (price: number, spacing = 1) => {
    const rawPrice = price * 10 ** (second.decimals - first.decimals)
    return Math.round(((isForward ? 1 : -1) * Math.log(rawPrice)) / Math.log(1.0001) / spacing) * spacing
  }
  return {
    currencies: isForward ? ([first, second] as const) : ([second, first] as const),
    fee,
    tickSpacing,
    protocolFees,
    tick: tickOf(price),
    amounts: positions.map(([lowerPrice, upperPrice, amount]) => {
      const bounds = [tickOf(lowerPrice, tickSpacing), tickOf(upperPrice, tickSpacing)]
      const baseRaw = parseUnits(amount, first.decimals)
      const quoteRaw = parseUnits((Number(amount) * price).toFixed(second.decimals), second.decimals)
      const [amount0Raw, amount1Raw] = isForward ? [baseRaw, quoteRaw] : [quoteRaw, baseRaw]
      return { tickLower: Math.min(...bounds), tickUpper: Math.max(...bounds), amount0Raw, amount1Raw }
    }),
  }
}

const pathTuple = '(address intermediateCurrency, uint24 fee, int24 tickSpacing, address hooks, bytes hookData)'
const quoterAbi = new Interface([
  `function quoteExactInput((address exactCurrency, ${pathTuple}[] path, uint128 exactAmount) params) returns (uint256 amount, uint256 gasEstimate)`,
  `function quoteExactOutput((address exactCurrency, ${pathTuple}[] path, uint128 exactAmount) params) returns (uint256 amount, uint256 gasEstimate)`,
])

/** The exchange's quoters, one after the other where a route passes pools of v4 and older ones, or changes the form of the coin. */
function quoterOf(
  provider: Provider,
  { quoter, positionManager }: ReturnType<typeof v4DevnetAddresses>,
  older: Quoter | undefined,
): Quoter {
  const positions = new Contract(positionManager, positionManagerAbi, provider)
  const keptHop = async ({ pool, tokenIn, tokenOut }: QuoterHop) => {
    const key = await positions.getFunction('poolKeys').staticCall(pool.slice(0, 2 + 2 * 25))
    const currencyOf = (token: string): string => ([key.currency0, key.currency1].includes(token) ? token : ZeroAddress)
    return { key, currencyIn: currencyOf(tokenIn), currencyOut: currencyOf(tokenOut) }
  }
  const quote = async (hop: QuoterHop, method: 'quoteExactInput' | 'quoteExactOutput', amountRaw: bigint, blockTag: number) => {
    const { key, currencyIn, currencyOut } = await keptHop(hop)
    const [exact, other] = method === 'quoteExactInput' ? [currencyIn, currencyOut] : [currencyOut, currencyIn]
    const path = [[other, key.fee, key.tickSpacing, key.hooks, '0x']]
    const contract = new Contract(quoter, quoterAbi, provider)
    const [amount] = await contract.getFunction(method).staticCall([exact, path, amountRaw], { blockTag })
    return BigInt(amount)
  }
  const isKept = ({ version }: QuoterHop) => version === 'v4'
  return {
    async exactIn(route, amountInRaw, block) {
      if (older && !route.some(isKept)) return older.exactIn(route, amountInRaw, block)
      let amountRaw = amountInRaw
      for (const hop of route) {
        if (isKept(hop)) amountRaw = await quote(hop, 'quoteExactInput', amountRaw, block)
        else if (older) amountRaw = await older.exactIn([hop], amountRaw, block)
      }
      return amountRaw
    },
    async exactOut(route, amountOutRaw, block) {
      if (older && !route.some(isKept)) return older.exactOut(route, amountOutRaw, block)
      if (!route.every(isKept)) throw new Error('The exchange quotes no exact output of a route through pools of several versions.')
      let amountRaw = amountOutRaw
      for (const hop of route.toReversed()) amountRaw = await quote(hop, 'quoteExactOutput', amountRaw, block)
      return amountRaw
    },
  }
}
