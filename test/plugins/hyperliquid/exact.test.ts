import { expect } from 'chai'
import * as fc from 'fast-check'
import { cloidOf, progressOf } from '../../../plugins/hyperliquid/orders.ts'
import { outcomeOf } from '../../../plugins/hyperliquid/order-plans.ts'
import { resultOf } from '../../../plugins/hyperliquid/send.ts'
import { createClaim, noncesFrom } from '../../../plugins/hyperliquid/nonces.ts'

describe("Hyperliquid's nonces", () => {
  it('increase and never repeat, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: 1, max: 5 })), { maxLength: 50 }), (steps) => {
        let now = 1_700_000_000_000
        const claim = createClaim(() => now)
        const given: number[] = []
        for (const [step, count] of steps) {
          now += step
          given.push(...claim({ aheadMs: 0 }, [], count).map(({ nonce }) => nonce))
        }
        expect(given).to.deep.equal([...new Set(given)].toSorted((a, b) => a - b))
      }),
    )
  })

  it("exceed those that are held, and follow the exchange's clock", () => {
    const claim = createClaim(() => 1000)
    expect(claim({ aheadMs: 500 }, [], 1)).to.deep.equal([{ nonce: 1500 }])
    expect(claim({ aheadMs: 0 }, [{ nonce: 9000 }], 2)).to.deep.equal([{ nonce: 9001 }, { nonce: 9002 }])
  })

  it('must lie in the window that the exchange accepts where a caller gives them', () => {
    const now = 1_700_000_000_000
    const day = 86_400_000
    expect(noncesFrom({ aheadMs: 0 }, now, 2, now)).to.deep.equal([{ nonce: now }, { nonce: now + 1 }])
    for (const nonce of [7, now - 2 * day, now + 60_000, now + day / 2])
      expect(() => noncesFrom({ aheadMs: 0 }, nonce, 1, now)).to.throw('milliseconds')
  })
})

describe('a client order id at Hyperliquid', () => {
  it("has 128 bits, derived from network, wallet and the caller's id", () => {
    const owner = { chain: 'hyperliquid', network: 'testnet', user: '0x01' }
    const ids = [
      cloidOf(owner, 'a'),
      cloidOf(owner, 'b'),
      cloidOf({ ...owner, network: 'mainnet' }, 'a'),
      cloidOf({ ...owner, user: '0x02' }, 'a'),
    ]
    expect(new Set(ids).size).to.equal(4)
    for (const id of ids) expect(id).to.match(/^0x[0-9a-f]{32}$/)
    expect(cloidOf(owner, 'a')).to.equal(ids[0])
  })
})

describe("Hyperliquid's statuses", () => {
  const order = { coin: 'ETH', side: 'B', limitPx: '1', sz: '0.4', origSz: '1.0', oid: 7, timestamp: 1, tif: 'Gtc' } as const
  const judged = (status: string, more = {}) => progressOf({ order: { ...order, ...more }, status, statusTimestamp: 1 })

  it('map to our states of an order, also for new texts', () => {
    expect(judged('open')).to.deep.equal({ state: 'PARTIALLY_FILLED', filledAmount: '0.6' })
    expect(judged('open', { sz: '1.0' })).to.deep.equal({ state: 'OPEN', filledAmount: '0' })
    expect(judged('filled')).to.deep.equal({ state: 'FILLED', filledAmount: '1' })
    expect(judged('internalCanceled')).to.deep.equal({ state: 'CANCELED', filledAmount: '0.6' })
    expect(judged('scheduledCancel').state).to.equal('CANCELED')
    expect(judged('somethingNewRejected')).to.deep.equal({ state: 'REJECTED', filledAmount: '0' })
  })

  it('apply to all orders of an action where there is only one for all', () => {
    const memo = { actions: Array.from({ length: 3 }, () => ({ do: 'create', amount: '1', timeInForce: 'GTC' })) }
    const outcomes = outcomeOf({ statuses: [{ error: 'Order has invalid price.' }] }, memo)
    expect(outcomes).to.deep.equal(Array.from({ length: 3 }, () => ({ state: 'REJECTED', reason: 'Order has invalid price.' })))
  })

  it('match orders only if their numbers agree, so that no accepted order counts as refused', () => {
    const memo = { actions: Array.from({ length: 2 }, () => ({ do: 'create', amount: '1', timeInForce: 'GTC' })) }
    for (const statuses of [[{ resting: { oid: 7 } }], [], [{ error: 'a' }, { error: 'b' }, { error: 'c' }], ['success']])
      expect(() => outcomeOf({ statuses }, memo), JSON.stringify(statuses)).to.throw('different number')
  })

  it('end a partly filled order that does not rest', () => {
    const receipt = { statuses: [{ filled: { oid: 7, totalSz: '0.4', avgPx: '2.50' } }] }
    const of = (timeInForce: string) => outcomeOf(receipt, { actions: [{ do: 'create', amount: '1', timeInForce }] })[0]
    expect(of('IOC')).to.deep.equal({ orderId: '7', state: 'CANCELED', filledAmount: '0.4', averagePrice: '2.5' })
    expect(of('GTC')).to.include({ state: 'PARTIALLY_FILLED' })
  })

  it('either end an action or say that it may still be carried out', () => {
    const err = (response: string) => resultOf({ status: 'err', response }, undefined, true)
    expect(err('Invalid nonce: duplicate nonce 1741107452532')).to.include({ is: 'refused', meaning: 'sequence-used' })
    expect(err('Action already expired')).to.include({ is: 'refused', meaning: 'invalid' })
    expect(err('Too many cumulative requests sent (10000 > 9999)')).to.include({ is: 'refused', meaning: 'not-now' })
    for (const trouble of ['Internal error', 'The request timed out', 'Request timeout, try again'])
      expect(err(trouble)).to.include({ is: 'unclear', reason: trouble })
    expect(err('Insufficient balance for withdrawal.')).to.have.nested.property('landed.ok', false)
    expect(resultOf({ status: 'ok', response: { type: 'default' } }, undefined, true)).to.have.nested.property('landed.ok', true)
    const said = (...statuses: unknown[]) => ({ status: 'ok', response: { type: 'order', data: { statuses } } })
    expect(resultOf(said('success', { error: 'x' }), 2, true)).to.have.nested.property('landed.ok', true)
    expect(resultOf(said({ error: 'x' }), 2, true)).to.have.nested.property('landed.ok', false)
    for (const odd of [said('success'), said(), said('success', 'success', 'success'), { status: 'ok', response: { type: 'default' } }])
      expect(resultOf(odd, 2, true), JSON.stringify(odd)).to.include({ is: 'unclear' })
    for (const odd of [null, 'ok', [], { status: 'ok' }, { status: 'maybe', response: 'x' }, said('odd')])
      expect(resultOf(odd, undefined, true), JSON.stringify(odd)).to.include({ is: 'unclear' })
  })
})
