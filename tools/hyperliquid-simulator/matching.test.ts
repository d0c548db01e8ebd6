import { expect } from 'chai'
import * as fc from 'fast-check'
import { fromPrice, fromSize, toPrice } from './exchange/amounts.ts'
import { createClock, createEngine } from './exchange/engine.ts'
import { createDriver } from './exchange/driver.ts'
import { defaultRules } from './exchange/rules.ts'

interface NewOrder {
  isBuy: boolean
  tick: number
  lots: number
  tif: 'Gtc' | 'Ioc'
  /** Which of the orders before it is canceled first, if it is open. */
  cancels: number | null
}

interface RestingOrder extends NewOrder {
  n: number
}

/** The rule as it is said: of all that cross, the best price, and of those the one that came first. */
function reference(arriving: readonly NewOrder[]) {
  const fills: string[] = []
  let resting: RestingOrder[] = []
  for (const [n, order] of arriving.entries()) {
    resting = resting.filter((each) => each.n !== order.cancels)
    let { lots } = order
    while (lots > 0) {
      const crossing = resting.filter(
        (each) => each.isBuy !== order.isBuy && (order.isBuy ? each.tick <= order.tick : each.tick >= order.tick),
      )
      const [best] = crossing.toSorted((a, b) => (order.isBuy ? a.tick - b.tick : b.tick - a.tick) || a.n - b.n)
      if (!best) break
      const traded = Math.min(lots, best.lots)
      fills.push(`${traded} of ${best.n} for ${n} at ${best.tick}`)
      lots -= traded
      best.lots -= traded
      resting = resting.filter((each) => each.lots > 0)
    }
    if (lots > 0 && order.tif === 'Gtc') resting.push({ ...order, n, lots })
  }
  return { fills, resting: resting.toSorted((a, b) => a.n - b.n).map(({ n, lots }) => `${lots} of ${n}`) }
}

/** The same orders on the simulator, each of another trader. */
function simulated(arriving: readonly NewOrder[]) {
  const engine = createEngine(false, defaultRules, createClock())
  const driver = createDriver(engine, () => {})
  const traderOf = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`
  const [first, step, lot] = [toPrice('0.2'), toPrice('0.001'), 100n]
  const oids: (number | undefined)[] = []
  for (const [n, { isBuy, tick, lots, tif, cancels }] of arriving.entries()) {
    if (cancels !== null && oids[cancels] !== undefined) driver.cancel(traderOf(cancels), oids[cancels])
    const price = fromPrice(first + step * BigInt(tick))
    try {
      const side = isBuy ? 'BUY' : 'SELL'
      const { oid } = driver.place(traderOf(n), { coin: 'PURR/USDC', side, price, size: String(lot * BigInt(lots)), tif })
      oids.push(oid)
    } catch (error) {
      // Nothing is there for it: that is how the exchange says so.
      expect(String(error)).to.contain('could not immediately match')
      oids.push(undefined)
    }
  }
  const indexOf = (address: string) => Number(BigInt(address)) - 1
  const lotsOf = (sz: bigint) => Number(fromSize(sz)) / Number(lot)
  const fills = engine.states.get('PURR/USDC')!.trades.map(({ px, sz, isBuy, buyer, seller }) => {
    const [maker, taker] = (isBuy ? [seller, buyer] : [buyer, seller]).map(indexOf)
    return `${lotsOf(sz)} of ${maker} for ${taker} at ${(px - first) / step}`
  })
  const open = [...engine.accounts.values()].flatMap(({ address, open: orders }) =>
    [...orders.values()].map(({ sz }) => ({ n: indexOf(address), text: `${lotsOf(sz)} of ${indexOf(address)}` })),
  )
  return { fills, resting: open.toSorted((a, b) => a.n - b.n).map(({ text }) => text) }
}

const arriving = fc.array(
  fc.record({
    isBuy: fc.boolean(),
    tick: fc.integer({ min: -4, max: 4 }),
    lots: fc.integer({ min: 1, max: 9 }),
    tif: fc.constantFrom('Gtc' as const, 'Gtc' as const, 'Ioc' as const),
    cancels: fc.option(fc.nat(20)),
  }),
  { minLength: 10, maxLength: 60, size: 'max' },
)

describe('the matching of the simulator of Hyperliquid', () => {
  it('is by price and then by time, as one would do it by hand', () => {
    fc.assert(
      fc.property(arriving, (orders) => {
        expect(simulated(orders)).to.deep.equal(reference(orders))
      }),
      { numRuns: 150 },
    )
  })
})
