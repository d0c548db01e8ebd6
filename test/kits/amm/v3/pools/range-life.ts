import { Interface, MaxUint256, toQuantity } from 'ethers'
import type { FoundLog } from '../../../../../kits/evm/index.ts'
import { v3Events } from '../../../../../kits/amm/v3/index.ts'
import { getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import borrower from '../../../../fixtures/uniswap-v3/FlashBorrower.json' with { type: 'json' }
import { wallet } from '../../../evm/test-chain.ts'
import type { randomBits } from '../../../../../testkit/random-bits.ts'
import type { V3Exchange } from './v3-exchange.ts'

const abi = new Interface([
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96)) payable returns (uint256)',
  'function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96)) payable returns (uint256)',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)) payable returns (uint256, uint128, uint256, uint256)',
  'function increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, uint256 deadline)) payable returns (uint128, uint256, uint256)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline)) payable returns (uint256, uint256)',
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)) payable returns (uint256, uint256)',
  'function positions(uint256 tokenId) view returns (uint96, address, address, address, uint24, int24, int24, uint128 liquidity, uint256, uint256, uint128, uint128)',
  'function borrow(address pool, uint256 amount0, uint256 amount1)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
])
const poolAbi = new Interface(v3Events)
const tokenAbi = new Interface(['function mint(address to, uint256 amount)'])
const increased = abi.getEvent('IncreaseLiquidity')?.topicHash ?? ''
const plenty = 2n ** 200n
const maxGas = 20_000_000

/** A pool of the exchange, by its fee. */
export interface LivelyPool {
  readonly address: string
  readonly fee: number
  readonly tickSpacing: number
}

/** Random changes of pools, several in one block: swaps to any price, positions opened, grown, reduced and closed, fees collected, flash loans. */
export async function rangeLife(
  { rpc, manager, router, tokens }: V3Exchange,
  pools: readonly LivelyPool[],
  { below, bits }: ReturnType<typeof randomBits>,
) {
  const [token0, token1] = tokens
  const positions: bigint[] = []
  const happened: Record<string, number> = {}

  const send = async (to: string | undefined, data: string): Promise<string> =>
    String(await rpc('eth_sendTransaction', { from: wallet, to, data, gas: toQuantity(maxGas) }))
  const deployed = await send(undefined, borrower.bytecode)
  for (const token of tokens) await send(token, tokenAbi.encodeFunctionData('mint', [wallet, plenty]))
  await rpc('evm_mine')
  const receipt: unknown = await rpc('eth_getTransactionReceipt', deployed)
  const purse = typeof receipt === 'object' && receipt !== null && 'contractAddress' in receipt ? String(receipt.contractAddress) : ''
  for (const token of tokens) await send(token, tokenAbi.encodeFunctionData('mint', [purse, plenty]))
  await rpc('evm_mine')

  /** At or near a price of a usable tick. */
  const tickNear = ({ tickSpacing }: LivelyPool) => (below(121) - 60) * tickSpacing
  const aPosition = () => positions[below(positions.length)]
  const deeds: Readonly<Record<string, (pool: LivelyPool) => Promise<unknown>>> = {
    swapIn: ({ fee }) => {
      const [tokenIn, tokenOut] = below(2) === 0 ? tokens : tokens.toReversed()
      return send(router, abi.encodeFunctionData('exactInputSingle', [[tokenIn, tokenOut, fee, wallet, 1n + bits(70), 0n, 0n]]))
    },
    swapOut: ({ fee }) => {
      const [tokenIn, tokenOut] = below(2) === 0 ? tokens : tokens.toReversed()
      return send(router, abi.encodeFunctionData('exactOutputSingle', [[tokenIn, tokenOut, fee, wallet, 1n + bits(68), plenty, 0n]]))
    },
    // From above, the pool is then at the tick below, with the same price. One of the directions is refused.
    swapToTick: async (pool) => {
      const limit = getSqrtRatioAtTick(tickNear(pool))
      for (const [tokenIn, tokenOut] of [tokens, tokens.toReversed()])
        await send(router, abi.encodeFunctionData('exactInputSingle', [[tokenIn, tokenOut, pool.fee, wallet, 2n ** 90n, 0n, limit]]))
    },
    mint: (pool) => {
      const lower = tickNear(pool)
      const upper = lower + (1 + below(below(4) === 0 ? 600 : 30)) * pool.tickSpacing
      const most = 1n + bits(70)
      const mint = [token0, token1, pool.fee, lower, upper, most, most, 0n, 0n, wallet, MaxUint256]
      return send(manager, abi.encodeFunctionData('mint', [mint]))
    },
    increase: async () => {
      const most = 1n + bits(70)
      await send(manager, abi.encodeFunctionData('increaseLiquidity', [[aPosition() ?? 0n, most, most, 0n, 0n, MaxUint256]]))
    },
    withdraw: async () => {
      const tokenId = aPosition() ?? 0n
      const liquidity = await liquidityOf(tokenId)
      const taken = below(3) === 0 ? liquidity / 2n : liquidity
      await send(manager, abi.encodeFunctionData('decreaseLiquidity', [[tokenId, taken, 0n, 0n, MaxUint256]]))
    },
    // A burn of 0 first counts the fees.
    collect: () => send(manager, abi.encodeFunctionData('collect', [[aPosition() ?? 0n, wallet, 2n ** 128n - 1n, 2n ** 128n - 1n]])),
    flash: ({ address }) => send(purse, abi.encodeFunctionData('borrow', [address, bits(50), bits(50)])),
  }

  const liquidityOf = async (tokenId: bigint): Promise<bigint> => {
    try {
      const answer = await rpc('eth_call', { to: manager, data: abi.encodeFunctionData('positions', [tokenId]) }, 'latest')
      return abi.decodeFunctionResult('positions', String(answer)).getValue('liquidity')
    } catch {
      return 0n
    }
  }

  const logsOfLatest = async (filter: object): Promise<readonly FoundLog[]> => {
    const latest = await rpc('eth_blockNumber')
    const logs = await rpc('eth_getLogs', { fromBlock: latest, toBlock: latest, ...filter })
    return Array.isArray(logs) ? logs : []
  }

  return {
    /** The pools' events, by their names. */
    happened,
    /** The followed logs of the block. */
    async block(deedsInIt: number, follow: readonly string[]): Promise<readonly FoundLog[]> {
      for (let count = 0; count < deedsInIt; count += 1) {
        const pool = pools[below(pools.length)]
        const names = Object.keys(deeds)
        if (pool) await deeds[names[below(names.length)] ?? '']?.(pool)
      }
      await rpc('evm_mine')
      for (const { topics } of await logsOfLatest({ address: manager, topics: [increased] })) {
        const tokenId = BigInt(topics[1] ?? '0x0')
        if (!positions.includes(tokenId)) positions.push(tokenId)
      }
      const logs = await logsOfLatest({ address: pools.map(({ address }) => address) })
      for (const { topics } of logs) {
        const name = poolAbi.getEvent(topics[0] ?? '')?.name ?? 'unknown'
        happened[name] = (happened[name] ?? 0) + 1
      }
      return logs.filter(({ topics }) => follow.includes(topics[0] ?? ''))
    },
  }
}
