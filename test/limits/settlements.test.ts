import { expect } from 'chai'
import type { Reservation } from '../../core/limits/reservations.ts'
import { actualOf, type SettlementReader } from '../../core/limits/settlements.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const one = 1n << 128n
/** It gives 100 for 99 at least; one unit of each is worth 1. */
const reserved = {
  amounts: { loss: 1n, 'gas:ethereum/local': 9n, 'token:ethereum/local/in': 100n },
  gives: { in: 100n },
  prices: { in: one, out: one },
  medianPrices: { in: one, out: one },
} as unknown as Reservation

describe('what a trade is settled to', () => {
  const lossOf = (gains: Record<string, bigint>, of: Partial<SettlementReader> = {}) => {
    const entry = {
      kind: 'trade',
      chain: 'ethereum',
      network: 'local',
      part: { index: 0, of: 1 },
      landed: { ok: true },
    } as unknown as Entry
    const reader = { gains: () => new Map(Object.entries(gains)), tells: () => 'all', gasCost: () => 1n, heldChanges: () => [], ...of }
    return actualOf(entry, [], reserved, reader as SettlementReader).amounts['loss']
  }

  it('is what it gave less what it got', () => {
    expect(lossOf({ in: -100n, out: 60n })).to.equal(41n)
    expect(lossOf({ in: -100n, out: 100n })).to.equal(1n)
  })

  it('is all that it gave where it got nothing for it', () => {
    expect(lossOf({ in: -100n })).to.equal(101n)
    expect(lossOf({ in: -30n, out: 0n })).to.equal(31n)
  })

  it('is what was reserved where the receipts do not tell all of it, or nothing was given', () => {
    expect(lossOf({ in: -100n }, { tells: () => 'what it gives' })).to.equal(1n)
    expect(lossOf({ other: -100n })).to.equal(1n)
    expect(lossOf({ out: 50n })).to.equal(1n)
    expect(lossOf({})).to.equal(1n)
  })
})

describe('what a deposit into a range is settled to', () => {
  const made = { tokens: ['in', 'out'], amounts: [100n, 0n], liquidity: 1_000n, lossMicros: 60n } as const
  /** 7 of the loss is the price of the pool being off the market. */
  const held = {
    ...reserved,
    amounts: { loss: 67n },
    exchanged: { gives: {}, gets: {}, lossMicros: 67n, prices: {}, made },
  } as unknown as Reservation
  const lossOf = (done: object | undefined, of: object = {}) => {
    const entry = { kind: 'liquidity', chain: 'ethereum', network: 'local', part: { index: 0, of: 1 }, landed: { ok: true }, ...of }
    const reader = { gains: () => undefined, tells: () => undefined, gasCost: () => 1n, heldChanges: () => [], liquidityMade: () => done }
    return actualOf(entry as unknown as Entry, [], held, reader as unknown as SettlementReader).amounts['loss']
  }

  it('is what was taken less what its liquidity was at the price of the request, and the loss by that price', () => {
    expect(lossOf({ liquidity: 1_000n, amount0Raw: 100n, amount1Raw: 0n })).to.equal(7n)
    expect(lossOf({ liquidity: 1_000n, amount0Raw: 0n, amount1Raw: 140n })).to.equal(7n + 41n)
    expect(lossOf({ liquidity: 500n, amount0Raw: 0n, amount1Raw: 70n })).to.equal(7n + 21n)
    expect(lossOf({ liquidity: 1_000n, amount0Raw: 0n, amount1Raw: 90n })).to.equal(7n)
  })

  it('is what was reserved where it waited, where nobody can tell, and never more', () => {
    const taken = { liquidity: 1_000n, amount0Raw: 100n, amount1Raw: 0n }
    expect(lossOf(taken, { landed: { ok: true, seenAt: 1 } })).to.equal(67n)
    expect(lossOf(taken, { part: { index: 0, of: 2 } })).to.equal(67n)
    expect(lossOf(undefined)).to.equal(67n)
    expect(lossOf({ liquidity: 0n, amount0Raw: 100n, amount1Raw: 0n })).to.equal(67n)
    expect(lossOf({ liquidity: 1_000n, amount0Raw: 0n, amount1Raw: 400n })).to.equal(67n)
  })
})
