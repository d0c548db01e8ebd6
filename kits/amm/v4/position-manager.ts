// Uniswap v4's PositionManager: what it is called with, and where the PoolManager keeps the state of its positions.
import { AbiCoder, concat, keccak256, solidityPackedKeccak256, toBeHex } from 'ethers'
import { abiOf, wordsIn } from '../../evm/encoding.ts'
import type { Call, CallResult, EvmReader, Probe } from '../../evm/types.ts'
import { requireAddresses } from '../deployment.ts'
import type { Read } from '../v3/position-manager.ts'
import type { PoolKey, PoolsBetween } from './pools.ts'

/** What positions have to know of an exchange on one network. */
export interface V4Positions {
  /** The label of this protocol version: "v4". */
  readonly version: string
  readonly positionManager: string
  readonly poolManager: string
  /** The contract by which the position manager takes tokens. */
  readonly permit2: string
  readonly wrapped: string
  readonly poolsBetween: PoolsBetween
}

/** PositionManager of @uniswap/v4-periphery@1.0.3: the functions in use. */
export const managerAbi = abiOf([
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
  'function getPoolAndPositionInfo(uint256 tokenId) view returns ((address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) poolKey, uint256 info)',
  'function poolKeys(bytes25 poolId) view returns (address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function balanceOf(address owner) view returns (uint256)',
  'function poolManager() view returns (address)',
  'function permit2() view returns (address)',
  'function WETH9() view returns (address)',
])

/**
 * A reader whose first read also checks the configuration: the position manager has to be of this pool manager, and to take tokens by this
 * Permit2.
 * @throws SluiceError SERVICE_UNINITIALIZED for every read while it is not
 */
export function checkedReader({ positionManager, poolManager, permit2, wrapped }: V4Positions, reader: EvmReader): Read<Call | Probe> {
  const contract = `The configured position manager ${positionManager}`
  const expected = Object.entries({ poolManager, permit2, WETH9: wrapped }).map(([view, address]) => ({
    contract,
    view: `${view}()`,
    address,
  }))
  let isChecked = false
  return async (calls, at) => {
    if (isChecked) return reader.read(calls, at)
    const checks = (['poolManager', 'permit2', 'WETH9'] as const).map((view) => ({
      to: positionManager,
      data: managerAbi.encodeFunctionData(view),
    }))
    const { head, results } = await reader.read([...checks, ...calls], at)
    requireAddresses(expected, results)
    isChecked = true
    return { head, results: results.slice(checks.length) }
  }
}

