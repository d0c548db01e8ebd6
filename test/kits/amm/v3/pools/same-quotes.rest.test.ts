import { expect } from 'chai'
import * as fc from 'fast-check'
import { openQuotes, swapOn, tiers } from './open-quotes.ts'
import { v3QuoteChecker } from './quote-checker.ts'
import { getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import { openV3Exchange, type V3Exchange } from './v3-exchange.ts'

const ether = 10n ** 18n
const { dense, middle, wide } = tiers

describe('quotes of concentrated liquidity, whatever was asked before', function () {
  this.timeout(300_000)
  let exchange: V3Exchange
  const ends: (() => Promise<void>)[] = []
  before(async () => {
    exchange = await openV3Exchange({ gasLimit: 30_000_000n })
    // Some liquidity on each of many ticks, of which one look at both sides cannot read all, and a little everywhere.
    await exchange.open(dense, 0)
    await exchange.provide(dense, -887_272, 887_272, ether)
    for (let tick = -600; tick < 600; tick += 2) await exchange.provide(dense, tick, tick + 1, 100n * ether)
    for (const [fee, spacing] of [
      [middle, 10],
      [wide, 60],
    ] as const) {
      await exchange.open(fee, 0)
      await exchange.provide(fee, -200 * spacing, 200 * spacing, 2_000n * ether)
      await exchange.provide(fee, -3 * spacing, 2 * spacing, 500n * ether)
    }
  })
  after(async () => {
    for (const end of ends) await end()
    await exchange?.stop()
  })

  const open = () => openQuotes(exchange, ends)
  const swapOf = (zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint) => swapOn(exchange, { zeroForOne, exact, amountRaw })

  it('stay the same after one for more than all pools hold', async () => {
    const asked = [true, false].flatMap((zeroForOne) =>
      [1n, 100n, 2_000n, 20_000n].map((amount) => swapOf(zeroForOne, 'in', amount * ether)),
    )
    const fresh = open()
    const expected = await Promise.all(asked.map(fresh.memory))
    for (const zeroForOne of [true, false]) {
      const spoiled = open()
      await spoiled.memory(swapOf(zeroForOne, 'in', ether))
      expect(await spoiled.memory(swapOf(zeroForOne, 'out', 30_000_000n * ether))).to.be.a('string')
      expect(await Promise.all(asked.map(spoiled.memory))).to.deep.equal(expected)
    }
  })

  it('stay the same in any order, from memory and from the chain', async () => {
    const swap = fc
      .tuple(fc.boolean(), fc.constantFrom('in' as const, 'out' as const), fc.bigInt(0n, 88n), fc.bigInt(1n, 2n ** 64n))
      .map(([zeroForOne, exact, bits, rest]) => swapOf(zeroForOne, exact, (1n << bits) + (rest % (1n << bits))))
    const reference = open()
    await fc.assert(
      fc.asyncProperty(fc.array(swap, { minLength: 2, maxLength: 8 }), async (swaps) => {
        const { memory, chain } = open()
        for (const each of swaps) {
          const expected = await memory(each)
          expect(await reference.memory(each)).to.deep.equal(expected)
          expect(await open().memory(each)).to.deep.equal(expected)
          expect(await chain(each)).to.deep.equal(expected)
        }
      }),
      { numRuns: Number(process.env['SLUICE_RUNS'] ?? 15) },
    )
  })
})

describe('a pool of concentrated liquidity whose price was pushed far away from its liquidity', function () {
  this.timeout(300_000)
  let exchange: V3Exchange
  const ends: (() => Promise<void>)[] = []
  before(async () => {
    exchange = await openV3Exchange()
  })
  after(async () => {
    for (const end of ends) await end()
    await exchange?.stop()
  })

  // More than eight words of the bitmap in all of them, and in the last more than is read at once.
  for (const [fee, spacing, pushedTo] of [
    [tiers.wide, 60, 400_000],
    [tiers.middle, 10, -60_000],
    [tiers.dense, 1, 300_000],
  ] as const) {
    it(`shares one reading with the others where the tick spacing of those is more than ${spacing}`, async () => {
      const { chain, reads } = openQuotes(exchange, ends)
      await chain(swapOn(exchange, { zeroForOne: true, exact: 'in', amountRaw: ether }))
      expect(reads()).to.equal(1)
    })

    it(`gives quotes exact to the unit where the tick spacing is ${spacing}, and competes with the other pools`, async () => {
      await exchange.open(fee, 0)
      await exchange.provide(fee, -10 * spacing, 10 * spacing, 1_000n * ether)
      const before = openQuotes(exchange, ends)
      const swaps = [true, false].flatMap((zeroForOne) =>
        (['in', 'out'] as const).flatMap((exact) =>
          [1_000_000n, ether, 10n * ether, 5_000n * ether].map((amountRaw) => ({ zeroForOne, exact, amountRaw })),
        ),
      )
      await before.memory(swapOn(exchange, swaps[0] ?? expect.fail()))
      await exchange.trade(fee, pushedTo < 0, 2n ** 180n, getSqrtRatioAtTick(pushedTo))
      await before.caughtUp()

      const checker = v3QuoteChecker(exchange, [fee])
      const { state } = await checker.poolOf(fee)
      expect(state).to.deep.include({ liquidity: 0n, sqrtPriceX96: getSqrtRatioAtTick(pushedTo) })
      const quoter = v3QuoteChecker(exchange)
      for (const asked of swaps) {
        await checker.quoteAlike(fee, asked)
        const swap = swapOn(exchange, asked)
        const given = await before.memory(swap)
        expect(given, 'from memory that saw it pushed').to.deep.equal(await openQuotes(exchange, ends).memory(swap))
        expect(given, 'from the chain').to.deep.equal(await before.chain(swap))
        // No single pool does better.
        const single = (await Promise.all(Object.values(tiers).map((tier) => quoter.theirs(tier, asked)))).filter(
          (each) => each !== undefined,
        )
        const best = single.toSorted((a, b) => (a === b ? 0 : a > b === (asked.exact === 'in') ? -1 : 1))[0]
        if (best === undefined) expect(given).to.be.a('string')
        else if (typeof given === 'string') expect.fail(`${given} ${best}`)
        else expect(asked.exact === 'in' ? given.amountRaw >= best : given.amountRaw <= best).to.equal(true)
      }
    })
  }
})
