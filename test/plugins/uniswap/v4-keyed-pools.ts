// Pools of Uniswap v4 that only a configuration knows, some with hooks, made on the devnet.
import { AbiCoder, Interface, MaxUint256, ZeroAddress, concat, getAddress, type JsonRpcProvider, type Wallet } from 'ethers'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { v4DevnetAddresses } from '../../../kits/amm/v4/devnet.ts'
import type { PoolKey } from '../../../kits/amm/v4/pools.ts'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import testHooks from '../../fixtures/uniswap-v4/TestHooks.json' with { type: 'json' }
import { tokens } from '../../kits/amm/devnet-fixture.ts'

const { WBTC, DAI } = tokens
export const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const permit2 = defaults.contractAddresses.local.permit2Address
const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
export const abi = new Interface([
  'function approve(address spender, uint256 value)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  `function initializePool(${keyTuple} key, uint160 sqrtPriceX96) payable returns (int24)`,
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
  'function multicall(bytes[] data) payable returns (bytes[])',
  'function set(uint8 mode, uint24 fee)',
  `function updateDynamicLPFee(${keyTuple} key, uint24 newDynamicLPFee)`,
])
const coder = AbiCoder.defaultAbiCoder()
const [currency0 = '', currency1 = ''] = [WBTC.address, DAI.address].toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1))
const dynamicFee = 0x80_0000
const key = (fee: number, tickSpacing: number, hooks: string): PoolKey => ({
  currency0,
  currency1,
  fee,
  tickSpacing,
  hooks: getAddress(hooks),
})
/** The last 14 bits of hooks say what they do. */
const hooksWith = (flags: number) => `0x${(2n ** 100n + BigInt(flags)).toString(16).padStart(40, '0')}`
const [afterDonate, beforeSwap] = [1 << 4, 1 << 7]
export const odd = key(777, 13, ZeroAddress)
export const hooked = key(500, 7, hooksWith(afterDonate))
export const dynamic = key(dynamicFee, 60, hooksWith(0))
/** Its hooks act before swaps, and may give the fee. */
export const acting = key(dynamicFee, 10, hooksWith(beforeSwap))
export const all = [odd, hooked, dynamic, acting]
/** What `acting` does, by the number that `set` takes. */
export const modes = { nothing: 0, refuses: 1, spendsAllGas: 2, setsFee: 3, byBlock: 4, byAmount: 5, lies: 6 }

/** Makes them all, at 60,000 DAI a WBTC, with liquidity of the trader. */
export async function makeKeyedPools(provider: JsonRpcProvider, trader: Wallet): Promise<void> {
  const { positionManager } = v4DevnetAddresses(deployerAddress('uniswap'))
  const send = async (to: string, data: string) => void (await (await trader.sendTransaction({ to, data, gasLimit: 5_000_000n })).wait())
  for (const { address } of [WBTC, DAI]) {
    await send(address, abi.encodeFunctionData('approve(address,uint256)', [permit2, MaxUint256]))
    for (const spender of [positionManager, defaults.contractAddresses.local.v4RouterAddress])
      await send(
        permit2,
        abi.encodeFunctionData('approve(address,address,uint160,uint48)', [address, spender, 2n ** 160n - 1n, 2n ** 48n - 1n]),
      )
  }
  await provider.send('anvil_setCode', [acting.hooks, await provider.call({ data: testHooks.bytecode })])
  const tick = Math.round((Math.log(60_000 * 10 ** 10) / Math.log(1.0001)) * (currency0 === WBTC.address ? 1 : -1))
  for (const each of all) {
    const tuple = [each.currency0, each.currency1, each.fee, each.tickSpacing, each.hooks]
    const middle = Math.floor(tick / each.tickSpacing) * each.tickSpacing
    const span = 400 * each.tickSpacing
    const minted = coder.encode(
      [keyTuple, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes'],
      [tuple, middle - span, middle + span, 10n ** 15n, 2n ** 127n, 2n ** 127n, trader.address, '0x'],
    )
    const pair = coder.encode(['address', 'address'], [each.currency0, each.currency1])
    const unlocked = coder.encode(['bytes', 'bytes[]'], [concat(['0x02', '0x0d']), [minted, pair]])
    const calls = [
      abi.encodeFunctionData('initializePool', [tuple, getSqrtRatioAtTick(tick)]),
      abi.encodeFunctionData('modifyLiquidities', [unlocked, MaxUint256]),
    ]
    await send(positionManager, abi.encodeFunctionData('multicall', [calls]))
  }
}