// The library Actions of @uniswap/v4-periphery@1.0.3, and the parameters as its CalldataDecoder reads them.
const poolKey = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const actions = {
  increase: ['0x00', ['uint256', 'uint256', 'uint128', 'uint128', 'bytes']],
  decrease: ['0x01', ['uint256', 'uint256', 'uint128', 'uint128', 'bytes']],
  mint: ['0x02', [poolKey, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes']],
  burn: ['0x03', ['uint256', 'uint128', 'uint128', 'bytes']],
  settlePair: ['0x0d', ['address', 'address']],
  take: ['0x0e', ['address', 'address', 'uint256']],
  takePair: ['0x11', ['address', 'address', 'address']],
  sweep: ['0x14', ['address', 'address']],
  wrap: ['0x15', ['uint256']],
  unwrap: ['0x16', ['uint256']],
} as const

/** ActionConstants of @uniswap/v4-periphery@1.0.3: the manager as a recipient, all that it has of the coin, and what the actions before left open. */
export const [managerItself, wholeBalance, openDelta] = ['0x0000000000000000000000000000000000000002', 1n << 255n, 0n]

export interface Action {
  readonly code: string
  readonly params: string
}

const coder = AbiCoder.defaultAbiCoder()

export function action(name: keyof typeof actions, ...values: readonly unknown[]): Action {
  const [code, types] = actions[name]
  return { code, params: coder.encode(types, values) }
}

/** One call that carries the actions out in order, and takes or gives nothing beside them. */
export function modifyLiquidities(list: readonly Action[], deadline: number): string {
  const unlockData = coder.encode(['bytes', 'bytes[]'], [concat(list.map(({ code }) => code)), list.map(({ params }) => params)])
  return managerAbi.encodeFunctionData('modifyLiquidities', [unlockData, deadline])
}

const slotsAbi = abiOf(['function extsload(bytes32 startSlot, uint256 nSlots) view returns (bytes32[])'])

// StateLibrary of @uniswap/v4-core@1.0.2: the places of a pool's price, fees and liquidity, of its ticks, and of its positions.
const poolsSlot = toBeHex(6, 32)
const [ticksOffset, positionsOffset] = [4n, 6n]

const hashOf = (key: string | bigint, slot: bigint | string): bigint => BigInt(keccak256(concat([wordOf(key), wordOf(slot)])))
const wordOf = (value: string | bigint): string => (typeof value === 'string' ? value : toBeHex(BigInt.asUintN(256, value), 32))

/** What a position's amounts and fees depend on, to be read by `readState`. */
export function stateCalls(
  { poolManager, positionManager }: V4Positions,
  { id, tickLower, tickUpper, tokenId }: { id: string; tickLower: number; tickUpper: number; tokenId: bigint },
): readonly Call[] {
  const pool = hashOf(id, poolsSlot)
  const tick = (at: number) => hashOf(BigInt(at), pool + ticksOffset)
  const key = solidityPackedKeccak256(['address', 'int24', 'int24', 'bytes32'], [positionManager, tickLower, tickUpper, wordOf(tokenId)])
  const slots = (start: bigint, count: number) => ({
    to: poolManager,
    data: slotsAbi.encodeFunctionData('extsload', [wordOf(start), count]),
  })
  // Of a tick, what was earned outside of it comes after its liquidity.
  return [slots(pool, 4), slots(tick(tickLower) + 1n, 2), slots(tick(tickUpper) + 1n, 2), slots(hashOf(key, pool + positionsOffset), 3)]
}

/** A pool and one of its positions as the pool manager keeps them. */
export interface StoredState {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  /** In range at the price. */
  readonly poolLiquidity: bigint
  /** Of both currencies, per unit of liquidity, times 2^128. */
  readonly global: readonly [bigint, bigint]
  readonly outsideLower: readonly [bigint, bigint]
  readonly outsideUpper: readonly [bigint, bigint]
  readonly liquidity: bigint
  readonly insideLast: readonly [bigint, bigint]
}

/** Undefined where the node did not return all of it. */
export function readState(results: readonly CallResult[]): StoredState | undefined {
  // A list of words: where it begins, how many they are, and then they.
  const [pool, lower, upper, position] = results.map(({ ok, data }) => (ok ? wordsIn(data).slice(2) : []))
  const [slot0, global0, global1, poolLiquidity] = pool ?? []
  const [lower0, lower1, upper0, upper1] = [...(lower ?? []), ...(upper ?? [])]
  const [liquidity, last0, last1] = position ?? []
  if (slot0 === undefined || global0 === undefined || global1 === undefined || poolLiquidity === undefined) return undefined
  if (lower0 === undefined || lower1 === undefined || upper0 === undefined || upper1 === undefined) return undefined
  if (liquidity === undefined || last0 === undefined || last1 === undefined) return undefined
  return {
    // Slot0 of @uniswap/v4-core@1.0.2.
    sqrtPriceX96: BigInt.asUintN(160, slot0),
    tick: Number(BigInt.asIntN(24, slot0 >> 160n)),
    poolLiquidity: BigInt.asUintN(128, poolLiquidity),
    global: [global0, global1],
    outsideLower: [lower0, lower1],
    outsideUpper: [upper0, upper1],
    liquidity: BigInt.asUintN(128, liquidity),
    insideLast: [last0, last1],
  }
}

// The library Hooks of @uniswap/v4-core@1.0.2: before and after adding and removing, and what they take or give then.
const liquidityFlags = (1n << 11n) | (1n << 10n) | (1n << 9n) | (1n << 8n) | (1n << 1n) | 1n

/** Whether a pool's hooks act when liquidity is added or removed: their address says so. */
export const actOnLiquidity = ({ hooks }: Pick<PoolKey, 'hooks'>): boolean => (BigInt(hooks) & liquidityFlags) !== 0n
