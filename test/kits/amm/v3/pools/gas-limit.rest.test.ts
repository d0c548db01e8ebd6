import { expect } from 'chai'
import { Interface, toQuantity } from 'ethers'
import { createGasLimitCache } from '../../../../../kits/evm/gas-limit.ts'
import type { EvmIntent } from '../../../../../kits/evm/types.ts'
import { pathOf } from '../../../../../kits/amm/v3/swap.ts'
import { wallet } from '../../../evm/test-chain.ts'
import { v3QuoteChecker } from './quote-checker.ts'
import { openV3Exchange, type V3Exchange } from './v3-exchange.ts'

const routerAbi = new Interface([
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96)) payable returns (uint256)',
  'function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96)) payable returns (uint256)',
])
const [e18, fee, maxGas] = [10n ** 18n, 3000, 200_000_000n]

describe('a gas limit from the table, for ticks that were never crossed', function () {
  this.timeout(400_000)
  let exchange: V3Exchange
  before(async () => {
    exchange = await openV3Exchange()
    await exchange.open(fee, 0)
    await exchange.provide(fee, -60_000, 60_000, 1_000n * e18)
    // Adjacent positions above the price.
    for (let index = 0; index < 8; index += 1) await exchange.provide(fee, 60 + index * 120, 120 + index * 120, 10n * e18)
    // Both directions have written the pool's storage.
    for (const zeroForOne of [true, false, true, false]) await exchange.trade(fee, zeroForOne, e18 / 100n)
  })
  after(() => exchange?.stop())

  async function stepOf(amountRaw: bigint, exact: 'in' | 'out' = 'in'): Promise<EvmIntent & { crossed: bigint }> {
    const [token0, token1] = exchange.tokens
    const passed = await v3QuoteChecker(exchange, [fee]).quote(fee, { zeroForOne: false, exact, amountRaw })
    if (!passed) throw new Error('The pool does not take that.')
    const { gasUnits, firstWriteUnits = 0n } = passed
    const [name, boundRaw] = exact === 'in' ? ['exactInputSingle', 0n] : ['exactOutputSingle', 2n * e18 * 100n]
    return {
      to: exchange.router,
      data: routerAbi.encodeFunctionData(name, [[token1, token0, fee, wallet, amountRaw, boundRaw, 0n]]),
      value: '0',
      alike: { kind: `${exact} v3`, units: String(gasUnits + 50_000n), firstWriteUnits: String(firstWriteUnits), through: ['pool'] },
      crossed: firstWriteUnits / 70_000n - 1n,
    }
  }

  /** With the gas limit of the table after a small swap was simulated. */
  async function isMined(step: EvmIntent, exact: 'in' | 'out' = 'in'): Promise<void> {
    const table = createGasLimitCache()
    const small = await stepOf(e18 / 1000n, exact)
    const estimate = BigInt(String(await exchange.rpc('eth_estimateGas', { from: wallet, to: small.to, data: small.data })))
    table.learn(small, wallet, (estimate * 5n) / 4n, maxGas)
    const snapshot = await exchange.rpc('evm_snapshot')
    const gas = toQuantity(table.limitOf(step, wallet) ?? 0n)
    const hash = await exchange.rpc('eth_sendTransaction', { from: wallet, to: step.to, data: step.data, gas })
    await exchange.rpc('evm_mine')
    const receipt = await exchange.rpc('eth_getTransactionReceipt', hash)
    await exchange.rpc('evm_revert', snapshot)
    expect(receipt).to.include({ status: '0x1' })
  }

  for (const [amount, crossed] of [
    [1n, 0n],
    [10n, 1n],
    [30n, 3n],
    [60n, 7n],
    [100n, 11n],
  ] as const) {
    it(`suffices to cross ${crossed} of them`, async () => {
      const step = await stepOf(amount * e18)
      expect(step.crossed).to.equal(crossed)
      await isMined(step)
    })
  }

  for (const exact of ['in', 'out'] as const) {
    it(`suffices for a tick that a swap with an exact amount ${exact} ends on, which is crossed and not counted`, async () => {
      const { state } = await v3QuoteChecker(exchange, [fee]).poolOf(fee)
      const first = pathOf(state, false).step(0) ?? expect.fail('The pool has liquidity.')
      const step = await stepOf(exact === 'in' ? first.segment.paidRaw : first.segment.outRaw, exact)
      expect(step.crossed).to.equal(0n)
      await isMined(step, exact)
    })
  }
})
