import { Interface, MaxUint256, getCreateAddress, toQuantity } from 'ethers'
import { readArtifact } from '../../../../../core/devnet/build-state.ts'
import { getAmountsForLiquidity, getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import { startStillChain, wallet } from '../../../evm/test-chain.ts'

const kit = new URL('../../../../../kits/amm/v3/devnet.ts', import.meta.url).href
const ethereum = new URL('../../../../../plugins/ethereum/devnet.ts', import.meta.url).href
const quoterAbi = new Interface([
  'function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee, uint160 sqrtPriceLimitX96)) returns (uint256 amount, uint160 sqrtPriceX96After, uint32 ticks, uint256 gas)',
  'function quoteExactOutputSingle((address tokenIn, address tokenOut, uint256 amount, uint24 fee, uint160 sqrtPriceLimitX96)) returns (uint256 amount, uint160 sqrtPriceX96After, uint32 ticks, uint256 gas)',
])
const routerAbi = new Interface([
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96)) payable returns (uint256)',
])
const managerAbi = new Interface([
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address)',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)) payable returns (uint256 tokenId, uint128 liquidity, uint256, uint256)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline)) payable returns (uint256, uint256)',
])
const factoryAbi = new Interface([
  'function createPool(address, address, uint24) returns (address)',
  'function enableFeeAmount(uint24, int24)',
])
const tokenAbi = new Interface(['function mint(address, uint256)', 'function approve(address, uint256)'])
const enough = 2n ** 200n
// Enough to cross any pool from end to end.
const maxGas = 200_000_000n

