import { expect } from 'chai'
import { AbiCoder, Contract } from 'ethers'
import { v3Range } from '../../../../../kits/amm/v3/range.ts'
import type { TickPool } from '../../../../../kits/amm/v3/range-prices.ts'
import { readPool } from '../../../../../kits/amm/v3/range-positions.ts'
import { rejection } from '../../v2/rejection.ts'
import { at, tokens } from '../../devnet-fixture.ts'
import { openRangeFixture, type RangeFixture } from './range-fixture.ts'

const { WETH, USDC, DAI, WBTC } = tokens

describe('pools that can have positions', () => {
  let fixture: RangeFixture

  before(async function () {
    // The devnet is built first.
    this.timeout(400_000)
    fixture = await openRangeFixture()
  })
  after(() => fixture.close())

  it('include all pools of a pair, deepest first, equal to the contracts, in one round trip', async () => {
    fixture.counted.rpc = 0
    const { pools } = await fixture.range.rangePools([USDC, fixture.chain.nativeCurrency], {}, at())
    expect(fixture.counted.rpc).to.equal(1)
    // The devnet's widest ranges hold 4000, 2000 and 100 ether.
    expect(pools.map(({ fee }) => fee)).to.deep.equal([500, 3000, 10_000])
    for (const pool of pools) {
      const contract = new Contract(
        pool.address,
        [
          'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)',
          'function token0() view returns (address)',
          'function token1() view returns (address)',
          'function fee() view returns (uint24)',
          'function tickSpacing() view returns (int24)',
          'function liquidity() view returns (uint128)',
        ],
        fixture.provider,
      )
      const [slot0, ...said] = await Promise.all(
        ['slot0', 'token0', 'token1', 'fee', 'tickSpacing', 'liquidity'].map((view) => contract.getFunction(view).staticCall()),
      )
      const { sqrtPriceX96, tick, token0, token1, fee, tickSpacing, liquidity } = pool as TickPool
      expect([sqrtPriceX96, tick]).to.deep.equal([slot0[0], Number(slot0[1])])
      expect([token0, token1, BigInt(fee), BigInt(tickSpacing), liquidity]).to.deep.equal(said)
      expect(pool.price).to.deep.equal({ numerator: sqrtPriceX96 ** 2n, denominator: 2n ** 192n })
    }
  })

  it('include only the pool of one fee where it is given, or none', async () => {
    const fees = async (fee: number) => (await fixture.range.rangePools([WETH, USDC], { fee }, at())).pools.map((pool) => pool.fee)
    expect(await fees(3000)).to.deep.equal([3000])
    expect(await fees(100)).to.deep.equal([])
    for (const fee of [0, 1234, 2 ** 24, -1, 0.5]) expect(await fees(fee)).to.deep.equal([])
    expect((await fixture.range.rangePools([DAI, WBTC], {}, at())).pools).to.deep.equal([])
  })

  it('leave out a pool without a price', async () => {
    const factory = new Contract(fixture.exchange.factory, ['function createPool(address,address,uint24)'], fixture.trader)
    await fixture.mined((await factory.getFunction('createPool')(DAI.address, WBTC.address, 500)).hash)
    expect((await fixture.range.rangePools([DAI, WBTC], {}, at())).pools).to.deep.equal([])
  })

  it('do not count liquidity in a single tick at a wrong price as depth, because it costs next to nothing', async () => {
    const [genuine] = (await fixture.range.rangePools([WETH, USDC], {}, at())).pools
    if (!genuine) throw new Error('No pool of ether and dollars.')
    const abi = ['function createAndInitializePoolIfNecessary(address, address, uint24, uint160) payable returns (address)']
    const manager = new Contract(fixture.exchange.positionManager, abi, fixture.trader)
    // A fifth pool away from the price of the others.
    const { token0, token1, sqrtPriceX96 } = genuine as TickPool
    const sent = await manager.getFunction('createAndInitializePoolIfNecessary')(token0, token1, 100, (sqrtPriceX96 * 9n) / 10n)
    await fixture.mined(sent.hash)
    const thin = await fixture.pool(WETH, USDC, 100)
    const most = { amount0Raw: 10n ** 24n, amount1Raw: 10n ** 24n }
    const { liquidity } = fixture.range.deposit(thin, fixture.about(thin, -1, 2), most)
    const share = (2n * genuine.liquidity * 10n ** 24n) / liquidity
    await fixture.minted(thin, fixture.about(thin, -1, 2), { amount0Raw: share, amount1Raw: share })

    const { pools } = await fixture.range.rangePools([WETH, USDC], {}, at())
    const found = pools.find(({ fee }) => fee === 100)
    expect(found?.liquidity).to.satisfy((raw: bigint) => raw > genuine.liquidity)
    expect(pools[0]?.fee).to.equal(genuine.fee)
  })

  it('read the same where a fork returns further or other values at the end', () => {
    const key = { address: '0xAA', token0: '0xA0', token1: '0xA1', fee: 2500, version: 'v3' }
    const coder = AbiCoder.defaultAbiCoder()
    const ok = (types: readonly string[], values: readonly unknown[]) => ({ ok: true, data: coder.encode(types, values) })
    // PancakeSwap's feeProtocol has 32 bits: @pancakeswap/v3-core@1.0.2, IPancakeV3PoolState.
    const slot0 = ok(
      ['uint160', 'int24', 'uint16', 'uint16', 'uint16', 'uint32', 'bool'],
      [2n ** 95n, -13_864, 7, 9, 11, 216_272_100, true],
    )
    const pool = readPool(key, [slot0, ok(['uint128'], [77n]), ok(['int24'], [50])])
    expect(pool).to.deep.include({ ...key, sqrtPriceX96: 2n ** 95n, tick: -13_864, liquidity: 77n, tickSpacing: 50 })
  })

  it('end in a refusal where the configured contract does not manage them', async () => {
    for (const positionManager of [fixture.exchange.factory, WETH.address, fixture.owner]) {
      const range = v3Range({ ...fixture.exchange, positionManager }, fixture.chain.reader)
      for (const asked of [
        () => range.rangePools([WETH, USDC], {}, at()),
        () => range.position('1', at()),
        () => range.positions(fixture.owner, at()),
      ]) {
        const error = await rejection(asked())
        expect(error).to.include({ name: 'SERVICE_UNINITIALIZED' })
      }
    }
    const elsewhere = v3Range({ ...fixture.exchange, factory: WETH.address }, fixture.chain.reader)
    expect(await rejection(elsewhere.position('1', at()))).to.include({ name: 'SERVICE_UNINITIALIZED' })
  })
})
