import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { AbiCoder, ContractFactory, Interface, MaxUint256, ZeroAddress, concat, getAddress, toQuantity } from 'ethers'
import { parse } from 'yaml'
import type { Quote, Swap, Token } from '../../../core/contracts/index.ts'
import { partsOf } from '../../../kits/amm/index.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { v4DevnetAddresses } from '../../../kits/amm/v4/devnet.ts'
import { poolId, type PoolKey } from '../../../kits/amm/v4/pools.ts'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import { devnetFiles } from '../../devnet/test-devnet.ts'
import taxed from '../../../plugins/ethereum/artifacts/FeeOnTransferToken.json' with { type: 'json' }
import testHooks from '../../fixtures/uniswap-v4/TestHooks.json' with { type: 'json' }
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { rejection } from '../../kits/amm/v2/rejection.ts'
import { givenOrRefused } from '../../kits/amm/walk/given-or-refused.ts'

const { WBTC, DAI } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const [uniswapFile = ''] = devnetFiles
const permit2 = defaults.contractAddresses.local.permit2Address
const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const abi = new Interface([
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
const odd = key(777, 13, ZeroAddress)
const hooked = key(500, 7, hooksWith(afterDonate))
const dynamic = key(dynamicFee, 60, hooksWith(0))
/** Its hooks act before swaps, and may give the fee. */
const acting = key(dynamicFee, 10, hooksWith(beforeSwap))
const all = [odd, hooked, dynamic, acting]

describe('configured keys of Uniswap v4', () => {
  let fixture: DevnetFixture
  const configWith = (...keys: object[]) => ({ ...defaults, v4Pools: { 'ethereum/local': keys } })
  const exchangeWith = (...keys: object[]) =>
    uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: configWith(...keys) })
  const swapOf = (tokenIn: Token, tokenOut: Token, exact: 'in' | 'out', amountRaw: bigint): Swap => ({
    tokenIn,
    tokenOut,
    exact,
    amountRaw,
  })
  const swaps = [
    swapOf(WBTC, DAI, 'in', 1_000_000n),
    swapOf(DAI, WBTC, 'in', 10n ** 20n),
    swapOf(DAI, WBTC, 'out', 100_000n),
    swapOf(WBTC, DAI, 'out', 10n ** 20n),
  ]
  /** Through this pool alone, and equal to V4Quoter's answer. */
  async function exact(wanted: PoolKey, swap: Swap): Promise<Quote> {
    const quote = await exchangeWith(...all).AMM?.quote(swap, { version: 'v4', pool: poolId(wanted) }, at())
    if (!quote) throw new Error('There was no quote.')
    const quoter = await devnetQuoter(uniswapFile, fixture.provider)
    for (const { route, exactRaw, otherRaw } of partsOf(quote)) {
      const ask = swap.exact === 'in' ? quoter?.exactIn : quoter?.exactOut
      expect(otherRaw, `${swap.tokenIn.symbol} exactly ${swap.exact}`).to.equal(await ask?.(route, exactRaw, Number(quote.head.number)))
    }
    return quote
  }

  before(async () => {
    fixture = await openDevnetFixture()
    const { trader } = fixture
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
    await fixture.provider.send('anvil_setCode', [acting.hooks, await fixture.provider.call({ data: testHooks.bytecode })])
    // 60,000 DAI a WBTC.
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
  })
  after(() => fixture?.close())

  for (const [what, wanted] of [
    ['another fee and tick spacing', odd],
    ['hooks that do nothing in swaps', hooked],
  ] as const)
    it(`quotes a pool of ${what} to the unit, and trades through it`, async () => {
      for (const swap of swaps) {
        const quote = await exact(wanted, swap)
        const plan = exchangeWith(...all).AMM?.swap(quote, {
          recipient: fixture.trader.address,
          boundRaw: quote.amountRaw,
          deadline: quote.head.timestamp + 600,
        })
        if (!plan) throw new Error('There was no plan.')
        expect((await fixture.execute(plan)).status).to.equal(1)
      }
    })

  it('quotes a pool whose hooks act in swaps as they do at that block, and trades through it', async () => {
    const modes = { nothing: 0, refuses: 1, spendsAllGas: 2, setsFee: 3, byBlock: 4, byAmount: 5, lies: 6 }
    const { trader } = fixture
    for (const [mode, number] of Object.entries(modes)) {
      const data = abi.encodeFunctionData('set', [number, 2_500])
      await (await trader.sendTransaction({ to: acting.hooks, data })).wait()
      for (const swap of swaps) {
        if (['refuses', 'spendsAllGas', 'lies'].includes(mode)) {
          expect(await givenOrRefused(exact(acting, swap)), mode).to.equal(undefined)
          continue
        }
        const quote = await exact(acting, swap)
        if (mode === 'byBlock') continue
        const plan = exchangeWith(...all).AMM?.swap(quote, {
          recipient: trader.address,
          boundRaw: quote.amountRaw,
          deadline: quote.head.timestamp + 600,
        })
        if (!plan) throw new Error('There was no plan.')
        const receipt = await fixture.execute(plan)
        expect(receipt.status, mode).to.equal(1)
        const [amountInRaw, amountOutRaw] = swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : [quote.amountRaw, swap.amountRaw]
        expect(exchangeWith(...all).AMM?.fill(receipt, plan.memo), mode).to.deep.equal({ amountInRaw, amountOutRaw })
      }
    }
  })

  it('quotes a fee that changes without a log as it is at that block', async () => {
    const fees = new Set<string | undefined>()
    for (const lpFee of [0, 12_345, 100]) {
      await fixture.provider.send('anvil_impersonateAccount', [dynamic.hooks])
      await fixture.provider.send('anvil_setBalance', [dynamic.hooks, toQuantity(10n ** 18n)])
      const tuple = [dynamic.currency0, dynamic.currency1, dynamic.fee, dynamic.tickSpacing, dynamic.hooks]
      const { poolManager } = v4DevnetAddresses(deployerAddress('uniswap'))
      const data = abi.encodeFunctionData('updateDynamicLPFee', [tuple, lpFee])
      const hash = await fixture.provider.send('eth_sendTransaction', [{ from: dynamic.hooks, to: poolManager, data }])
      await fixture.provider.waitForTransaction(hash)
      for (const swap of swaps) fees.add((await exact(dynamic, swap)).route[0]?.fee)
    }
    expect([...fees]).to.deep.equal(['0', '0.012345', '0.0001'])
    // Only what is asked of the chain is not from memory.
    expect(exchangeWith(odd, dynamic).AMM?.followed).to.be.an('object')
  })

  it('takes keys of other networks for what they are', () => {
    const config = { ...defaults, v4Pools: { 'ethereum/mainnet': [{ ...odd, currency0: 'x' }] } }
    expect(() => uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config })).to.not.throw()
  })

  it('are refused for a token that takes a fee on transfer, though no pool of another version lends it', async () => {
    const { provider, trader } = fixture
    const plain = await provider.getCode(WBTC.address)
    const made = await new ContractFactory(taxed.abi, taxed.bytecode, trader).deploy('Token with a Fee on Transfer', 'TAX', 8)
    try {
      await provider.send('anvil_setCode', [WBTC.address, await provider.getCode(await made.waitForDeployment())])
      const venue = fixture.venue(defaults.contractAddresses.local)
      // Those of the network are not tried.
      const reader = { ...venue.reader, intermediates: [] }
      const now = uniswap.create({ ...venue, reader, config: configWith(...all) }).AMM
      for (const swap of swaps) {
        const refused = await rejection(now?.quote(swap, { version: 'v4', pool: poolId(odd) }, at()))
        expect(refused.name, refused.message).to.equal('TOKEN_NOT_SUPPORTED')
        expect(refused.message).to.contain('takes a fee on transfer')
      }
    } finally {
      await provider.send('anvil_setCode', [WBTC.address, plain])
    }
  })
})
