import { expect } from 'chai'
import { id } from 'ethers'
import * as fc from 'fast-check'
import type { SharesPool } from '../../../../core/contracts/index.ts'
import { v2Protocol } from '../../../../kits/amm/v2/pools.ts'
import { deposit, protocolSharesRaw, returned } from '../../../../kits/amm/v2/shares.ts'

/** Near to one another: else deposits are more than a pool can hold. */
const reserve = fc.bigInt(2n ** 60n, 2n ** 70n)
const small = fc.bigInt(1n, 2n ** 90n)
const poolOf = (reservesRaw: readonly bigint[], totalSharesRaw: bigint, heldRaw = reservesRaw): SharesPool => ({
  address: '0x0000000000000000000000000000000000000001',
  version: 'v2',
  tokens: [],
  shareToken: '',
  shareDecimals: 18,
  totalSharesRaw,
  reservesRaw,
  heldRaw,
  prices: [],
})
/** With what somebody sent to it beside. */
const pool = fc
  .tuple(reserve, reserve, fc.bigInt(1000n, 2n ** 100n), fc.bigInt(0n, 2n ** 80n), fc.bigInt(0n, 2n ** 80n))
  .map(([one, other, total, more, most]) => poolOf([one, other], total, [one + more, other + most]))
const offer = fc
  .tuple(fc.option(small, { nil: undefined }), fc.option(small, { nil: undefined }))
  .filter((each) => each.some((one) => one !== undefined))
const ofCoin = fc.constantFrom(-1, 0, 1)

const after = (before: SharesPool, { amountsRaw, sharesRaw }: { amountsRaw: readonly bigint[]; sharesRaw: bigint }): SharesPool => {
  const held = before.heldRaw.map((each, index) => each + (amountsRaw[index] ?? 0n))
  return poolOf(held, before.totalSharesRaw + sharesRaw)
}

describe('shares of a constant-product pool', () => {
  it('cost no more than what is offered', () => {
    fc.assert(
      fc.property(pool, offer, ofCoin, (before, most, coin) =>
        deposit(before, most, coin).amountsRaw.every((each, index) => each <= (most[index] ?? each)),
      ),
    )
  })

  it('come to the same number for the amounts that are taken as for those that are offered', () => {
    fc.assert(
      fc.property(pool, offer, ofCoin, (before, most, coin) => {
        const first = deposit(before, most, coin)
        expect(deposit(before, first.amountsRaw, coin)).to.deep.equal(first)
      }),
    )
  })

  it('never take anything from those who have shares already', () => {
    fc.assert(
      fc.property(pool, offer, ofCoin, fc.bigInt(1n, 1000n), ({ reservesRaw, totalSharesRaw }, most, coin, ownedRaw) => {
        const before = poolOf(reservesRaw, totalSharesRaw)
        const now = returned(after(before, deposit(before, most, coin)), ownedRaw)
        return returned(before, ownedRaw).every((each, index) => each <= (now[index] ?? 0n))
      }),
    )
  })

  it('return no more than was paid for them, and at most the worth of one share less', () => {
    fc.assert(
      fc.property(reserve, reserve, fc.bigInt(1000n, 2n ** 100n), small, (one, other, total, most) => {
        const before = poolOf([one, other], total)
        const made = deposit(before, [most, undefined])
        const now = after(before, made)
        const [back = 0n] = returned(now, made.sharesRaw)
        // Of the first token, which sets the deposit: the second one's smallest unit may be worth many of it.
        const [perShare, perUnit] = [one / total + 2n, one / other + 2n]
        return back <= most && most - back <= perShare + perUnit
      }),
    )
  })

  it('return together no more than the pool holds', () => {
    fc.assert(
      fc.property(pool, fc.bigInt(0n, 1000n), (before, some) => {
        const parts = [some, before.totalSharesRaw - some].map((each) => returned(before, each))
        return before.heldRaw.every((each, index) => (parts[0]?.[index] ?? 0n) + (parts[1]?.[index] ?? 0n) <= each)
      }),
    )
  })

  it('come to a thousand units fewer for the first deposit, which sets the price', () => {
    expect(deposit(poolOf([0n, 0n], 0n), [40_000n, 90_000n])).to.deep.equal({ amountsRaw: [40_000n, 90_000n], sharesRaw: 59_000n })
    expect(deposit(poolOf([0n, 0n], 0n), [900n, 900n]).sharesRaw).to.equal(0n)
  })

  it('cannot be had of a pool that holds one token only, or that has no room', () => {
    expect(() => deposit(poolOf([0n, 5n], 0n), [10_000n, 10_000n])).to.throw('one of its two tokens only')
    expect(() => deposit(poolOf([10n, 10n], 10n), [2n ** 112n, undefined])).to.throw('cannot hold that much')
  })

  it('grow for the protocol by its part of the fees, as each factory has it', () => {
    const grown = { reserve0Raw: 121n * 10n ** 20n, reserve1Raw: 100n * 10n ** 20n, kLast: 10n ** 44n, supplyRaw: 10n ** 22n }
    // UniswapV2Pair: supply * (root - rootLast) / (5 * root + rootLast). PancakePair: supply * 8 * (root - rootLast) / (17 * root + 8 * rootLast).
    const [root, rootLast] = [110n * 10n ** 20n, 100n * 10n ** 20n]
    expect(protocolSharesRaw(grown, [1n, 6n])).to.equal((grown.supplyRaw * (root - rootLast)) / (5n * root + rootLast))
    expect(protocolSharesRaw(grown, [8n, 25n])).to.equal((grown.supplyRaw * 8n * (root - rootLast)) / (17n * root + 8n * rootLast))
    expect(protocolSharesRaw({ ...grown, kLast: 0n }, [1n, 6n])).to.equal(0n)
    expect(protocolSharesRaw({ ...grown, kLast: 2n * 10n ** 44n }, [1n, 6n])).to.equal(0n)
  })

  it('may be transferred without the reserves in memory changing', () => {
    const { memory } = v2Protocol('v2', [3n, 1000n], { factory: `0x${'11'.repeat(20)}`, initCodeHash: `0x${'22'.repeat(32)}` })
    const poolsOf = (event: string) =>
      memory?.poolsOf({ address: '0xAa', topics: [id(event)], data: '0x', transactionHash: '', blockNumber: 1 })
    expect(poolsOf('Sync(uint112,uint112)')).to.deep.equal(['0xaa'])
    expect(poolsOf('Transfer(address,address,uint256)')).to.deep.equal([])
  })
})
