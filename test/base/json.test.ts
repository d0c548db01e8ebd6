import { expect } from 'chai'
import * as fc from 'fast-check'
import * as json from '../../core/base/json.ts'

const memo = json.object(
  { router: json.string, exact: json.literal('in', 'out'), hops: json.array(json.object({ amountRaw: json.digits })) },
  { deadline: json.natural },
)
const valid = { router: '0x1', exact: 'in', hops: [{ amountRaw: '12' }] }

describe('the check for objects', () => {
  it('accepts objects only, neither null nor a list', () => {
    for (const value of [{}, { a: 1 }, Object.create(null)]) expect(json.isObject(value)).to.equal(true)
    for (const value of [null, undefined, [], 'x', 7, () => 0]) expect(json.isObject(value)).to.equal(false)
  })
})

describe('parseJson', () => {
  it('gives undefined where a text is no JSON', () => {
    expect(json.parseJson('{"a":[1]}')).to.deep.equal({ a: [1] })
    for (const text of ['', '<html>', '{"a":', 'undefined']) expect(json.parseJson(text)).to.equal(undefined)
  })
})

describe('validators of values from outside', () => {
  it('accept the named fields, without the optional ones and with further ones', () => {
    for (const value of [valid, { ...valid, deadline: 7 }, { ...valid, more: true }]) expect(json.is(memo, value)).to.equal(true)
  })

  it('return where a value is wrong', () => {
    expect(memo(valid)).to.equal(undefined)
    expect(memo(null)).to.equal('')
    expect(memo({ ...valid, router: undefined })).to.equal('/router')
    expect(memo({ ...valid, deadline: -1 })).to.equal('/deadline')
    expect(memo({ ...valid, hops: [...valid.hops, { amountRaw: '1.5' }] })).to.equal('/hops/1/amountRaw')
  })

  it('never throw, whatever the value', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof json.is(memo, value) === 'boolean'))
  })
})
