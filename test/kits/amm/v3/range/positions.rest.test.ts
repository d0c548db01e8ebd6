import { expect } from 'chai'
import { Contract, Wallet } from 'ethers'
import type { AMMRange, RangeAmounts, RangeFill, Token } from '../../../../../core/contracts/index.ts'
import type { TickPool } from '../../../../../kits/amm/v3/range-prices.ts'
import type { Evm } from '../../../../../kits/evm/index.ts'
import { v3Range } from '../../../../../kits/amm/v3/range.ts'
import { spanAround } from '../../../../../kits/amm/v3/range-prices.ts'
import { inTenMinutes, openRangeFixture, type RangeFixture } from './range-fixture.ts'
import { at, tokens } from '../../devnet-fixture.ts'

const { WETH, USDC, DAI } = tokens
// Account 1 of anvil's well-known mnemonic.
const strangerKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const plenty: RangeAmounts = { amount0Raw: 10n ** 30n, amount1Raw: 10n ** 30n }

describe('positions in a range', () => {
  let fixture: RangeFixture
  let pool: TickPool
  let eth: Token

  before(async function () {
    // The devnet is built first.
    this.timeout(400_000)
    fixture = await openRangeFixture()
    eth = fixture.chain.nativeCurrency
  })
  after(() => fixture.close())
  beforeEach(async () => {
    pool = await fixture.pool(WETH, USDC, 3000)
  })

  /** This much ether, and more than enough dollars. */
  const ether = (amount: bigint): RangeAmounts => inOrder(amount * 10n ** 18n, amount * 4_000_000_000n)
  const inOrder = (wethRaw: bigint, usdcRaw: bigint): RangeAmounts =>
    pool.token0 === WETH.address ? { amount0Raw: wethRaw, amount1Raw: usdcRaw } : { amount0Raw: usdcRaw, amount1Raw: wethRaw }
  const balances = async (): Promise<RangeAmounts> => {
    const [wethRaw, usdcRaw] = await Promise.all([fixture.balance(WETH), fixture.balance(USDC)])
    return inOrder(wethRaw, usdcRaw)
  }
  const moved = (before: RangeAmounts, now: RangeAmounts): RangeAmounts => ({
    amount0Raw: now.amount0Raw - before.amount0Raw,
    amount1Raw: now.amount1Raw - before.amount1Raw,
  })
  const negative = ({ amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts => ({ amount0Raw: -amount0Raw, amount1Raw: -amount1Raw })
  const amountsOf = ({ amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts => ({ amount0Raw, amount1Raw })

  it('take exactly the amounts of the computed deposit', async () => {
    for (const [below, above] of [
      [-10, 10],
      [-1, 1],
      [2, 9],
      [-9, -2],
      [-3, 200],
    ] as const) {
      const range = fixture.about(pool, below, above)
      const expected = fixture.range.deposit(pool, range, ether(3n))
      const held = await balances()
      const plan = fixture.range.add({ pool, range, most: ether(3n) }, fixture.terms())
      const fill = fixture.range.rangeFill(await fixture.succeed(plan), JSON.parse(JSON.stringify(plan.memo)))

      expect(fill).to.deep.equal({ tokenId: fill?.tokenId, ...expected })
      expect(moved(held, await balances())).to.deep.equal(negative(amountsOf(expected)))
      const position = await fixture.position(fill?.tokenId ?? '')
      expect(position).to.deep.include({ ...range, liquidity: expected.liquidity, owner: fixture.owner, inRange: below <= 0 && above > 0 })
      expect(position.amounts.amount0Raw).to.be.oneOf([expected.amount0Raw, expected.amount0Raw - 1n, 0n])
      expect(position.amounts.amount1Raw).to.be.oneOf([expected.amount1Raw, expected.amount1Raw - 1n, 0n])
      expect(position.unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    }
  })

  it('accept any number for a token without a limit, and need no more than can be taken', async () => {
    const range = fixture.about(pool, -20, 20)
    const most = pool.token0 === WETH.address ? { ...plenty, amount0Raw: 10n ** 18n } : { ...plenty, amount1Raw: 10n ** 18n }
    const expected = fixture.range.deposit(pool, range, most)
    const plan = fixture.range.add({ pool, range, most }, fixture.terms())
    const fill = fixture.range.rangeFill(await fixture.succeed(plan), plan.memo)
    expect(fill).to.deep.include(expected)
    const dollars = plan.needs.find((need) => need.is === 'balance' && need.token === USDC.address)
    const used = pool.token0 === WETH.address ? expected.amount1Raw : expected.amount0Raw
    expect(Number(dollars?.amountRaw)).to.be.within(Number(used), Number(used) * 1.3)
  })

  it('grow by an addition', async () => {
    const range = fixture.about(pool, -10, 10)
    const tokenId = await fixture.minted(pool, range, ether(1n))
    const had = await fixture.position(tokenId)
    const expected = fixture.range.deposit(pool, range, ether(2n))
    const plan = fixture.range.add({ pool, range, most: ether(2n), tokenId }, fixture.terms())
    expect(fixture.range.rangeFill(await fixture.succeed(plan), plan.memo)).to.deep.equal({ tokenId, ...expected })
    expect((await fixture.position(tokenId)).liquidity).to.equal(had.liquidity + expected.liquidity)
  })

  it('need that the manager has no allowance of the wrapped coin, where the coin goes in with an unlisted token', () => {
    const exchange = { ...fixture.exchange, listed: new Set([WETH.address]) }
    const range = v3Range(exchange, fixture.chain.reader)
    const needs = (of: AMMRange<Evm>, native: boolean) =>
      of.add({ pool, range: fixture.about(pool, -10, 10), most: ether(1n) }, fixture.terms({ native })).needs
    const barred = { is: 'allowance-at-most', token: WETH.address, spender: exchange.positionManager, amountRaw: 0n }
    expect(needs(range, true)).to.deep.include(barred)
    expect(needs(range, false)).not.to.deep.include(barred)
    expect(needs(fixture.range, true)).not.to.deep.include(barred)
  })

  it('take the coin and return the rest', async () => {
    const range = fixture.about(pool, -10, 10)
    for (const tokenId of [undefined, await fixture.minted(pool, range, ether(1n))]) {
      const expected = fixture.range.deposit(pool, range, ether(1n))
      const plan = fixture.range.add(
        { pool, range, most: ether(1n), ...(tokenId === undefined ? {} : { tokenId }) },
        fixture.terms({ native: true }),
      )
      expect(plan.needs.map(({ is, token }) => [is, token])).to.have.deep.members([
        ['balance', eth.address],
        ['balance', USDC.address],
        ['allowance', USDC.address],
      ])
      const [ethRaw, wethRaw] = await Promise.all([fixture.balance(eth), fixture.balance(WETH)])
      const receipt = await fixture.succeed(plan)
      const fill = fixture.range.rangeFill(receipt, plan.memo)
      const paid = pool.token0 === WETH.address ? expected.amount0Raw : expected.amount1Raw
      expect(fill).to.deep.include(expected)
      expect(ethRaw - (await fixture.balance(eth)) - gasOf(receipt)).to.equal(paid)
      expect(await fixture.balance(WETH)).to.equal(wethRaw)
    }
  })

  it('give back the computed amounts and fees when all liquidity is removed, and can be burnt', async () => {
    for (const native of [false, true]) {
      pool = await fixture.pool(WETH, USDC, 3000)
      const tokenId = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(5n))
      await fixture.swap(WETH, USDC, 3000, 10n ** 18n)
      await fixture.swap(USDC, WETH, 3000, 3_000_000_000n)
      const position = await fixture.position(tokenId)
      expect(position.unclaimed.amount0Raw > 0n && position.unclaimed.amount1Raw > 0n).to.equal(true)
      const all = sum(position.amounts, position.unclaimed)

      const plan = fixture.range.remove(position, { liquidity: position.liquidity, burn: true }, fixture.terms({ native }))
      const [held, ethRaw] = [await balances(), await fixture.balance(eth)]
      const receipt = await fixture.succeed(plan)
      const fill = fixture.range.rangeFill(receipt, JSON.parse(JSON.stringify(plan.memo)))
      expect(fill).to.deep.equal({ tokenId, liquidity: position.liquidity, ...all, fees: position.unclaimed })
      const got = moved(held, await balances())
      const gotEth = (await fixture.balance(eth)) - ethRaw + gasOf(receipt)
      const wethRaw = pool.token0 === WETH.address ? all.amount0Raw : all.amount1Raw
      expect(gotEth).to.equal(native ? wethRaw : 0n)
      expect(got).to.deep.equal(native ? sum(all, negative(inOrder(wethRaw, 0n))) : all)
      expect((await fixture.range.position(tokenId, at()))?.position).to.equal(undefined)
    }
  })

  it('give back a part of the liquidity with all fees, and stay', async () => {
    const tokenId = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(5n))
    await fixture.swap(WETH, USDC, 3000, 10n ** 18n)
    const position = await fixture.position(tokenId)
    const liquidity = position.liquidity / 3n
    const plan = fixture.range.remove(position, { liquidity, burn: true }, fixture.terms())
    const fill = fixture.range.rangeFill(await fixture.succeed(plan), plan.memo)
    expect(fill?.liquidity).to.equal(liquidity)
    const rest = await fixture.position(tokenId)
    expect(rest.liquidity).to.equal(position.liquidity - liquidity)
    expect(rest.unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    // Rounded down twice instead of once.
    expect(gap(sum(fill ?? plenty, rest.amounts), sum(position.amounts, position.unclaimed))).to.satisfy(
      (units: bigint) => units >= 0n && units <= 2n,
    )
  })

  it('pay their fees alone, to the unit, and the coin in place of its wrapped form', async () => {
    const tokenId = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(5n))
    for (const native of [false, true]) {
      await fixture.swap(WETH, USDC, 3000, 10n ** 18n)
      const { unclaimed, ...position } = await fixture.position(tokenId)
      const plan = fixture.range.collect({ ...position, unclaimed }, fixture.terms({ native }))
      expect(plan.deadline).to.equal(undefined)
      const [held, ethRaw] = [await balances(), await fixture.balance(eth)]
      const receipt = await fixture.succeed(plan)
      const wethRaw = pool.token0 === WETH.address ? unclaimed.amount0Raw : unclaimed.amount1Raw
      expect(fixture.range.rangeFill(receipt, plan.memo)).to.deep.equal({ tokenId, liquidity: 0n, ...unclaimed, fees: unclaimed })
      expect((await fixture.balance(eth)) - ethRaw + gasOf(receipt)).to.equal(native ? wethRaw : 0n)
      expect(moved(held, await balances())).to.deep.equal(native ? sum(unclaimed, negative(inOrder(wethRaw, 0n))) : unclaimed)
      expect((await fixture.position(tokenId)).unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    }
  })

  it('pay what they still owe when they are empty, and are burnt', async () => {
    const tokenId = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(5n))
    const { liquidity } = await fixture.position(tokenId)
    const abi = [
      'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable',
    ]
    const manager = new Contract(fixture.range.positionManager, abi, fixture.trader)
    // One block later it can take more gas than estimated.
    const terms = [tokenId, liquidity, 0n, 0n, inTenMinutes()]
    await fixture.mined((await manager.getFunction('decreaseLiquidity')(terms, { gasLimit: 1_000_000n })).hash)
    const position = await fixture.position(tokenId)
    expect(position.liquidity).to.equal(0n)
    expect(position.unclaimed).to.deep.equal(await fixture.collectable(tokenId))

    const plan = fixture.range.remove(position, { liquidity: 0n, burn: true }, fixture.terms())
    const fill: RangeFill = { tokenId, liquidity: 0n, ...position.unclaimed, fees: position.unclaimed }
    expect(fixture.range.rangeFill(await fixture.succeed(plan), plan.memo)).to.deep.equal(fill)
    expect((await fixture.range.position(tokenId, at()))?.position).to.equal(undefined)
  })

  it('refuse changes by a stranger', async () => {
    const tokenId = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(1n))
    const position = await fixture.position(tokenId)
    const stranger = new Wallet(strangerKey, fixture.provider)
    const terms = fixture.terms({ owner: stranger.address })
    for (const plan of [
      fixture.range.remove(position, { liquidity: position.liquidity, burn: true }, terms),
      fixture.range.collect(position, terms),
    ]) {
      const receipt = await fixture.as(stranger, plan)
      expect(receipt.status).to.equal(0)
      expect(fixture.range.rangeFill(receipt, plan.memo)).to.equal(undefined)
    }
    expect((await fixture.position(tokenId)).liquidity).to.equal(position.liquidity)
  })

  it('can be opened and reduced up to the slippage, and not past it', async () => {
    pool = await fixture.pool(WETH, DAI, 3000)
    const slippage = { numerator: 1n, denominator: 200n }
    const range = fixture.about(pool, -6, 6)
    const tokenId = await fixture.minted(pool, range, { amount0Raw: 10n ** 18n, amount1Raw: 3_000n * 10n ** 18n })
    const position = await fixture.position(tokenId)
    const plans = () => [
      fixture.range.add({ pool, range, most: { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 18n } }, fixture.terms({ slippage })),
      fixture.range.remove(position, { liquidity: position.liquidity / 10n, burn: false }, fixture.terms({ slippage })),
    ]
    // A plan from an earlier price is sent at another price.
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
      await fixture.moveTo(pool, sqrtPriceX96)
      for (const plan of planned) expect((await fixture.execute(plan)).status, `${sqrtPriceX96}`).to.equal(status)
    }
  })

  it('cannot be opened or reduced after the deadline', async () => {
    const range = fixture.about(pool, -10, 10)
    const tokenId = await fixture.minted(pool, range, ether(1n))
    const position = await fixture.position(tokenId)
    const terms = fixture.terms({ deadline: Math.floor(Date.now() / 1000) - 60 })
    for (const plan of [
      fixture.range.add({ pool, range, most: ether(1n) }, terms),
      fixture.range.add({ pool, range, most: ether(1n), tokenId }, terms),
      fixture.range.remove(position, { liquidity: 1n, burn: false }, terms),
    ]) {
      expect(plan.deadline).to.equal(terms.deadline)
      expect((await fixture.execute(plan)).status).to.equal(0)
    }
  })

  it('appear in a list without gaps, many of them at one block', async () => {
    const stranger = new Wallet(strangerKey, fixture.provider).address
    expect((await fixture.range.positions(stranger, at())).positions).to.deep.equal([])
    const ids: string[] = []
    for (let count = 0; count < 30; count += 1)
      ids.push(await fixture.minted(pool, fixture.about(pool, -10 - count, 10), ether(1n), { owner: stranger }))
    const { head, positions } = await fixture.range.positions(stranger, at())
    expect(positions.map(({ tokenId }) => tokenId)).to.deep.equal(ids)
    for (const position of positions) expect(position).to.deep.equal((await fixture.range.position(position.tokenId, at()))?.position)
    expect(head.number > 0n).to.equal(true)

    fixture.counted.rpc = 0
    await fixture.range.position(ids[0] ?? '', at())
    expect(fixture.counted.rpc).to.equal(1)
  })

  it('follow a reorganisation that gives an id to another position', async () => {
    const range = v3Range(fixture.exchange, fixture.chain.reader)
    const snapshot = await fixture.provider.send('evm_snapshot', [])
    const first = await fixture.minted(pool, fixture.about(pool, -10, 10), ether(1n))
    expect((await range.position(first, at()))?.position?.tickUpper).to.equal(fixture.about(pool, -10, 10).tickUpper)
    await fixture.provider.send('evm_revert', [snapshot])
    const second = await fixture.minted(pool, fixture.about(pool, -20, 20), ether(1n))
    expect(second).to.equal(first)
    await fixture.swap(WETH, USDC, 3000, 10n ** 18n)
    await fixture.swap(USDC, WETH, 3000, 3_000_000_000n)
    await fixture.provider.send('anvil_mine', ['0x3'])
    const now = await range.position(second, at())
    expect(now?.position).to.deep.include(fixture.about(pool, -20, 20))
    expect(now?.position?.unclaimed).to.deep.equal(await fixture.collectable(second))
  })

  it('are read by their ids again and again as by a reader that has never seen them, whatever happens to them', async () => {
    const ids = [
      await fixture.minted(pool, fixture.about(pool, -10, 10), ether(1n)),
      await fixture.minted(pool, fixture.about(pool, 5, 9), ether(1n)),
    ]
    const byId = async (range: AMMRange<Evm>) => (await range.positionsById?.({ tokenIds: ids }, at()))?.positions ?? []
    const [first = ''] = ids
    const isSameNow = async () => {
      const found = await byId(fixture.range)
      expect(found).to.deep.equal(await byId(v3Range(fixture.exchange, fixture.chain.reader)))
      return found
    }
    const shown = await isSameNow()
    await fixture.provider.send('anvil_mine', ['0x1'])
    // Nothing is worked out again where the contracts answer as they did.
    for (const [index, position] of (await isSameNow()).entries()) expect(position).to.equal(shown[index])
    await fixture.swap(WETH, USDC, 3000, 10n ** 18n)
    for (const [index, position] of (await isSameNow()).entries()) expect(position.pool.price).not.to.deep.equal(shown[index]?.pool.price)
    const before = await fixture.position(first)
    await fixture.succeed(fixture.range.collect(before, fixture.terms()))
    expect((await isSameNow())[0]?.unclaimed).to.deep.equal({ amount0Raw: 0n, amount1Raw: 0n })
    await fixture.succeed(fixture.range.remove(before, { liquidity: before.liquidity, burn: true }, fixture.terms()))
    expect((await isSameNow()).map(({ tokenId }) => tokenId)).to.deep.equal(ids.slice(1))
  })

  it('stay undefined for an id that does not exist', async () => {
    for (const id of ['1000000000', '0']) expect((await fixture.range.position(id, at()))?.position).to.equal(undefined)
    expect(await fixture.range.position(String(2n ** 256n), at())).to.equal(undefined)
  })
})

const sum = (a: RangeAmounts, b: RangeAmounts): RangeAmounts => ({
  amount0Raw: a.amount0Raw + b.amount0Raw,
  amount1Raw: a.amount1Raw + b.amount1Raw,
})
/** How much the first is below the second, for both tokens together. */
const gap = (a: RangeAmounts, b: RangeAmounts): bigint => b.amount0Raw - a.amount0Raw + (b.amount1Raw - a.amount1Raw)
const gasOf = ({ gasUsed, effectiveGasPrice }: { gasUsed: string; effectiveGasPrice: string }) =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice)
