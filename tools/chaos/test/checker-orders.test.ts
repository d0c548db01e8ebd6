import { expect } from 'chai'
import { orderIdOf, orders as judge } from '../checker/orders.ts'
import { knownOf } from '../checker/known.ts'
import { history, mined, signed, wallet } from './made-history.ts'
import type { History, OfferEvent, Orders, Request, ToldOrder } from '../history.ts'

const amountRaw = 100n
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const placed = signed(0, amountRaw)
const request: Request = { id: 1, op: 'order', wallet, valueRaw: amountRaw }
const told: ToldOrder = { wallet, clientOrderId: orderIdOf(request), orderId: '7', side: 'SELL', state: 'OPEN', filledRaw: 0n }
const made: OfferEvent = { txHash: placed.txHash, is: 'made', orderId: '7', maker: wallet }
const takenBy = (baseRaw: bigint): OfferEvent => ({ txHash: '0xb0', is: 'taken', orderId: '7', maker: wallet, taker: other, baseRaw })
const killed: OfferEvent = { txHash: '0xc0', is: 'killed', orderId: '7', maker: wallet }
/** Met another's offer on its way in. */
const taking: OfferEvent = { txHash: placed.txHash, is: 'taken', orderId: '3', maker: other, taker: wallet, baseRaw: 40n }

function found(orders: Partial<Orders>, more: Partial<History> = {}): string[] {
  const of = { told: [told], events: [made], left: new Set(['7']), ...orders }
  const known = knownOf(history({ requests: [request], mined: [mined(placed)], ...more, orders: of }))
  return judge(known).map(({ invariant, what }) => `${invariant} ${what}`)
}

describe('the checker of orders', () => {
  it('finds nothing where what is told of an order is what the chain has of it', () => {
    const partly = { ...told, state: 'PARTIALLY_FILLED', filledRaw: 30n }
    const { orderId: _, ...atOnce } = { ...told, filledRaw: 40n }
    expect(found({})).to.deep.equal([])
    expect(found({ told: [partly], events: [made, takenBy(30n)] })).to.deep.equal([])
    expect(found({ told: [{ ...partly, filledRaw: 70n }], events: [taking, made, takenBy(30n)] })).to.deep.equal([])
    expect(found({ told: [{ ...told, state: 'FILLED', filledRaw: 100n }], events: [made, takenBy(100n)], left: new Set() })).to.deep.equal(
      [],
    )
    expect(found({ told: [{ ...partly, state: 'CANCELED' }], events: [made, takenBy(30n), killed], left: new Set() })).to.deep.equal([])
    for (const state of ['FILLED', 'CANCELED']) expect(found({ told: [{ ...atOnce, state }], events: [taking] })).to.deep.equal([])
    for (const state of ['FAILED', 'REJECTED'])
      expect(found({ told: [{ ...told, state }], events: [], left: new Set() }, { mined: [] })).to.deep.equal([])
    expect(found({ told: [], events: [], left: new Set() }, { mined: [mined(placed, false)] })).to.deep.equal([])
  })

  it('finds an order that is not listed, or twice', () => {
    expect(found({ told: [] })).to.deep.equal(['I1 an order was placed that is not listed'])
    expect(found({ told: [told, told] })).to.deep.equal(['I1 an order is listed more than once'])
  })

  it('finds what is told of one that was never placed, and the other way round', () => {
    expect(found({}, { mined: [] })).to.deep.equal(['I5 said OPEN of an order that was never placed'])
    expect(found({ told: [{ ...told, state: 'FAILED' }] })).to.deep.equal(['I5 said FAILED of an order that was placed'])
  })

  it('finds a wrong id, a wrong amount and a wrong state', () => {
    expect(found({ told: [{ ...told, orderId: '8' }] })).to.deep.equal(['I5 said that its id is 8 where it is 7'])
    expect(found({ events: [made, takenBy(30n)] })).to.deep.equal(['I5 said that 0 was filled where 30 was'])
    expect(found({ events: [made, killed], left: new Set() })).to.deep.equal(['I5 said OPEN of an order that is CANCELED'])
    expect(found({ told: [{ ...told, state: 'CANCELED' }] })).to.deep.equal(['I5 said CANCELED of an order that is OPEN'])
    expect(found({ events: [made, { ...made, orderId: '8' }] })).to.deep.equal(['I5 one order made two offers'])
  })
})
