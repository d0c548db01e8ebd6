import { expect } from 'chai'
import { ContractFactory, toQuantity } from 'ethers'
import type { Quote, Swap, Token } from '../../../core/contracts/index.ts'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { partsOf } from '../../../kits/amm/index.ts'
import { v4DevnetAddresses } from '../../../kits/amm/v4/devnet.ts'
import { poolId, type PoolKey } from '../../../kits/amm/v4/pools.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import { devnetFiles } from '../../devnet/test-devnet.ts'
import taxed from '../../../plugins/ethereum/artifacts/FeeOnTransferToken.json' with { type: 'json' }
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { rejection } from '../../kits/amm/v2/rejection.ts'
import { givenOrRefused } from '../../kits/amm/walk/given-or-refused.ts'
import { abi, acting, all, defaults, dynamic, hooked, makeKeyedPools, modes, odd } from './v4-keyed-pools.ts'

const { WBTC, DAI } = tokens
const [uniswapFile = ''] = devnetFiles

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
    await makeKeyedPools(fixture.provider, fixture.trader)
    // Calls see the block of the last pool once they see this one.
    await fixture.mined((await fixture.trader.sendTransaction({ to: fixture.trader.address })).hash)
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
    const { trader } = fixture
    for (const [mode, number] of Object.entries(modes)) {
      const data = abi.encodeFunctionData('set', [number, 2_500])
      await fixture.mined((await trader.sendTransaction({ to: acting.hooks, data })).hash)
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
      await fixture.mined(hash)
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

  it('fail for a token that takes a fee on transfer, though no pool of another version lends it', async () => {
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
