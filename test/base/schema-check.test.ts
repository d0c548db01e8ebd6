import { expect } from 'chai'
import * as Type from 'typebox'
import { firstProblem, fits, passing } from '../../core/base/schema-check.ts'

const schema = Type.Object(
  {
    id: Type.Integer({ minimum: 0 }),
    kind: Type.Union([Type.Literal('one'), Type.Literal('other')]),
    reason: Type.Optional(Type.String()),
    pair: Type.Optional(Type.Tuple([Type.String(), Type.Number()])),
    bytes: Type.Optional(passing<Uint8Array>((value) => value instanceof Uint8Array)),
  },
  { additionalProperties: false },
)
const value = { id: 1, kind: 'one' }

describe('a check by a schema', () => {
  it('accepts what the schema says, also where an optional key is undefined', () => {
    for (const more of [{}, { reason: 'r' }, { reason: undefined }, { pair: ['a', 1] }, { bytes: new Uint8Array(2) }])
      expect(fits(schema, { ...value, ...more }), JSON.stringify(more)).to.equal(true)
  })

  it('refuses everything else', () => {
    const others = [{ id: -1 }, { id: 1.5 }, { id: NaN }, { id: undefined }, { kind: 'two' }, { reason: null }, { pair: ['a'] }]
    for (const more of [...others, { pair: ['a', 1, 2] }, { bytes: [1, 2] }, { other: 1 }])
      expect(fits(schema, { ...value, ...more }), JSON.stringify(more)).to.equal(false)
    for (const other of [undefined, null, 'text', 7, [value], Object.create(value)]) expect(fits(schema, other)).to.equal(false)
  })

  it('names the place of what is wrong first, of an unknown key its own', () => {
    expect(firstProblem(schema, value)).to.equal(undefined)
    expect(firstProblem(schema, { ...value, id: 'x' })).to.include({ instancePath: '/id', message: 'must be integer' })
    expect(firstProblem(schema, { ...value, 'a/b~c': 1 })).to.include({ instancePath: '/a~1b~0c', message: 'is not known' })
  })
})
