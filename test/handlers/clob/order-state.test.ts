import { expect } from 'chai'
import { orderStates, orderTypes, timesInForce } from '../../../core/contracts/index.ts'
import { OrderStates, OrderTypes, TimesInForce } from '../../../core/api/clob.ts'
import { orderState, type OrderFacts } from '../../../core/handlers/clob/order-state.ts'

const landed = { id: 'a', ok: true, blockNumber: 1, receipt: null }
const facts = (entry: OrderFacts['entry'], more: Partial<OrderFacts> = {}): OrderFacts => ({ entry, cancelling: false, ...more })
const open = { orderId: '7', state: 'OPEN', filledAmount: '0' } as const

describe('the state of an order', () => {
  it('has the words that plugins use', () => {
    expect([OrderStates, OrderTypes, TimesInForce]).to.deep.equal([orderStates, orderTypes, timesInForce])
  })

  for (const [what, given, expected] of [
    ['is pending while its transaction is under way', facts({ state: 'BROADCAST' }), { state: 'PENDING_OPEN', filledAmount: '0' }],
    [
      'is being cancelled while its transaction is',
      facts({ state: 'BROADCAST', replacedBy: '0x1' }),
      { state: 'PENDING_CANCEL', filledAmount: '0' },
    ],
    [
      'is FAILED where it never came to the exchange',
      facts({ state: 'EXPIRED', reason: 'too late' }),
      { state: 'FAILED', filledAmount: '0', reason: 'too late' },
    ],
    [
      'is REJECTED where the exchange refused it',
      facts({ state: 'REVERTED', landed: { ...landed, ok: false }, reason: 'paused' }, { outcome: { state: 'OPEN' } }),
      { state: 'REJECTED', filledAmount: '0', reason: 'paused' },
    ],
    [
      "is its receipt's until the exchange says more",
      facts({ state: 'MINED', landed }, { outcome: { ...open, filledAmount: '0.5', averagePrice: '9', state: 'PARTIALLY_FILLED' } }),
      { ...open, filledAmount: '0.5', averagePrice: '9', state: 'PARTIALLY_FILLED' },
    ],
    [
      "is the exchange's, once it knows the order",
      facts({ state: 'CONFIRMED', landed }, { outcome: open, exchange: { ...open, state: 'FILLED', filledAmount: '2' } }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
    [
      'has ended where the receipt says so, though the exchange is read from behind',
      facts({ state: 'CONFIRMED', landed }, { outcome: { ...open, state: 'FILLED', filledAmount: '2' }, exchange: open }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
    [
      'is what its receipt says that it ended as, whatever is read or was kept of it later',
      facts(
        { state: 'CONFIRMED', landed },
        {
          outcome: { ...open, state: 'CANCELED', filledAmount: '0.4' },
          exchange: { ...open, state: 'FILLED', filledAmount: '1' },
          report: { ...open, state: 'FILLED', filledAmount: '1' },
        },
      ),
      { ...open, state: 'CANCELED', filledAmount: '0.4' },
    ],
    [
      'is what was kept of it, once the exchange has forgotten it',
      facts(
        { state: 'CONFIRMED', landed },
        { outcome: open, report: { orderId: '7', state: 'CANCELED', filledAmount: '1', reason: 'by hand' } },
      ),
      { orderId: '7', state: 'CANCELED', filledAmount: '1', reason: 'by hand' },
    ],
    [
      'is being cancelled while a cancel of ours is under way',
      facts({ state: 'CONFIRMED', landed }, { outcome: open, exchange: open, cancelling: true }),
      { ...open, state: 'PENDING_CANCEL' },
    ],
    [
      'is what it ended as, though a cancel is under way',
      facts({ state: 'CONFIRMED', landed }, { exchange: { ...open, state: 'FILLED', filledAmount: '2' }, cancelling: true }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
  ] as const) {
    it(what, () => {
      expect(orderState(given)).to.deep.equal(expected)
    })
  }
})
