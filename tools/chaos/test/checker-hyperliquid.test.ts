import { expect } from 'chai'
import { history, wallet } from './made-history.ts'
import { orderIdOf } from '../checker/orders.ts'
import type { Call, JournalEntry, Request } from '../history.ts'
import { checkHyperliquid } from '../hyperliquid/check-hyperliquid.ts'
import { liveActions } from '../hyperliquid/settle-hyperliquid.ts'
import { nameAtExchange, type ExchangeHistory, type KeptOrder, type ToldOrder } from '../hyperliquid/exchange-history.ts'

const market = 'HYPE-USDC'
const request: Request = { id: 1, op: 'order', wallet, market, key: 'one' }
const cancel: Request = { id: 2, op: 'cancel-order', wallet, market, order: 1 }
const kept: KeptOrder = { wallet, cloid: nameAtExchange(request), orderId: '7', status: 'open', amount: '1', filled: '0' }
const told: ToldOrder = { wallet, market, clientOrderId: orderIdOf(request), orderId: '7', state: 'OPEN', filledAmount: '0' }
const action = { txHash: '0xa0', from: '', nonce: 5, valueRaw: 0n, call: `{"orders":[{"c":"${kept.cloid}"}]}`, wasSent: true, entry: 'e' }
const entry: JournalEntry = {
  key: 'e',
  address: wallet,
  signer: wallet,
  kind: 'order',
  state: 'CONFIRMED',
  nonce: 5,
  rank: 0,
  requestId: 'call-1',
  idempotencyKey: 'one',
  attempts: [{ txHash: '0xa0', raw: '0x' }],
}
const done = { id: '0xa0', at: 2, ok: true }
const said = { is: 'answer', status: 200, text: '{}' } as const
const call = (outcome: Call['outcome'], of = request): Call => ({
  request: of.id,
  requestId: `call-${of.id}`,
  sentAt: 1,
  endedAt: 2,
  outcome,
})
const book = { at: 1, coin: '@107', time: 10, content: '39x1 | 40x1' }
const shown = { at: 2, pid: 1, market, sequence: 10, content: '39x1 | 40x1' }

/** What is not said is a run that all is well with. */
function found(of: Partial<ExchangeHistory>): string[] {
  const good: Omit<ExchangeHistory, keyof ReturnType<typeof history>> = {
    kept: [kept],
    told: [told],
    toldByName: [told],
    executed: [done],
    books: { told: [book], shown: [shown], atEnd: [{ market, shown: '', is: '' }] },
    wrongSums: [],
  }
  const before = history({ requests: [request, cancel], calls: [call(said)] })
  const run: ExchangeHistory = { ...before, ...good, journal: [entry], signed: [action], ...of }
  const mined = run.executed.map(({ id, ok }) => ({ txHash: id, from: '', to: '', nonce: 5, valueRaw: 0n, block: 1, ok }))
  return checkHyperliquid({ ...run, mined }).map(({ invariant, what }) => `${invariant} ${what}`)
}

const refused = call({ is: 'answer', status: 422, name: 'TRADE_FAILED', text: '{}' })

