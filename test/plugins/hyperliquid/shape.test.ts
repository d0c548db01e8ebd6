import { expect } from 'chai'
import * as fc from 'fast-check'
import { decimal, union, is, array, nothing, object, tuple, shape, text, integer, literal } from '../../../plugins/hyperliquid/shape.ts'

const order = object({ oid: integer, px: decimal, side: literal('A', 'B') }, { cloid: union(text, nothing) })

describe("what is understood of Hyperliquid's answers", () => {
  it('is what has all that is used, whatever is there besides', () => {
    const good = { oid: 7, px: '-1.50', side: 'A' }
    for (const each of [good, { ...good, cloid: null }, { ...good, cloid: '0x' }, { ...good, new: [] }])
      expect(is(order, each)).to.equal(true)
    const bad = [{}, null, [], 'x', { ...good, oid: -1 }, { ...good, oid: 2 ** 53 }, { ...good, px: '1e5' }, { ...good, side: 'C' }]
    for (const each of [...bad, { ...good, cloid: 7 }]) expect(is(order, each), JSON.stringify(each)).to.equal(false)
  })

  it('is told by where it is wrong', () => {
    const answer = [
      [0, { levels: [[{ oid: 7, px: '1', side: 'A' }]] }],
      [1, { levels: [[{ oid: 7, px: 1, side: 'A' }]] }],
    ]
    const read = shape(array(tuple(integer, object({ levels: array(array(order)) }))))
    expect(() => read(answer, 'l2Book')).to.throw("Hyperliquid's answer to l2Book is none that is understood (at /1/1/levels/0/0/px)")
    expect(() => read(null, 'meta')).to.throw('at its top')
  })

  it('is nothing that throws, whatever comes', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof is(array(order), value) === 'boolean'))
  })
})
