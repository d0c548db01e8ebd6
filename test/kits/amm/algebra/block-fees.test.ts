import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import fc from 'fast-check'
import { keccak256 } from 'ethers'
import { feeTrial, pricedBy, withFee } from '../../../../kits/amm/algebra/block-fees.ts'
import { algebraProtocol, type AlgebraPoolState } from '../../../../kits/amm/algebra/pools.ts'
import { trialsAmong } from '../../../../kits/amm/trial.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { swap, TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'

const pool = '0x0000000000000000000000000000000000000004'
const block = { block: '0x01', number: 5n }

/** One position over all of the known prices. */
function rangeOf(tick: number, liquidity: bigint, hasTickList: boolean): V3PoolState {
  const [from, to] = [-887_220, 887_220]
  const net = (index: number) => (index === 0 ? liquidity : -liquidity)
  const ticks = new TickTable(-887_273, 887_273, [from, to], { gross: () => liquidity, net })
  return { sqrtPriceX96: getSqrtRatioAtTick(tick) + 7n, tick, liquidity, fee: 500, tickSpacing: 60, ticks, hasTickList }
}

/** Of one position, with ticks in it that change nothing. */
const steppedTicks = (ticks: readonly number[], liquidity: bigint) =>
  new TickTable(-887_273, 887_273, ticks, {
    gross: () => liquidity,
    net: (index) => (index === 0 ? liquidity : index === ticks.length - 1 ? -liquidity : 0n),
  })

const anyRange = fc
  .tuple(fc.integer({ min: -300_000, max: 300_000 }), fc.bigInt({ min: 10n ** 12n, max: 10n ** 26n }), fc.boolean())
  .map((parts) => rangeOf(...parts))

/** What the pool would take in a trial with this fee. */
function tried(range: V3PoolState, zeroForOne: boolean, fee: number) {
  const trial = feeTrial({ address: pool, tokens: [], state: block }, range, zeroForOne)
  if (!trial) return undefined
  const swapped = swap(withFee(range, fee), zeroForOne, 'out', trial.amountRaw)
  if (!swapped || 'atBestRaw' in swapped) return undefined
  return { trial, done: { amountRaw: swapped.amountRaw, gasUnits: 1n } }
}