describe('the checker of orders on Hyperliquid', () => {
  it('finds nothing where all that was told is what the exchange has', () => {
    expect(found({})).to.deep.equal([])
    const over = { orderId: '7', state: 'CANCELED', filledAmount: '0.4' }
    const ended = { ...kept, status: 'canceled' as const, filled: '0.4' }
    expect(found({ kept: [ended], told: [{ ...told, ...over }], toldByName: [] })).to.deep.equal([])
    const failed: ToldOrder = { wallet, market, clientOrderId: orderIdOf(request), state: 'FAILED', filledAmount: '0' }
    const expired = { ...entry, state: 'EXPIRED' }
    expect(found({ kept: [], told: [failed], toldByName: [], executed: [], journal: [expired] })).to.deep.equal([])
  })

  it('finds an order that is there twice, that nobody asked for, or that nobody wanted cancelled', () => {
    expect(found({ kept: [kept, { ...kept, orderId: '8' }] })).to.include('I1 an order was placed more than once')
    expect(found({ kept: [kept, { ...kept, cloid: '0xff' }] })).to.deep.equal(['I1 an order is at the exchange that nobody asked for'])
    const over = { kept: [{ ...kept, status: 'canceled' as const }], told: [{ ...told, state: 'CANCELED' }], toldByName: [] }
    expect(found({ ...over, requests: [request] })).to.deep.equal(['I1 an order was cancelled that nobody wanted cancelled'])
  })

  it('finds what is left out, told twice, or told otherwise than it is', () => {
    expect(found({ told: [] })).to.deep.equal(['I1 an order is at the exchange that is not listed'])
    expect(found({ told: [told, told] })).to.deep.equal(['I1 an order is listed more than once'])
    expect(found({ told: [{ ...told, state: 'FILLED' }] })).to.deep.equal(['I5 said FILLED of an order that is OPEN'])
    expect(found({ toldByName: [{ ...told, filledAmount: '0.1' }] })).to.deep.equal(['I5 said that 0.1 was filled where 0 was'])
    expect(found({ kept: [], executed: [{ ...done, ok: false }], journal: [{ ...entry, state: 'REVERTED' }] })).to.include(
      'I5 said OPEN of an order that is not at the exchange',
    )
  })

  it('finds answers that are not true, or that differ', () => {
    expect(found({ calls: [call({ ...said, state: 'REJECTED' })] })).to.deep.equal(['I5 answered REJECTED of an order that is OPEN'])
    expect(found({ calls: [call({ ...said, state: 'CANCELED' }, cancel)] })).to.deep.equal([
      'I5 answered CANCELED of an order that is OPEN',
    ])
    const failed = { calls: [call(said), call({ ...said, state: 'FAILED' }, cancel)] }
    expect(found(failed)).to.deep.equal(['I5 answered FAILED of an order that is OPEN'])
    expect(found({ ...failed, journal: [entry, { ...entry, key: 'f', state: 'EXPIRED', attempts: [] }] })).to.deep.equal([])
    expect(found({ calls: [call({ ...said, orderId: '8' })] })).to.deep.equal(['I5 answered the id 8 where it is 7'])
    expect(found({ calls: [call(said), call({ ...said, text: '{"other":1}' })] })).to.deep.equal(['I3 one key got different answers'])
  })

  it('finds an order, or a cancel, after a definite error', () => {
    expect(found({ calls: [refused] })).to.include('I2 an order is at the exchange after a definite error')
    expect(found({ calls: [refused], kept: [], told: [], toldByName: [] })).to.include('I2 an order was sent after a definite error')
    const { idempotencyKey: _, ...unkeyed } = entry
    const cancelling = {
      ...unkeyed,
      key: 'f',
      kind: 'order-cancel',
      nonce: 6,
      requestId: 'call-2',
      attempts: [{ txHash: '0xb0', raw: '0x' }],
    }
    const error = { ...refused, request: cancel.id, requestId: 'call-2' }
    expect(found({ calls: [call(said), error], journal: [entry, cancelling], executed: [done, { ...done, id: '0xb0' }] })).to.deep.equal([
      'I2 an order was cancelled after a definite error',
    ])
  })

  it('finds a journal that says otherwise than the exchange did, and bytes that it does not have', () => {
    expect(found({ journal: [{ ...entry, state: 'EXPIRED' }] })).to.include('I1 the journal says EXPIRED and the exchange carried it out')
    const excluding = { ...entry, key: 'f', kind: 'cancel', state: 'EXPIRED', attempts: [{ txHash: '0xb0', raw: '0x' }] }
    const idle = { journal: [entry, excluding], executed: [done, { ...done, id: '0xb0' }] }
    expect(found(idle)).to.not.include('I1 the journal says EXPIRED and the exchange carried it out')
    expect(found({ executed: [] })).to.include('I1 the journal says CONFIRMED and the exchange shows no effect')
    const { entry: _, ...unknown } = action
    expect(found({ signed: [unknown] })).to.include('I1 bytes were sent that are not in the journal')
    expect(found({ journal: [entry, { ...entry, key: 'f' }] })).to.include('I4 two actions have one nonce')
    expect(found({ journal: [entry, { ...entry, key: 'f', signer: '0xa9' }] })).to.not.include('I4 two actions have one nonce')
  })

  it('finds bytes that the exchange would still carry out, not those whose nonce another action used', () => {
    const noop = { ...action, txHash: '0xb0', entry: 'f', call: '{"type":"noop"}', expiresAfter: 100 }
    const excluding: JournalEntry = { ...entry, key: 'f', kind: 'cancel', state: 'OVERTAKEN', attempts: [{ txHash: '0xb0' }] }
    const live = (of: { executed?: (typeof done)[]; excluding?: JournalEntry; now?: number }) => {
      const journal = [entry, of.excluding ?? excluding]
      return [...liveActions([{ ...action, expiresAfter: 60 }, noop], { journal, executed: of.executed ?? [], now: of.now ?? 50 })]
    }
    expect(live({})).to.deep.equal(['0xa0', '0xb0'])
    expect(live({ now: 61 })).to.deep.equal(['0xb0'])
    expect(live({ now: 101 })).to.deep.equal([])
    expect(live({ executed: [done] }), 'the order was placed').to.deep.equal([])
    expect(live({ executed: [{ ...done, id: '0xb0' }] }), 'the order was excluded').to.deep.equal([])
    expect(live({ executed: [done], excluding: { ...excluding, signer: '0xa9' } }), 'of another signer').to.deep.equal(['0xb0'])
    expect(found({ signed: [action, noop], journal: [entry, excluding], live: new Set(['0xb0']) })).to.include(
      'I6 signed bytes are not mined and still can be',
    )
  })

  it('finds books that the exchange never had, that go back, that are old, or that are not its last', () => {
    const books = (of: Partial<ExchangeHistory['books']>) => found({ books: { told: [book], shown: [], atEnd: [], ...of } })
    expect(books({ shown: [{ ...shown, content: ' | 40x1' }] })).to.deep.equal(['I5 a book was shown that the exchange never told of'])
    const later = { ...book, at: 3, time: 11, content: '39x2 | 40x1' }
    expect(books({ told: [book, later], shown: [{ ...shown, sequence: 11, content: later.content }, shown] })).to.deep.equal([
      'I5 a book was shown after a newer one',
    ])
    expect(books({ told: [book, later], shown: [{ ...shown, at: 100_000 }] })).to.deep.equal([
      'I5 a book was shown long after the exchange had told another',
    ])
    expect(books({ atEnd: [{ market, shown: 'nothing', is: '39x1 | ' }] })).to.deep.equal(['I5 the last book is not what the exchange has'])
  })

  it('finds what is still open, and money that does not add up', () => {
    expect(found({ journal: [{ ...entry, state: 'SIGNED' }] })).to.include('I6 still SIGNED 11 blocks after the faults ended')
    expect(found({ wrongSums: ['1 of USDC is lost'] })).to.deep.equal(['I1 money does not add up'])
  })
})
