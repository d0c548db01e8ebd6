import { expect } from 'chai'
import * as fc from 'fast-check'
import { parse } from 'node:querystring'
import { AMMPriceRequest, BooksVerifyRequest, TransactionsRequest } from '../../core/api/index.ts'
import { fieldsReader, likeLast, readQuery } from '../../core/config/field-reader.ts'

const piece = fc.constantFrom('a', 'bc', '1.5', '=', '&', '%41', '%', '+', 'c[]', 'constructor', '__proto__', 'é', ',')

describe('a query', () => {
  it('has the fields that the parser of Node.js finds, plain or escaped', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const query = pieces.join('')
        expect(Object.entries(readQuery(query))).to.deep.equal(Object.entries(parse(query, '&', '=', { maxKeys: 0 })))
      }),
      { numRuns: 20_000 },
    )
  })

  it('has every field where there are more than a thousand', () => {
    const query = Array.from({ length: 1_500 }, (_, index) => `f${index}=${index}`).join('&')
    expect(Object.keys(readQuery(query))).to.have.length(1_500)
  })
})

describe('a field with the character U+0000', () => {
  it('is refused by its name, alone, in a list and in a body', () => {
    const list = fieldsReader(TransactionsRequest)
    expect(list(readQuery('client=a%20b'), 'query')).to.deep.equal({ client: 'a b' })
    // PostgreSQL takes no text with it.
    expect(() => list(readQuery('client=a%00b'), 'query')).to.throw('client: has the character U+0000')
    const verify = fieldsReader(BooksVerifyRequest)
    const of = { chain: 'ethereum', network: 'local', address: '0x1' }
    expect(() => verify({ ...of, tokens: ['0x2', 'a\0'] }, 'body')).to.throw('tokens: has the character U+0000')
  })
})

describe('a body that may differ from earlier ones by its amount alone', () => {
  const readFields = fieldsReader(AMMPriceRequest)
  const swap = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
  const change = fc.record(
    {
      amount: fc.constantFrom<unknown>('1', '2.5', '', '-1', 'x', '1\0', 3, 1e30, null, undefined, ['1']),
      side: fc.constantFrom('buy', 'BUY', 'neither'),
      quote: fc.constantFrom<unknown>('DAI', undefined, 1),
      version: fc.constantFrom('v2', 'v3'),
      unknown: fc.constantFrom<unknown>(undefined, 'field'),
    },
    { requiredKeys: [] },
  )
  const outcomeOf = (read: () => unknown): unknown => {
    try {
      return read()
    } catch (error) {
      return String(error)
    }
  }

  it('is read, and refused, as if it were the first', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const read = likeLast(readFields)
        for (const each of changes) {
          const fields = { ...swap, ...each }
          expect(outcomeOf(() => read(fields))).to.deep.equal(outcomeOf(() => readFields(fields, 'body')))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is a copy, of which nothing is in the next', () => {
    const read = likeLast(readFields)
    Object.assign(read(swap), { base: 'changed' })
    Object.assign(read({ ...swap, amount: '2' }), { base: 'changed' })
    expect(read({ ...swap, amount: '3' })).to.deep.equal({ ...swap, amount: '3' })
  })
})
