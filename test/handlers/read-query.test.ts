import { expect } from 'chai'
import { BooksVerifyRequest, TransactionsRequest } from '../../core/api/index.ts'
import { fieldsReader, readQuery } from '../../core/config/field-reader.ts'

describe('a query', () => {
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
