import { expect } from 'chai'
import { orderStates, orderTypes, timesInForce, type BookMarket } from '../../../core/contracts/index.ts'
import { OrderStates } from '../../../core/api/clob.ts'
import { OrderTypes, TimesInForce } from '../../../core/api/clob-markets.ts'
import { orderState, showJournaled, type OrderFacts } from '../../../core/handlers/clob/order-state.ts'
import { newEntry } from '../../transactions/journal/entries.ts'

const landed = { id: 'a', ok: true, blockNumber: 1, receipt: null }
const facts = (entry: OrderFacts['entry'], more: Partial<OrderFacts> = {}): OrderFacts => ({ entry, cancelling: false, ...more })
const open = { orderId: '7', state: 'OPEN', filledAmount: '0' } as const

describe('the state of an order', () => {
  it('has the same values in the API and in the plugin interface', () => {
    expect([OrderStates, OrderTypes, TimesInForce]).to.deep.equal([orderStates, orderTypes, timesInForce])
  })

  for (const [what, given, expected] of [
    ['is PENDING_OPEN while its transaction is pending', facts({ state: 'BROADCAST' }), { state: 'PENDING_OPEN', filledAmount: '0' }],
    [
      'is PENDING_CANCEL while its transaction is being replaced',
      facts({ state: 'BROADCAST', replacedBy: '0x1' }),
      { state: 'PENDING_CANCEL', filledAmount: '0' },
    ],
    [
      'is FAILED if it never reached the exchange',
      facts({ state: 'EXPIRED', reason: 'too late' }),
      { state: 'FAILED', filledAmount: '0', reason: 'too late' },
    ],
    [
      'is REJECTED if the exchange refused it',
      facts({ state: 'REVERTED', landed: { ...landed, ok: false }, reason: 'paused' }, { outcome: { state: 'OPEN' } }),
      { state: 'REJECTED', filledAmount: '0', reason: 'paused' },
    ],
    [
      "is the receipt's until the exchange reports the order",
      facts({ state: 'MINED', landed }, { outcome: { ...open, filledAmount: '0.5', averagePrice: '9', state: 'PARTIALLY_FILLED' } }),
      { ...open, filledAmount: '0.5', averagePrice: '9', state: 'PARTIALLY_FILLED' },
    ],
    [
      "is the exchange's once it reports the order",
      facts({ state: 'CONFIRMED', landed }, { outcome: open, exchange: { ...open, state: 'FILLED', filledAmount: '2' } }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
    [
      'is the end state of the receipt while the exchange is behind',
      facts({ state: 'CONFIRMED', landed }, { outcome: { ...open, state: 'FILLED', filledAmount: '2' }, exchange: open }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
    [
      'is the end state of the receipt, whatever the exchange reports later',
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
      'is the stored report once the exchange has dropped the order',
      facts(
        { state: 'CONFIRMED', landed },
        { outcome: open, report: { orderId: '7', state: 'CANCELED', filledAmount: '1', reason: 'by hand' } },
      ),
      { orderId: '7', state: 'CANCELED', filledAmount: '1', reason: 'by hand' },
    ],
    [
      'is PENDING_CANCEL while a cancel from this server is pending',
      facts({ state: 'CONFIRMED', landed }, { outcome: open, exchange: open, cancelling: true }),
      { ...open, state: 'PENDING_CANCEL' },
    ],
    [
      'is the end state, even while a cancel is pending',
      facts({ state: 'CONFIRMED', landed }, { exchange: { ...open, state: 'FILLED', filledAmount: '2' }, cancelling: true }),
      { ...open, state: 'FILLED', filledAmount: '2' },
    ],
  ] as const) {
    it(what, () => {
      expect(orderState(given)).to.deep.equal(expected)
    })
  }

  it('has what was filled where the exchange tells only what is left', () => {
    const entry = newEntry({ kind: 'order', state: 'CONFIRMED', landed: { ...landed, blockNumber: 1 } })
    const market = { id: 'weth', base: 'WETH', quote: 'DAI' } as BookMarket
    const about = { side: 'SELL', orderType: 'LIMIT', timeInForce: 'GTC', price: '3000', amount: '3' }
    const order = { key: '1', entry, clientOrderId: 'bot', type: 'CLOB', market: 'WETH-DAI', index: 0, about, fills: [] }
    for (const [leftAmount, filledAmount, state] of [
      ['1.25', '1.75', 'PARTIALLY_FILLED'],
      ['3', '0', 'OPEN'],
    ] as const) {
      const left = { orderId: '7', market, side: 'SELL', orderType: 'LIMIT', price: '3000', amount: leftAmount, filledAmount: '0' } as const
      const exchange = { ...left, leftAmount, state: 'OPEN', createdAt: 1, updatedAt: 1 } as const
      expect(showJournaled(order, { exchange, outcome: open, cancelling: false })).to.include({ amount: '3', filledAmount, state })
    }
  })
})
