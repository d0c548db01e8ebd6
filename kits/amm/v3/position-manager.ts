import { Interface } from 'ethers'
import { SluiceError, type At, type Head } from '../../../core/contracts/index.ts'
import type { Call, CallResult, EvmReader, Probe } from '../../evm/types.ts'
import type { PoolOrigin } from './pools.ts'

/** NonfungiblePositionManager of @uniswap/v3-periphery@1.4.4: what is used of it. */
export const managerAbi = new Interface([
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable returns (uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable returns (uint256 amount0, uint256 amount1)',
  'function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params) payable returns (uint256 amount0, uint256 amount1)',
  'function burn(uint256 tokenId) payable',
  'function multicall(bytes[] data) payable returns (bytes[] results)',
  'function refundETH() payable',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function sweepToken(address token, uint256 amountMinimum, address recipient) payable',
  'function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function balanceOf(address owner) view returns (uint256)',
  'function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)',
  'function factory() view returns (address)',
  'function WETH9() view returns (address)',
])

/** UniswapV3Pool of @uniswap/v3-core@1.0.1: views that its forks have with the same beginning of what they return. */
export const poolAbi = new Interface([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function feeGrowthGlobal0X128() view returns (uint256)',
  'function feeGrowthGlobal1X128() view returns (uint256)',
  'function ticks(int24 tick) view returns (uint128 liquidityGross, int128 liquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128)',
  'function positions(bytes32 key) view returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function observe(uint32[] secondsAgos) view returns (int56[] tickCumulatives, uint160[] secondsPerLiquidityCumulativeX128s)',
  'function observations(uint256 index) view returns (uint32 blockTimestamp, int56 tickCumulative, uint160 secondsPerLiquidityCumulativeX128, bool initialized)',
])

/** What positions need to know of an exchange on one network. Addresses. */
export interface RangeExchange extends PoolOrigin {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
  /** What their names stand for. */
  readonly feeTiers: Readonly<Record<string, number>>
  readonly positionManager: string
  /** The network's token list. */
  readonly listed: ReadonlySet<string>
}

/** How the kit reads: all calls at one block, in one round trip. */
export type Read<Asked = Call> = (calls: readonly Asked[], at: At) => Promise<{ head: Head; results: readonly CallResult[] }>

/**
 * Asks with the first thing that is read whether the configured contract manages positions in the pools that are meant,
 * and wraps the coin in the token that is meant. Until it does, nothing that was read is given away:
 * SluiceError SERVICE_UNINITIALIZED.
 */
export function checkedRead({ positionManager, factory }: RangeExchange, reader: EvmReader): Read<Call | Probe> {
  const wrapped = reader.wrapped.address
  const checks = (['factory', 'WETH9'] as const).map((view) => ({ to: positionManager, data: managerAbi.encodeFunctionData(view) }))
  let checked = false
  return async (calls, at) => {
    if (checked) return reader.read(calls, at)
    const { head, results } = await reader.read([...checks, ...calls], at)
    const [ofFactory, ofCoin] = results.map((result) => wordsOf(result, 1)?.[0])
    if (ofFactory !== BigInt(factory) || ofCoin !== BigInt(wrapped)) throw notTheManager(positionManager, factory, wrapped)
    checked = true
    return { head, results: results.slice(checks.length) }
  }
}

function notTheManager(positionManager: string, factory: string, wrapped: string): SluiceError {
  return new SluiceError(
    'SERVICE_UNINITIALIZED',
    `${positionManager} does not manage positions in pools of ${factory} with ${wrapped} as the wrapped coin: set positionManagerAddress in the connector's contractAddresses to the contract that does.`,
  )
}

/** About a fifth of the gas that nodes grant one call. */
const mostCallsOfBatch = 1000
const attempts = 5

/**
 * Any number of calls at one block, equal ones asked once. Where one batch does not hold them, several are sent at the
 * same time until they are of the same block.
 */
export async function readAtOnce(read: Read, calls: readonly Call[], at: At): Promise<{ head: Head; results: readonly CallResult[] }> {
  const indexes = new Map<string, number>()
  const different: Call[] = []
  const places = calls.map((call) => {
    const name = call.to + call.data
    const known = indexes.get(name)
    if (known !== undefined) return known
    indexes.set(name, different.length)
    return different.push(call) - 1
  })
  const batches: Call[][] = []
  for (let start = 0; start < different.length; start += mostCallsOfBatch) batches.push(different.slice(start, start + mostCallsOfBatch))

  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const answers = await Promise.all(batches.map((batch) => read(batch, at)))
    const [first] = answers
    if (first && answers.every(({ head }) => head.number === first.head.number)) {
      const results = answers.flatMap((answer) => answer.results)
      return { head: first.head, results: places.map((place) => results[place] ?? missing) }
    }
  }
  throw new SluiceError('NETWORK', 'Blocks came faster than all of it could be read at one of them: ask again.')
}

const missing: CallResult = { ok: false, data: '0x' }

const wordDigits = 64

/**
 * The words of what a view returned, of which there must be so many; forks that return more of them read alike.
 * Undefined where it failed or there is nothing that returns as much.
 */
export function wordsOf(result: CallResult | undefined, least: number): readonly bigint[] | undefined {
  if (!result?.ok || result.data.length < 2 + least * wordDigits) return undefined
  return Array.from({ length: Math.floor((result.data.length - 2) / wordDigits) }, (_, index) =>
    BigInt(`0x${result.data.slice(2 + index * wordDigits, 2 + (index + 1) * wordDigits)}`),
  )
}

/** An `int24` and the like: a word of 256 bits in two's complement. */
export function signed(word: bigint): bigint {
  return BigInt.asIntN(256, word)
}
