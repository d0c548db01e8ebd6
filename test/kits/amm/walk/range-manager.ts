import { Interface, MaxUint256 } from 'ethers'
import type { EvmReceipt } from '../../../../kits/evm/index.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'

const abi = new Interface([
  'function multicall(bytes[] data) payable',
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address)',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)) payable returns (uint256 tokenId, uint128 liquidity, uint256, uint256)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline)) payable returns (uint256, uint256)',
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)) payable returns (uint256, uint256)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
])

const mostRaw128 = 2n ** 128n - 1n

export interface MintedPosition {
  readonly tokenId: bigint
  readonly liquidity: bigint
}

export type RangeManager = ReturnType<typeof rangeManager>

/** Creates, fills and drains pools of concentrated liquidity by the exchange's own position manager. */
export function rangeManager(address: string, owner: string, send: (to: string, data: string) => Promise<EvmReceipt>) {
  const sorted = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a])
  return {
    async open(a: string, b: string, fee: number, tick: number): Promise<void> {
      const data = abi.encodeFunctionData('createAndInitializePoolIfNecessary', [...sorted(a, b), fee, getSqrtRatioAtTick(tick)])
      if ((await send(address, data)).status !== 1) throw new Error(`No pool of ${fee} was made.`)
    },
    /** With one position over all prices, at most this much of both tokens; in one block, so that no read sees a half of it. */
    async openWhole(a: string, b: string, fee: number, tick: number, end: number, maxRaw: bigint): Promise<void> {
      const create = abi.encodeFunctionData('createAndInitializePoolIfNecessary', [...sorted(a, b), fee, getSqrtRatioAtTick(tick)])
      const mint = abi.encodeFunctionData('mint', [[...sorted(a, b), fee, -end, end, maxRaw, maxRaw, 0n, 0n, owner, MaxUint256]])
      const { status } = await send(address, abi.encodeFunctionData('multicall', [[create, mint]]))
      if (status !== 1) throw new Error(`No pool of ${fee} was made.`)
    },
    /** At most this much of both tokens; undefined where it reverted, as where that is worth less than one unit of liquidity. */
    async mint(
      a: string,
      b: string,
      fee: number,
      tickLower: number,
      tickUpper: number,
      maxRaw: bigint,
    ): Promise<MintedPosition | undefined> {
      const mint = [...sorted(a, b), fee, tickLower, tickUpper, maxRaw, maxRaw, 0n, 0n, owner, MaxUint256]
      const { logs } = await send(address, abi.encodeFunctionData('mint', [mint]))
      for (const { address: from, topics, data } of logs) {
        const parsed = from.toLowerCase() === address.toLowerCase() ? abi.parseLog({ topics: [...topics], data }) : null
        if (parsed) return { tokenId: parsed.args.getValue('tokenId'), liquidity: parsed.args.getValue('liquidity') }
      }
      return undefined
    },
    /** Whether the position existed. */
    async withdraw({ tokenId, liquidity }: MintedPosition): Promise<boolean> {
      return (await send(address, abi.encodeFunctionData('decreaseLiquidity', [[tokenId, liquidity, 0n, 0n, MaxUint256]]))).status === 1
    },
    /** Collects all fees. Whether the position existed. */
    async collect({ tokenId }: MintedPosition): Promise<boolean> {
      return (await send(address, abi.encodeFunctionData('collect', [[tokenId, owner, mostRaw128, mostRaw128]]))).status === 1
    },
  }
}
