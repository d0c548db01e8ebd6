import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Book, BookUpdate } from '../../core/contracts/index.ts'
import { createStreamBook } from '../../core/live-state/stream-book.ts'

type Change = BookUpdate & { is: 'change' }

const snapshot = (sequence: number, buys: Record<string, string> = {}, sells: Record<string, string> = {}): BookUpdate => ({
  is: 'snapshot',
  sequence,
  timestamp: sequence * 10,
  book: { buys: levels(buys, -1), sells: levels(sells, 1) },
})
const levels = (side: Record<string, string>, direction: number) =>
  Object.entries(side)
    .map(([price, quantity]) => ({ price, quantity }))
    .toSorted((a, b) => direction * (Number(a.price) - Number(b.price)))
const change = (follows: number, sequence: number, ...changes: [side: 'buys' | 'sells', price: string, quantity: string][]): Change => ({
  is: 'change',
  follows,
  sequence,
  timestamp: sequence * 10,
  levels: changes.map(([side, price, quantity]) => ({ side, price, quantity })),
})

describe('the book of a stream', () => {
  it('begins with a snapshot and applies changes', () => {
    const book = createStreamBook()
    expect(book.status).to.equal('waiting')
    expect(book.take(snapshot(5, { 9: '1', 8: '2' }, { 10: '1' }))).to.equal('changed')
    expect(book.take(change(5, 6, ['buys', '8', '0'], ['buys', '9.5', '3'], ['sells', '10.0', '4']))).to.equal('changed')
    expect(book.book()).to.deep.equal({
      buys: [
        { price: '9.5', quantity: '3' },
        { price: '9', quantity: '1' },
      ],
      sells: [{ price: '10', quantity: '4' }],
    })
    expect([book.status, book.sequence, book.timestamp]).to.deep.equal(['good', 6, 60])
  })

  it('ignores updates that it has already, or older ones', () => {
    const book = createStreamBook()
    book.take(snapshot(5, { 9: '1' }))
    book.take(change(5, 6, ['buys', '9', '2']))
    const before = book.book()
    expect(book.take(snapshot(5, { 7: '1' }))).to.equal('ignored')
    expect(book.take(change(5, 6, ['buys', '9', '3']))).to.equal('ignored')
    expect(book.take(change(3, 4, ['buys', '9', '3']))).to.equal('ignored')
    expect(book.take(snapshot(6, { 9: '2' }))).to.equal('confirmed')
    expect(book.book()).to.equal(before)
  })

  it('has a gap until a missing change arrives', () => {
    const book = createStreamBook()
    book.take(snapshot(1, { 9: '1' }))
    expect(book.take(change(2, 3, ['buys', '8', '3']))).to.equal('changed')
    expect(book.status).to.equal('gap')
    expect(book.take(change(3, 4, ['buys', '7', '4']))).to.equal('ignored')
    expect(book.take(change(1, 2, ['buys', '9', '2']))).to.equal('changed')
    expect([book.status, book.sequence]).to.deep.equal(['good', 4])
    expect(book.book().buys.map(({ price, quantity }) => [price, quantity])).to.deep.equal([
      ['9', '2'],
      ['8', '3'],
      ['7', '4'],
    ])
  })

  it('repairs a gap by a snapshot, and then applies the changes that came early', () => {
    const book = createStreamBook()
    book.take(snapshot(1, { 9: '1' }))
    book.take(change(3, 4, ['buys', '7', '4']))
    expect(book.take(snapshot(3, { 6: '1' }))).to.equal('changed')
    expect([book.status, book.sequence]).to.deep.equal(['good', 4])
    expect(book.book().buys.map(({ price }) => price)).to.deep.equal(['7', '6'])
  })

  it('stays lost until the next snapshot, whose sequence may start again', () => {
    const book = createStreamBook()
    book.take(snapshot(100, { 9: '1' }))
    expect(book.take({ is: 'lost', reason: 'away' })).to.equal('changed')
    expect(book.status).to.equal('lost')
    expect(book.take({ is: 'alive', timestamp: 5 })).to.equal('confirmed')
    expect(book.take(change(100, 101, ['buys', '9', '5']))).to.equal('ignored')
    expect(book.status).to.equal('lost')
    book.take(snapshot(3, { 8: '1' }))
    expect([book.status, book.sequence]).to.deep.equal(['good', 3])
  })

  it('counts as faulty if it is crossed or a number is invalid, until a snapshot', () => {
    const faulty: unknown[] = [
      change(1, 2, ['buys', '10', '1']),
      change(1, 2, ['buys', '11', '1']),
      change(1, 2, ['buys', 'x', '1']),
      change(1, 2, ['buys', '9', '-1']),
      { ...change(1, 2), levels: [{ side: 'other', price: '1', quantity: '1' }] },
      { ...change(1, 2), levels: [null] },
      { ...change(1, 2), levels: undefined },
      change(2, 2),
      { ...change(1, 2), sequence: 1.5 },
      { ...snapshot(2), book: undefined },
      { ...snapshot(2, { 9: '1' }, { 8: '1' }) },
      { ...snapshot(2), timestamp: Number.NaN },
      { is: 'traded', lastPrice: '-1' },
      { is: 'alive' },
      { is: 'else' },
      undefined,
    ]
    for (const update of faulty) {
      const book = createStreamBook()
      book.take(snapshot(1, { 9: '1' }, { 10: '1' }))
      book.take(update as BookUpdate)
      expect(book.status, JSON.stringify(update)).to.equal('faulty')
      expect(book.fault).to.not.equal('')
      book.take(snapshot(7, { 9: '1' }, { 10: '1' }))
      expect(book.status).to.equal('good')
    }
  })

  it('keeps the last trade, whatever happens to the book', () => {
    const book = createStreamBook()
    expect(book.take({ is: 'traded', lastPrice: '9.50' })).to.equal('traded')
    book.take(snapshot(1, { 9: '1' }))
    book.take({ is: 'traded', volume24h: '100' })
    expect(book.book()).to.include({ lastPrice: '9.5', volume24h: '100' })
  })

  it('equals a book that the exchange had, whatever updates are dropped, repeated or reordered, and ends at the newest', () => {
    const step = fc.array(
      fc.record({
        side: fc.constantFrom<'buys' | 'sells'>('buys', 'sells'),
        level: fc.integer({ min: 1, max: 12 }),
        quantity: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 3 },
    )
    const trouble = fc.record({ drop: fc.boolean(), repeat: fc.boolean(), delay: fc.integer({ min: 0, max: 4 }), snapshot: fc.nat(9) })
    fc.assert(
      fc.property(fc.array(fc.tuple(step, trouble), { minLength: 1, maxLength: 40 }), (steps) => {
        // The exchange: its books by sequence. Bids are below 100, asks above.
        const [buys, sells] = [new Map<string, string>(), new Map<string, string>()]
        const books: Book[] = []
        const at = (sequence: number): BookUpdate & { is: 'snapshot' } => ({
          is: 'snapshot',
          sequence,
          timestamp: sequence,
          book: books[sequence] ?? expect.fail('no book'),
        })
        const keep = () => void books.push({ buys: levels(Object.fromEntries(buys), -1), sells: levels(Object.fromEntries(sells), 1) })
        keep()
        const book = createStreamBook()
        const deliver = (update: BookUpdate) => {
          book.take(update)
          if (book.status === 'good') expect(book.book()).to.deep.equal(books[book.sequence])
        }
        deliver(at(0))
        const late: { due: number; update: BookUpdate }[] = []
        for (const [index, [changes, { drop, repeat, delay, snapshot: old }]] of steps.entries()) {
          const told = changes.map(({ side, level, quantity }) => ({
            side,
            price: String(side === 'buys' ? 100 - level : 100 + level),
            quantity: String(quantity),
          }))
          for (const { side, price, quantity } of told) {
            const map = side === 'buys' ? buys : sells
            if (quantity === '0') map.delete(price)
            else map.set(price, quantity)
          }
          keep()
          const update: BookUpdate = { is: 'change', follows: index, sequence: index + 1, timestamp: index, levels: told }
          if (!drop || delay > 2) late.push({ due: index + delay, update })
          if (repeat) late.push({ due: index + 1, update })
          if (old < 2) late.push({ due: index + delay, update: at(Math.max(0, index - old)) })
          for (const each of late) if (each.due === index) deliver(each.update)
        }
        for (const each of late) if (each.due >= steps.length) deliver(each.update)
        deliver(at(steps.length))
        if (book.sequence < steps.length) expect(book.status).to.equal('gap')
        if (book.status === 'good') expect(book.sequence).to.equal(steps.length)
        expect(book.status).to.equal('good')
      }),
      { numRuns: 1_000 },
    )
  })
})
