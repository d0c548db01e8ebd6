import { expect } from 'chai'
import { checkSwaps, type DeliveryBook } from '../hummingbot/check-swaps.ts'
import { knownOf } from '../checker/known.ts'
import { entry, history, mined, signed, wallet } from './made-history.ts'
import type { History } from '../history.ts'
import type { SwapOrder } from '../hummingbot/swap-bots.ts'
import type { SwapOutcome } from '../hummingbot/swap-calls.ts'

const amountRaw = 100n
/** As a server writes it: with every decimal of its token. */
const amountText = '0.000000000000000100'
const intent = { id: 1, wants: 'one', amountRaw, wallet } as const
const [first, second] = [signed(0, amountRaw), signed(1, amountRaw)]
const firstEntry = entry('CONFIRMED', [first], { requestId: 'a', idempotencyKey: 'once-a' })
const secondEntry = entry('CONFIRMED', [second], { requestId: 'b', idempotencyKey: 'once-b' })
const one: Partial<History> = { mined: [mined(first)], journal: [firstEntry] }
const two: Partial<History> = { mined: [mined(first), mined(second)], journal: [firstEntry, secondEntry] }

const answerOf = ({ txHash: signature }: { txHash: string }, amountIn = amountText): SwapOutcome => ({
  is: 'signature',
  signature,
  isMined: true,
  amountIn,
  text: '',
})
const refusal: SwapOutcome = { is: 'refusal', status: 422, name: 'INSUFFICIENT_BALANCE', code: '', text: '' }
const lostAfter = (unread?: { txHash: string }): SwapOutcome => ({ is: 'lost', reason: 'ECONNRESET', unread: () => unread?.txHash })

const filledBy = (signature: { txHash: string }, ...outcomes: readonly SwapOutcome[]): SwapOrder => ({
  ...orderOf('filled', ...outcomes, answerOf(signature)),
  signature: signature.txHash,
})
const orderOf = (booked: SwapOrder['booked'], ...outcomes: readonly SwapOutcome[]): SwapOrder => ({
  intent,
  version: '2.17',
  way: 'tls',
  calls: outcomes.map((outcome, index) => ({ requestId: ['a', 'b', 'c'][index] ?? '', sentAt: 0, endedAt: 0, outcome })),
  booked,
})

interface Book {
  states: Readonly<Record<string, string>>
  /** Milliseconds; the orders' answers come at 0. */
  deaths: Readonly<Record<string, readonly number[]>>
}

function found(orders: readonly SwapOrder[], of: Partial<History>, { states = {}, deaths = {} }: Partial<Book> = {}): string[] {
  const book: DeliveryBook = { states: new Map(Object.entries(states)), openAtDeaths: new Map(Object.entries(deaths)) }
  return checkSwaps(orders, book)(knownOf(history(of))).map(({ invariant, what }) => `${invariant} ${what}`)
}

const tooOften = 'I1 an amount was traded more often than its bots know, and no answer was lost on the way'
const unsaid = 'I1 a trade of which no bot knows is not in the book of lost answers'
const doubled = 'I1 two orders were answered with one transaction'

