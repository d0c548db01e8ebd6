import { expect } from 'chai'
import * as fc from 'fast-check'
import { parse } from 'node:querystring'
import { readQuery } from '../../core/config/field-reader.ts'

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