describe('the fee of a block', () => {
  it('makes a tried swap take what it took, for any pool that holds enough', () => {
    let found = 0
    fc.assert(
      fc.property(anyRange, fc.boolean(), fc.integer({ min: 0, max: 999_999 }), (range, zeroForOne, fee) => {
        const result = tried(range, zeroForOne, fee)
        if (!result) return
        found += 1
        const priced = pricedBy(range, zeroForOne, { ...block, tried: [result] })
        expect(priced).to.be.an('object')
        expect(typeof priced === 'object' && priced.fee).to.equal(fee)
      }),
      { numRuns: 2_000 },
    )
    expect(found).to.be.above(1_000)
  })

  it('stays unknown after a trial that the pool refused, or that fits no fee: each amount is tried then', () => {
    const range = rangeOf(0, 10n ** 22n, true)
    const result = tried(range, true, 3_000)
    if (!result) throw new Error('The pool holds enough.')
    const { trial, done } = result
    expect(pricedBy(range, true, { ...block, tried: [{ trial, done: undefined }] })).to.equal('tried')
    const free = tried(range, true, 0)?.done.amountRaw ?? 0n
    expect(pricedBy(range, true, { ...block, tried: [{ trial, done: { ...done, amountRaw: free - 1n } }] })).to.equal('tried')
    expect(pricedBy(range, false, { ...block, tried: [result] }), 'of the other direction').to.equal(undefined)
  })

  it('comes from no swaps of other amounts: with a small one several fees fit, and one that fails says nothing of the fee', () => {
    // The swap crosses ticks, and each step rounds its part of the fee up.
    const range = { ...rangeOf(15_383, 10n ** 8n, true), ticks: steppedTicks([-887_220, 15_000, 15_060, 15_120, 887_220], 10n ** 8n) }
    const swapOf = (fee: number) => swap(withFee(range, fee), true, 'out', 2_947_162n)
    const [real, next] = [swapOf(4_543), swapOf(4_544)]
    if (!real || 'atBestRaw' in real) throw new Error('The pool holds enough.')
    expect(next, 'the same input with two fees').to.deep.include({ amountRaw: real.amountRaw })
    const trial = { pool, zeroForOne: true, exact: 'out' as const, amountRaw: 2_947_162n, ...block }
    expect(pricedBy(range, true, { ...block, tried: [{ trial, done: { amountRaw: real.amountRaw, gasUnits: 1n } }] })).to.equal(undefined)
    expect(pricedBy(range, true, { ...block, tried: [{ trial, done: undefined }] })).to.equal(undefined)
    const own = tried(range, true, 4_543)
    const priced = pricedBy(range, true, { ...block, tried: [{ trial, done: undefined }, ...(own ? [own] : [])] })
    expect(typeof priced === 'object' && priced.fee).to.equal(4_543)
  })

  it('comes from a trial of its own block alone', () => {
    const range = rangeOf(0, 10n ** 22n, true)
    const at = (number: bigint) => feeTrial({ address: pool, tokens: [], state: { block: `0x0${number}`, number } }, range, true)
    expect(trialsAmong([at(5n), at(6n)], new Set([pool])).map(({ number }) => number)).to.deep.equal([6n])
    const swapOfSameAmount = { ...at(6n), ofBlock: undefined }
    expect(trialsAmong([at(6n), swapOfSameAmount], new Set([pool])), 'beside a swap of the same amount').to.have.length(2)
  })

  it('stays unknown after a trial that was made for another block and tells nothing at this price: that of its own block is asked', () => {
    const before = tried(rangeOf(-300_000, 10n ** 22n, true), true, 3_000)
    const range = rangeOf(300_000, 10n ** 22n, true)
    if (!before) throw new Error('The pool holds enough.')
    // At the price of now, the same output takes a few units.
    const swapped = swap(withFee(range, 3_000), true, 'out', before.trial.amountRaw)
    if (!swapped || 'atBestRaw' in swapped) throw new Error('The pool holds enough.')
    const result = { trial: before.trial, done: { amountRaw: swapped.amountRaw, gasUnits: 1n } }
    const later = { block: '0x02', number: 6n }
    expect(pricedBy(range, true, { ...later, tried: [result] })).to.equal(undefined)
    expect(pricedBy(range, true, { ...later, tried: [{ ...result, done: undefined }] })).to.equal(undefined)
    expect(pricedBy(range, true, { ...block, tried: [result] }), 'of its own block').to.equal('tried')
  })

  it('is never another one, however small the amount of a trial was', () => {
    let [found, told] = [0, 0]
    const ticks = [-887_220, ...Array.from({ length: 40 }, (_, index) => 60 * (index - 20)), 887_220]
    const { integer, bigInt, boolean, property } = fc
    fc.assert(
      property(
        bigInt({ min: 10n ** 3n, max: 10n ** 9n }),
        boolean(),
        integer({ min: 0, max: 20_000 }),
        bigInt({ min: 1n, max: 10n ** 7n }),
        (liquidity, zeroForOne, fee, amountRaw) => {
          const range = { ...rangeOf(7, liquidity, true), ticks: steppedTicks(ticks, liquidity) }
          const swapped = swap(withFee(range, fee), zeroForOne, 'out', amountRaw)
          if (!swapped || 'atBestRaw' in swapped) return
          const trial = { pool, zeroForOne, exact: 'out' as const, amountRaw, ...block, ofBlock: true as const }
          const priced = pricedBy(range, zeroForOne, { ...block, tried: [{ trial, done: { amountRaw: swapped.amountRaw, gasUnits: 1n } }] })
          found += 1
          if (typeof priced !== 'object') return
          told += 1
          expect(priced.fee).to.equal(fee)
        },
      ),
      { numRuns: 5_000 },
    )
    expect(found).to.be.above(1_000)
    expect(told).to.be.above(10)
  })

  it('is told by what two readings know together, where one of them does not know the pool as far as the trial goes', () => {
    const deployment = { factory: pool, poolDeployer: pool, initCodeHash: `0x${'00'.repeat(32)}` }
    const { memory } = algebraProtocol({ version: 'integral', kind: 'integral', deployment })
    const range = rangeOf(0, 10n ** 10n, true)
    const near = { ...range, ticks: new TickTable(-600, 600, [], range.ticks.liquidity) }
    const result = tried(range, true, 3_000)
    if (!result) throw new Error('The pool holds enough.')
    const found = { ...block, tried: [result] }
    expect(pricedBy(near, true, found)).to.equal(undefined)
    const isPublished = { pluginConfig: 1, hasBlockFees: true }
    const inMemory: AlgebraPoolState = { range, ...isPublished, ...block, tried: [] }
    const loaded: AlgebraPoolState = { range: near, ...isPublished, ...found, priced: { zeroForOne: undefined, oneForZero: undefined } }
    const [one, other] = [inMemory, loaded].map((state) => ({ address: pool, tokens: [], state }))
    const priced = one && other && memory?.join?.(one, other).state.priced
    expect(priced?.zeroForOne).to.include({ fee: 3_000 })
    expect(priced?.oneForZero).to.equal(undefined)
  })

  it('is compared with what the chain says of the same block, and so is whether it is one for all amounts', () => {
    const deployment = { factory: pool, poolDeployer: pool, initCodeHash: `0x${'00'.repeat(32)}` }
    const { memory } = algebraProtocol({ version: 'integral', kind: 'integral', deployment })
    const range = rangeOf(0, 10n ** 22n, true)
    const priced = (fee: number, other: number | 'tried') => ({
      zeroForOne: withFee(range, fee),
      oneForZero: other === 'tried' ? other : withFee(range, other),
    })
    const inMemory: AlgebraPoolState = { range, pluginConfig: 1, hasBlockFees: true, ...block, tried: [], priced: priced(500, 3_000) }
    const isSame = (differing: Partial<AlgebraPoolState>) => {
      const [one, other] = [inMemory, { ...inMemory, ...differing }].map((state) => ({ address: pool, tokens: [], state }))
      return one && other && memory?.same?.(one, other, { number: block.number, timestamp: 1 })
    }
    expect(isSame({})).to.equal(true)
    expect(isSame({ priced: undefined }), 'as far as both know them').to.equal(true)
    expect(isSame({ block: '0x02', priced: priced(501, 3_000) }), 'of another block').to.equal(true)
    expect(isSame({ priced: priced(501, 3_000) })).to.equal(false)
    expect(isSame({ priced: priced(500, 'tried') })).to.equal(false)
    expect(isSame({ hasBlockFees: false, priced: undefined })).to.equal(false)
  })

  for (const version of ['V1', 'V2'])
    it(`is trusted to plugins with the code of AlgebraBasePlugin${version} as its package has it, but for the immutables`, () => {
      const name = `AlgebraBasePlugin${version}`
      const file = createRequire(import.meta.url).resolve(
        `@cryptoalgebra/integral-base-plugin/artifacts/contracts/${name}.sol/${name}.json`,
      )
      const { deployedBytecode: code }: { deployedBytecode: string } = JSON.parse(readFileSync(file, 'utf8'))
      // A PUSH32 of zeros is where the constructor puts an immutable.
      const places = [...code.slice(2).matchAll(/7f0{64}/g)].map(({ index }) => index / 2 + 1)
      const lens = readFileSync(new URL('../../../../contracts/AlgebraLens.sol', import.meta.url), 'utf8')
      const constant = (what: string) => new RegExp(`${what}Of${version} = (\\w+);`).exec(lens)?.[1]
      expect(constant('size')).to.equal(String((code.length - 2) / 2))
      expect(constant('places')).to.equal(`0x${places.map((place) => place.toString(16).padStart(4, '0')).join('')}`)
      expect(constant('hash')).to.equal(keccak256(code))
    })
})