describe('the checker of swaps without keys', () => {
  it('finds nothing where each order has its transaction, or none and knows it', () => {
    expect(found([filledBy(first)], one)).to.deep.equal([])
    expect(found([filledBy(first, lostAfter())], one)).to.deep.equal([])
    expect(found([filledBy(first), filledBy(second)], two)).to.deep.equal([])
    expect(found([orderOf('refused', refusal)], {})).to.deep.equal([])
  })

  it('finds a second trade of one order, unless a line took the answer of that very trade', () => {
    expect(found([filledBy(second, lostAfter())], two)).to.deep.equal([tooOften])
    expect(found([filledBy(second, lostAfter(second))], two)).to.deep.equal([tooOften])
    expect(found([filledBy(second, lostAfter(first))], two)).to.deep.equal([])
    expect(found([orderOf('refused', lostAfter(), refusal)], { ...one, journal: [entry('CONFIRMED', [first])] })).to.deep.equal([tooOften])
  })

  it('finds both also where a line took the answer, or a server died, on the way through the proxy, which reports what was read', () => {
    const proxied = (order: SwapOrder): SwapOrder => ({ ...order, way: 'proxy' })
    expect(found([proxied(filledBy(second, lostAfter(first)))], two)).to.deep.equal([tooOften])
    const orders = [proxied(filledBy(first)), proxied(filledBy(first))]
    expect(found(orders, one, { deaths: { 'once-a': [1] } })).to.deep.equal([doubled])
  })

  it('finds a trade of an order that never learned of it, unless the server says that its answer was lost', () => {
    for (const state of ['lost', 'uncollected', 'open'])
      expect(found([orderOf('unknown', lostAfter())], one, { states: { 'once-a': state } })).to.deep.equal([])
    expect(found([orderOf('unknown', lostAfter())], one)).to.deep.equal([unsaid])
    expect(found([orderOf('unknown', lostAfter())], two, { states: { 'once-a': 'lost', 'once-b': 'lost' } })).to.deep.equal([tooOften])
  })

  it('finds one transaction of two orders, unless a server died before it wrote down that the first had it', () => {
    const orders = [filledBy(first), filledBy(first)]
    expect(found(orders, one)).to.deep.equal([doubled])
    expect(found(orders, one, { deaths: { 'once-b': [1] } })).to.deep.equal([doubled])
    expect(found(orders, one, { deaths: { 'once-a': [1] } })).to.deep.equal([])
    expect(found([...orders, filledBy(first)], one, { deaths: { 'once-a': [1] } })).to.deep.equal([doubled])
    expect(found(orders, two, { states: { 'once-b': 'open' }, deaths: { 'once-a': [1] } })).to.deep.equal([])
    expect(found(orders, two, { states: { 'once-b': 'delivered' }, deaths: { 'once-a': [1] } })).to.deep.equal([unsaid])
    expect(found(orders, two, { states: { 'once-b': 'open' } })).to.deep.equal([doubled])
    const late = orders.map((order) => ({ ...order, calls: order.calls.map((call) => ({ ...call, endedAt: 5_000 })) }))
    expect(found(late, two, { states: { 'once-b': 'open' }, deaths: { 'once-a': [1] } }), 'nobody had read it').to.deep.equal([doubled])
    const another = { ...filledBy(first), intent: { ...intent, id: 2 } }
    expect(found([filledBy(first), another], one, { deaths: { 'once-a': [1] } })).to.include(doubled)
  })

  it('finds a fill that is not on the chain, of another amount or of another wallet, and an answer that says another amount', () => {
    const foreign = 'I1 an order was answered with a transaction of another amount or wallet'
    expect(found([filledBy(first)], { journal: [firstEntry] })).to.deep.equal(['I1 a bot booked a fill that is not on the chain'])
    const more = { ...filledBy(first), intent: { ...intent, amountRaw: 101n } }
    expect(found([more, orderOf('unknown')], one, { states: { 'once-a': 'lost' } })).to.include(foreign)
    const other = { ...filledBy(first), intent: { ...intent, wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } }
    expect(found([other], one)).to.deep.equal([foreign])
    const told = { ...orderOf('filled', answerOf(first, '0.1')), signature: first.txHash }
    expect(found([told], one)).to.deep.equal(['I5 an answer says another amount than was swapped'])
  })

  it('finds what was signed and refused, and what makes a client send it again', () => {
    expect(found([orderOf('refused', refusal)], one)).to.include('I2 what was signed and is on the chain was refused')
    const again: SwapOutcome = { is: 'refusal', status: 504, name: 'TIMEOUT', code: 'TRANSACTION_TIMEOUT', text: 'TRANSACTION_TIMEOUT' }
    expect(found([orderOf('refused', again)], {})).to.deep.equal(['I2 an answer makes the client send a swap again'])
    expect(found([orderOf('unknown', answerOf({ txHash: '' }))], {})).to.deep.equal(['I2 a swap was answered without a signature'])
  })

  it('finds what nobody asked for, what is in no journal, and a poll that does not know its own', () => {
    expect(found([], one)).to.deep.equal(['I1 a trade was mined that nobody asked for'])
    expect(found([], { mined: [mined(first)] })).to.deep.equal(['I1 a transaction was mined that is not in the journal'])
    const samples = [{ at: 1, via: 'poll', txHash: first.txHash, txStatus: -2 } as const]
    expect(found([filledBy(first)], { ...one, samples })).to.deep.equal(['I5 said -2 of what the journal knows'])
  })
})