export interface SwapQuery {
  readonly zeroForOne: boolean
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

/** The answer of QuoterV2. */
export interface QuoterAnswer {
  readonly amountRaw: bigint
  readonly sqrtPriceX96: bigint
  readonly gasUnits: bigint
}

export type V3Exchange = Awaited<ReturnType<typeof openV3Exchange>>

/**
 * Uniswap v3 itself with two tokens, on a chain that mines one block for each transaction and no other.
 * @param gasLimit of a block, and of a call that says none
 */
export async function openV3Exchange({ gasLimit = maxGas } = {}) {
  const { chain, rpc, stop, asked } = await startStillChain({ flags: ['--gas-limit', String(gasLimit)] })
  await chain.start?.(new AbortController().signal)
  let nonce = 0

  /** The amount that it took; undefined where it reverted. */
  const attempt = async (to: string | undefined, data: string): Promise<bigint | undefined> => {
    const hash = await rpc('eth_sendTransaction', { from: wallet, to, data, gas: toQuantity(gasLimit) })
    nonce += 1
    await rpc('evm_mine')
    const receipt: unknown = await rpc('eth_getTransactionReceipt', hash)
    if (!isReceipt(receipt)) throw new Error(`No receipt of ${data.slice(0, 10)}.`)
    return receipt.status === '0x1' ? BigInt(receipt.gasUsed) : undefined
  }
  const send = async (to: string | undefined, data: string): Promise<bigint> => {
    const gasUnits = await attempt(to, data)
    if (gasUnits === undefined) throw new Error(`A transaction failed: ${data.slice(0, 10)}.`)
    return gasUnits
  }
  const deploy = async (name: string, from: string, ...args: readonly unknown[]): Promise<string> => {
    const { abi, bytecode } = await readArtifact(name, from)
    const address = getCreateAddress({ from: wallet, nonce })
    await send(undefined, bytecode + new Interface(abi).encodeDeploy(args).slice(2))
    return address
  }

  const nobody = '0x0000000000000000000000000000000000000001'
  const factory = await deploy('UniswapV3Factory', kit)
  const manager = await deploy('NonfungiblePositionManager', kit, factory, nobody, nobody)
  const router = await deploy('SwapRouter02', kit, nobody, factory, manager, chain.reader.wrapped.address)
  const quoter = await deploy('QuoterV2', kit, factory, nobody)
  await send(factory, factoryAbi.encodeFunctionData('enableFeeAmount', [100, 1]))
  const made = [await deploy('TestToken', ethereum, 'One', 'ONE', 18), await deploy('TestToken', ethereum, 'Other', 'OTHER', 18)]
  const [token0 = '', token1 = ''] = made.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  for (const token of made) {
    await send(token, tokenAbi.encodeFunctionData('mint', [wallet, enough]))
    for (const spender of [manager, router]) await send(token, tokenAbi.encodeFunctionData('approve', [spender, MaxUint256]))
  }

  const call = async (to: string, abi: Interface, name: string, args: readonly unknown[]) => {
    const answer = await rpc('eth_call', { from: wallet, to, data: abi.encodeFunctionData(name, args), gas: toQuantity(maxGas) }, 'latest')
    return abi.decodeFunctionResult(name, String(answer))
  }
  const direction = (zeroForOne: boolean) => (zeroForOne ? [token0, token1] : [token1, token0])

  return {
    chain,
    reader: chain.reader,
    asked,
    rpc,
    factory,
    manager,
    router,
    tokens: [token0, token1] as const,
    allow: (fee: number, tickSpacing: number) => send(factory, factoryAbi.encodeFunctionData('enableFeeAmount', [fee, tickSpacing])),
    /** Creates the pool without a price. */
    create: (fee: number) => send(factory, factoryAbi.encodeFunctionData('createPool', [token0, token1, fee])),
    open: (fee: number, tick: number) =>
      send(manager, managerAbi.encodeFunctionData('createAndInitializePoolIfNecessary', [token0, token1, fee, getSqrtRatioAtTick(tick)])),
    /** At most this much of both tokens. */
    async provide(fee: number, tickLower: number, tickUpper: number, maxRaw: bigint): Promise<{ tokenId: bigint; liquidity: bigint }> {
      const mint = [[token0, token1, fee, tickLower, tickUpper, maxRaw, maxRaw, 0n, 0n, wallet, MaxUint256]]
      const [tokenId, liquidity] = await call(manager, managerAbi, 'mint', mint)
      await send(manager, managerAbi.encodeFunctionData('mint', mint))
      return { tokenId, liquidity }
    },
    /** About this much liquidity at a price. Does nothing where that is worth less than one unit. */
    provideLiquidity(fee: number, sqrtPriceX96: bigint, tickLower: number, tickUpper: number, liquidity: bigint) {
      const bounds = [getSqrtRatioAtTick(tickLower), getSqrtRatioAtTick(tickUpper)] as const
      const { amount0, amount1 } = getAmountsForLiquidity(sqrtPriceX96, ...bounds, liquidity, true)
      const mint = [[token0, token1, fee, tickLower, tickUpper, amount0, amount1, 0n, 0n, wallet, MaxUint256]]
      return attempt(manager, managerAbi.encodeFunctionData('mint', mint))
    },
    withdraw: (tokenId: bigint, liquidity: bigint) =>
      send(manager, managerAbi.encodeFunctionData('decreaseLiquidity', [[tokenId, liquidity, 0n, 0n, MaxUint256]])),
    /** Swaps an exact input up to the price limit. Returns what the pool took; undefined where it reverted, as where nothing lies in between. */
    trade(fee: number, zeroForOne: boolean, amountRaw: bigint, limitX96 = 0n) {
      const [tokenIn, tokenOut] = direction(zeroForOne)
      return attempt(router, routerAbi.encodeFunctionData('exactInputSingle', [[tokenIn, tokenOut, fee, wallet, amountRaw, 0n, limitX96]]))
    },
    /** Undefined where the quoter reverts. */
    async quote(fee: number, { zeroForOne, exact, amountRaw }: SwapQuery): Promise<QuoterAnswer | undefined> {
      const name = exact === 'in' ? 'quoteExactInputSingle' : 'quoteExactOutputSingle'
      try {
        const answer = await call(quoter, quoterAbi, name, [[...direction(zeroForOne), amountRaw, fee, 0n]])
        return {
          amountRaw: answer.getValue('amount'),
          sqrtPriceX96: answer.getValue('sqrtPriceX96After'),
          gasUnits: answer.getValue('gas'),
        }
      } catch (error) {
        if (error instanceof Error && /execution reverted/.test(error.message)) return undefined
        throw error
      }
    },
    stop,
  }
}

function isReceipt(value: unknown): value is { status: string; gasUsed: string } {
  return typeof value === 'object' && value !== null && 'status' in value && 'gasUsed' in value && typeof value.gasUsed === 'string'
}
