import { expect } from 'chai'
import { Contract, Wallet } from 'ethers'
import type { AMMRange, RangeAmounts, RangeFill, RangePool, Token } from '../../../../../core/contracts/index.ts'
import type { Evm } from '../../../../../kits/evm/index.ts'
import { v3Range } from '../../../../../kits/amm/v3/range.ts'
import { spanAround } from '../../../../../kits/amm/v3/range-prices.ts'
import { inTenMinutes, openRangeFloor, type RangeFloor } from './range-floor.ts'
import { at, tokens } from '../../v2/trading-floor.ts'

const { WETH, USDC, DAI } = tokens
// Account 1 of anvil's well-known mnemonic.
const strangerKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const plenty: RangeAmounts = { amount0Raw: 10n ** 30n, amount1Raw: 10n ** 30n }

describe('positions in a range', () => {
  let floor: RangeFloor
  let pool: RangePool
  let eth: Token

  before(async function () {
    // The devnet is built first.
    this.timeout(120_000)
    floor = await openRangeFloor()
    eth = floor.chain.nativeCurrency
  })
  after(() => floor.close())
  beforeEach(async () => {
    pool = await floor.pool(WETH, USDC, 3000)
  })

  /** So much ether, and as many dollars as it needs and more. */
  const ether = (amount: bigint): RangeAmounts => inOrder(amount * 10n ** 18n, amount * 4_000_000_000n)
  const inOrder = (wethRaw: bigint, usdcRaw: bigint): RangeAmounts =>
    pool.token0 === WETH.address ? { amount0Raw: wethRaw, amount1Raw: usdcRaw } : { amount0Raw: usdcRaw, amount1Raw: wethRaw }
  const balances = async (): Promise<RangeAmounts> => {
    const [wethRaw, usdcRaw] = await Promise.all([floor.balance(WETH), floor.balance(USDC)])
    return inOrder(wethRaw, usdcRaw)
  }
  const moved = (before: RangeAmounts, now: RangeAmounts): RangeAmounts => ({
    amount0Raw: now.amount0Raw - before.amount0Raw,
    amount1Raw: now.amount1Raw - before.amount1Raw,
  })
  const negative = ({ amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts => ({ amount0Raw: -amount0Raw, amount1Raw: -amount1Raw })
  const amountsOf = ({ amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts => ({ amount0Raw, amount1Raw })

  it('are made of what the deposit says, to the unit', async () => {
    for (const [below, above] of [
      [-10, 10],
      [-1, 1],
      [2, 9],
      [-9, -2],
      [-3, 200],
    ] as const) {
      const range = floor.about(pool, below, above)
      const expected = floor.range.deposit(pool, range, ether(3n))
      const held = await balances()
      const plan = floor.range.add({ pool, range, most: ether(3n) }, floor.terms())
      const fill = floor.range.rangeFill(await floor.succeed(plan), JSON.parse(JSON.stringify(plan.memo)))

      expect(fill).to.deep.equal({ tokenId: fill?.tokenId, ...expected })
      expect(moved(held, await balances())).to.deep.equal(negative(amountsOf(expected)))
      const position = await floor.position(fill?.tokenId ?? 0n)
      expect(position).to.deep.include({ ...range, liquidity: expected.liquidity, owner: floor.owner, inRange: below <= 0 && above > 0 })
      expect(position.amounts.amount0Raw).to.be.oneOf([expected.amount0Raw, expected.amount0Raw - 1n, 0n])
      expect(position.amounts.amount1Raw).to.be.oneOf([expected.amount1Raw, expected.amount1Raw - 1n, 0n])
      expect(position.unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    }
  })

  it('take any number for a token that has no limit, and need no more than can be taken', async () => {
    const range = floor.about(pool, -20, 20)
    const most = pool.token0 === WETH.address ? { ...plenty, amount0Raw: 10n ** 18n } : { ...plenty, amount1Raw: 10n ** 18n }
    const expected = floor.range.deposit(pool, range, most)
    const plan = floor.range.add({ pool, range, most }, floor.terms())
    const fill = floor.range.rangeFill(await floor.succeed(plan), plan.memo)
    expect(fill).to.deep.include(expected)
    const dollars = plan.needs.find((need) => need.is === 'balance' && need.token === USDC.address)
    const used = pool.token0 === WETH.address ? expected.amount1Raw : expected.amount0Raw
    expect(Number(dollars?.amountRaw)).to.be.within(Number(used), Number(used) * 1.3)
  })

  it('grow by an addition', async () => {
    const range = floor.about(pool, -10, 10)
    const tokenId = await floor.minted(pool, range, ether(1n))
    const had = await floor.position(tokenId)
    const expected = floor.range.deposit(pool, range, ether(2n))
    const plan = floor.range.add({ pool, range, most: ether(2n), tokenId }, floor.terms())
    expect(floor.range.rangeFill(await floor.succeed(plan), plan.memo)).to.deep.equal({ tokenId, ...expected })
    expect((await floor.position(tokenId)).liquidity).to.equal(had.liquidity + expected.liquidity)
  })

  it('need that the manager may not take the wrapped coin too, where the coin goes in with a token on no list', () => {
    const exchange = { ...floor.exchange, listed: new Set([WETH.address]) }
    const range = v3Range(exchange, floor.chain.reader)
    const needs = (of: AMMRange<Evm>, native: boolean) =>
      of.add({ pool, range: floor.about(pool, -10, 10), most: ether(1n) }, floor.terms({ native })).needs
    const barred = { is: 'allowance-at-most', token: WETH.address, spender: exchange.positionManager, amountRaw: 0n }
    expect(needs(range, true)).to.deep.include(barred)
    expect(needs(range, false)).not.to.deep.include(barred)
    expect(needs(floor.range, true)).not.to.deep.include(barred)
  })

  it('take the coin and give back what they do not need of it', async () => {
    const range = floor.about(pool, -10, 10)
    for (const tokenId of [undefined, await floor.minted(pool, range, ether(1n))]) {
      const expected = floor.range.deposit(pool, range, ether(1n))
      const plan = floor.range.add(
        { pool, range, most: ether(1n), ...(tokenId === undefined ? {} : { tokenId }) },
        floor.terms({ native: true }),
      )
      expect(plan.needs.map(({ is, token }) => [is, token])).to.have.deep.members([
        ['balance', eth.address],
        ['balance', USDC.address],
        ['allowance', USDC.address],
      ])
      const [ethRaw, wethRaw] = await Promise.all([floor.balance(eth), floor.balance(WETH)])
      const receipt = await floor.succeed(plan)
      const fill = floor.range.rangeFill(receipt, plan.memo)
      const paid = pool.token0 === WETH.address ? expected.amount0Raw : expected.amount1Raw
      expect(fill).to.deep.include(expected)
      expect(ethRaw - (await floor.balance(eth)) - gasOf(receipt)).to.equal(paid)
      expect(await floor.balance(WETH)).to.equal(wethRaw)
    }
  })

  it('give back all of it, with the fees, as was said, and can be burnt', async () => {
    for (const native of [false, true]) {
      pool = await floor.pool(WETH, USDC, 3000)
      const tokenId = await floor.minted(pool, floor.about(pool, -10, 10), ether(5n))
      await floor.swap(WETH, USDC, 3000, 10n ** 18n)
      await floor.swap(USDC, WETH, 3000, 3_000_000_000n)
      const position = await floor.position(tokenId)
      expect(position.unclaimed.amount0Raw > 0n && position.unclaimed.amount1Raw > 0n).to.equal(true)
      const all = sum(position.amounts, position.unclaimed)

      const plan = floor.range.remove(position, { liquidity: position.liquidity, burn: true }, floor.terms({ native }))
      const [held, ethRaw] = [await balances(), await floor.balance(eth)]
      const receipt = await floor.succeed(plan)
      const fill = floor.range.rangeFill(receipt, JSON.parse(JSON.stringify(plan.memo)))
      expect(fill).to.deep.equal({ tokenId, liquidity: position.liquidity, ...all })
      const got = moved(held, await balances())
      const gotEth = (await floor.balance(eth)) - ethRaw + gasOf(receipt)
      const wethRaw = pool.token0 === WETH.address ? all.amount0Raw : all.amount1Raw
      expect(gotEth).to.equal(native ? wethRaw : 0n)
      expect(got).to.deep.equal(native ? sum(all, negative(inOrder(wethRaw, 0n))) : all)
      expect(await floor.range.position(tokenId, at())).to.equal(undefined)
    }
  })

  it('give back a part, with all fees, and stay', async () => {
    const tokenId = await floor.minted(pool, floor.about(pool, -10, 10), ether(5n))
    await floor.swap(WETH, USDC, 3000, 10n ** 18n)
    const position = await floor.position(tokenId)
    const liquidity = position.liquidity / 3n
    const plan = floor.range.remove(position, { liquidity, burn: true }, floor.terms())
    const fill = floor.range.rangeFill(await floor.succeed(plan), plan.memo)
    expect(fill?.liquidity).to.equal(liquidity)
    const rest = await floor.position(tokenId)
    expect(rest.liquidity).to.equal(position.liquidity - liquidity)
    expect(rest.unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    // Rounded down twice instead of once.
    expect(gap(sum(fill ?? plenty, rest.amounts), sum(position.amounts, position.unclaimed))).to.satisfy(
      (units: bigint) => units >= 0n && units <= 2n,
    )
  })

  it('give out their fees alone, to the unit, and the coin for its wrapped form', async () => {
    const tokenId = await floor.minted(pool, floor.about(pool, -10, 10), ether(5n))
    for (const native of [false, true]) {
      await floor.swap(WETH, USDC, 3000, 10n ** 18n)
      const { unclaimed, ...position } = await floor.position(tokenId)
      const plan = floor.range.collect({ ...position, unclaimed }, floor.terms({ native }))
      expect(plan.deadline).to.equal(undefined)
      const [held, ethRaw] = [await balances(), await floor.balance(eth)]
      const receipt = await floor.succeed(plan)
      const wethRaw = pool.token0 === WETH.address ? unclaimed.amount0Raw : unclaimed.amount1Raw
      expect(floor.range.rangeFill(receipt, plan.memo)).to.deep.equal({ tokenId, liquidity: 0n, ...unclaimed })
      expect((await floor.balance(eth)) - ethRaw + gasOf(receipt)).to.equal(native ? wethRaw : 0n)
      expect(moved(held, await balances())).to.deep.equal(native ? sum(unclaimed, negative(inOrder(wethRaw, 0n))) : unclaimed)
      expect((await floor.position(tokenId)).unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    }
  })

  it('that are empty give out what they still owe, and are burnt', async () => {
    const tokenId = await floor.minted(pool, floor.about(pool, -10, 10), ether(5n))
    const { liquidity } = await floor.position(tokenId)
    const abi = [
      'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable',
    ]
    const manager = new Contract(floor.range.positionManager, abi, floor.trader)
    // A block later it can take more than it was estimated to.
    const terms = [tokenId, liquidity, 0n, 0n, inTenMinutes()]
    await floor.mined((await manager.getFunction('decreaseLiquidity')(terms, { gasLimit: 1_000_000n })).hash)
    const position = await floor.position(tokenId)
    expect(position.liquidity).to.equal(0n)
    expect(position.unclaimed).to.deep.equal(await floor.collectable(tokenId))

    const plan = floor.range.remove(position, { liquidity: 0n, burn: true }, floor.terms())
    const fill: RangeFill = { tokenId, liquidity: 0n, ...position.unclaimed }
    expect(floor.range.rangeFill(await floor.succeed(plan), plan.memo)).to.deep.equal(fill)
    expect(await floor.range.position(tokenId, at())).to.equal(undefined)
  })

  it('are not touched by a stranger', async () => {
    const tokenId = await floor.minted(pool, floor.about(pool, -10, 10), ether(1n))
    const position = await floor.position(tokenId)
    const stranger = new Wallet(strangerKey, floor.provider)
    const terms = floor.terms({ owner: stranger.address })
    for (const plan of [
      floor.range.remove(position, { liquidity: position.liquidity, burn: true }, terms),
      floor.range.collect(position, terms),
    ]) {
      const receipt = await floor.as(stranger, plan)
      expect(receipt.status).to.equal(0)
      expect(floor.range.rangeFill(receipt, plan.memo)).to.equal(undefined)
    }
    expect((await floor.position(tokenId)).liquidity).to.equal(position.liquidity)
  })

  it('are made and reduced up to the slippage, and refused past it', async () => {
    pool = await floor.pool(WETH, DAI, 3000)
    const slippage = { numerator: 1n, denominator: 200n }
    const range = floor.about(pool, -6, 6)
    const tokenId = await floor.minted(pool, range, { amount0Raw: 10n ** 18n, amount1Raw: 3_000n * 10n ** 18n })
    const position = await floor.position(tokenId)
    const plans = () => [
      floor.range.add({ pool, range, most: { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 18n } }, floor.terms({ slippage })),
      floor.range.remove(position, { liquidity: position.liquidity / 10n, burn: false }, floor.terms({ slippage })),
    ]
    // What was planned at the price of before is sent at another.
    const planned = plans()
    const before = pool.sqrtPriceX96
    const { low, high } = spanAround(before, slippage)
    for (const [sqrtPriceX96, status] of [
      [low, 1],
      [low - low / 1_000_000n, 0],
      [high, 1],
      [high + high / 1_000_000n, 0],
      [before, 1],
    ] as const) {
      await floor.moveTo(pool, sqrtPriceX96)
      for (const plan of planned) expect((await floor.execute(plan)).status, `${sqrtPriceX96}`).to.equal(status)
    }
  })

  it('are not made or reduced after the deadline', async () => {
    const range = floor.about(pool, -10, 10)
    const tokenId = await floor.minted(pool, range, ether(1n))
    const position = await floor.position(tokenId)
    const terms = floor.terms({ deadline: Math.floor(Date.now() / 1000) - 60 })
    for (const plan of [
      floor.range.add({ pool, range, most: ether(1n) }, terms),
      floor.range.add({ pool, range, most: ether(1n), tokenId }, terms),
      floor.range.remove(position, { liquidity: 1n, burn: false }, terms),
    ]) {
      expect(plan.deadline).to.equal(terms.deadline)
      expect((await floor.execute(plan)).status).to.equal(0)
    }
  })

  it('are listed with all that they are, many of them at one block', async () => {
    const stranger = new Wallet(strangerKey, floor.provider).address
    expect((await floor.range.positions(stranger, at())).positions).to.deep.equal([])
    const ids: bigint[] = []
    for (let count = 0; count < 30; count += 1)
      ids.push(await floor.minted(pool, floor.about(pool, -10 - count, 10), ether(1n), { owner: stranger }))
    const { head, positions } = await floor.range.positions(stranger, at())
    expect(positions.map(({ tokenId }) => tokenId)).to.deep.equal(ids)
    for (const position of positions) expect(position).to.deep.equal((await floor.range.position(position.tokenId, at()))?.position)
    expect(head.number > 0n).to.equal(true)

    floor.counted.rpc = 0
    await floor.range.position(ids[0] ?? 0n, at())
    expect(floor.counted.rpc).to.equal(1)
  })

  it('are those of now where a reorganisation gave an id to another one', async () => {
    const range = v3Range(floor.exchange, floor.chain.reader)
    const snapshot = await floor.provider.send('evm_snapshot', [])
    const first = await floor.minted(pool, floor.about(pool, -10, 10), ether(1n))
    expect((await range.position(first, at()))?.position.tickUpper).to.equal(floor.about(pool, -10, 10).tickUpper)
    await floor.provider.send('evm_revert', [snapshot])
    const second = await floor.minted(pool, floor.about(pool, -20, 20), ether(1n))
    expect(second).to.equal(first)
    await floor.swap(WETH, USDC, 3000, 10n ** 18n)
    await floor.swap(USDC, WETH, 3000, 3_000_000_000n)
    await floor.provider.send('anvil_mine', ['0x3'])
    const now = await range.position(second, at())
    expect(now?.position).to.deep.include(floor.about(pool, -20, 20))
    expect(now?.position.unclaimed).to.deep.equal(await floor.collectable(second))
  })

  it('that there are not are none', async () => {
    expect(await floor.range.position(10n ** 9n, at())).to.equal(undefined)
    expect(await floor.range.position(0n, at())).to.equal(undefined)
    expect(await floor.range.position(2n ** 256n - 1n, at())).to.equal(undefined)
  })
})

const sum = (a: RangeAmounts, b: RangeAmounts): RangeAmounts => ({
  amount0Raw: a.amount0Raw + b.amount0Raw,
  amount1Raw: a.amount1Raw + b.amount1Raw,
})
/** By how much the first falls short of the second, of both tokens together. */
const gap = (a: RangeAmounts, b: RangeAmounts): bigint => b.amount0Raw - a.amount0Raw + (b.amount1Raw - a.amount1Raw)
const gasOf = ({ gasUsed, effectiveGasPrice }: { gasUsed: string; effectiveGasPrice: string }) =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice)
