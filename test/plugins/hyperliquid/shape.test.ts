import { expect } from 'chai'
import * as fc from 'fast-check'
import { decimal, union, is, array, nothing, object, tuple, shape, text, integer, literal } from '../../../plugins/hyperliquid/shape.ts'

const order = object({ oid: integer, px: decimal, side: literal('A', 'B') }, { cloid: union(text, nothing) })

describe("the validators of Hyperliquid's answers", () => {
  it('accept a value with all named fields, whatever else it has', () => {
    const good = { oid: 7, px: '-1.50', side: 'A' }
    for (const each of [good, { ...good, cloid: null }, { ...good, cloid: '0x' }, { ...good, new: [] }])
      expect(is(order, each)).to.equal(true)
    const bad = [{}, null, [], 'x', { ...good, oid: -1 }, { ...good, oid: 2 ** 53 }, { ...good, px: '1e5' }, { ...good, side: 'C' }]
    for (const each of [...bad, { ...good, cloid: 7 }]) expect(is(order, each), JSON.stringify(each)).to.equal(false)
  })

  it('return the path of what is wrong', () => {
    const answer = [
      [0, { levels: [[{ oid: 7, px: '1', side: 'A' }]] }],
      [1, { levels: [[{ oid: 7, px: 1, side: 'A' }]] }],
    ]
    const read = shape(array(tuple(integer, object({ levels: array(array(order)) }))))
    expect(() => read(answer, 'l2Book')).to.throw("Hyperliquid's answer to l2Book has an unknown format (at /1/1/levels/0/0/px)")
    expect(() => read(null, 'meta')).to.throw('at its top')
  })

  it('never throw, whatever the value', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof is(array(order), value) === 'boolean'))
  })
})
