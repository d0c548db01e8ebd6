import { expect } from 'chai'
import fastJsonStringify from 'fast-json-stringify'
import { AMMPriceResponse } from '../../core/api/amm.ts'
import { endpoints } from '../../core/api/index.ts'
import { errorFields, SluiceError } from '../../core/base/errors.ts'
import { copierOf } from '../../core/handlers/answer-copies.ts'
import { createRenderer } from '../../core/handlers/answer-forms.ts'
import examples from '../../core/http/openapi-examples.json' with { type: 'json' }

const plain = (schema: object): object => JSON.parse(JSON.stringify(schema))
/** With the order of its keys, as an interface may send on what it gets. */
const outcomeOf = (make: () => unknown): string => {
  try {
    return JSON.stringify(make())
  } catch (error) {
    return `thrown: ${String(error)}`
  }
}
const viaJson = (schema: object, value: unknown) => outcomeOf(() => JSON.parse(fastJsonStringify(plain(schema))(value)))
const copied = (schema: object, value: unknown) => outcomeOf(() => copierOf(plain(schema))(value))

const odd: readonly unknown[] = [undefined, null, 1.5, 'text "quoted" \\ \n \ud800 é']
const odder: readonly unknown[] = [-0, Number.POSITIVE_INFINITY, Number.NaN, 10n ** 20n, true, [], ['x', 1], {}, new Date(0)]

/** Each value in it replaced by each odd one, at every depth. */
function* variantsOf(value: unknown): Generator {
  yield* odd
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, 1).entries()) for (const each of variantsOf(item)) yield value.with(index, each)
    return
  }
  if (typeof value !== 'object' || value === null) return
  yield { unknown: 1, ...value }
  for (const [name, field] of Object.entries(value)) for (const each of variantsOf(field)) yield { ...value, [name]: each }
}

describe('the copy of an answer', () => {
  const captured: Readonly<Record<string, { readonly request?: object; readonly response?: unknown }>> = examples
  for (const { name, response } of endpoints) {
    const example = captured[name]?.response
    if (example === undefined) continue
    it(`is what its JSON would be read as, key by key, whatever ${name} gives`, () => {
      expect(copied(response, example)).to.equal(viaJson(response, example))
      const [serialize, copy] = [fastJsonStringify(plain(response)), copierOf(plain(response))]
      for (const variant of variantsOf(example))
        expect(outcomeOf(() => copy(variant))).to.equal(outcomeOf(() => JSON.parse(serialize(variant))))
    })
  }

  for (const schema of [
    ...['string', 'number', 'integer', 'boolean', 'null'].map((type) => ({ type })),
    { enum: ['a', 'b'] },
    { enum: [1, 'a'] },
    { const: 'a', type: 'string' },
    { type: 'string', format: 'date-time' },
    {},
  ])
    it(`is that of a field with the schema ${JSON.stringify(schema)}, whatever it is`, () => {
      const whole = { type: 'object', properties: { field: schema, list: { type: 'array', items: schema } }, required: ['list'] }
      for (const field of [...odd, ...odder]) {
        for (const value of [
          { field, list: [] },
          { list: [field] },
          { list: field },
          { field },
          { list: [], toJSON: () => ({ list: [field] }) },
        ])
          expect(copied(whole, value)).to.equal(viaJson(whole, value))
      }
    })

  it('shares nothing with what was copied', () => {
    const schema = {
      type: 'object',
      properties: { route: { type: 'array', items: { type: 'object', properties: { pool: { type: 'string' } }, required: ['pool'] } } },
      required: ['route'],
    }
    const given = Object.freeze({ route: Object.freeze([Object.freeze({ pool: '0x1' })]) })
    const made = copierOf(schema)(given) as { route: { pool: string }[] }
    made.route.push({ pool: '0x2' })
    Object.assign(made.route[0] ?? expect.fail(), { pool: '0x3' })
    expect(given).to.deep.equal({ route: [{ pool: '0x1' }] })
  })
})

describe('the text of an answer', () => {
  const withoutTime = ({ timestamp: _timestamp, latency: _latency, ...rest }: Record<string, unknown>) => rest

  it('has digits as they are and all other text escaped, and warns of nothing', () => {
    const { response: example } = Object(examples.AMMPrice)
    const price = { ...example, route: [{ ...example.route[0], pool: 'a "pool"\n' }], gasPriceToken: '\\' }
    const refusal = { amount: '7.5', error: errorFields(new SluiceError('PRICE_FAILED', 'no "pool"')) }
    const answer = { ...price, quotes: [price, refusal] }
    const warned: unknown[] = []
    const { warn } = console
    console.warn = (...words: unknown[]) => void warned.push(words)
    try {
      const { body } = createRenderer(AMMPriceResponse, undefined).render(answer, { request: { network: price.network } }, 0)
      const written = withoutTime(JSON.parse(body))
      expect(written).to.deep.equal(withoutTime(Object(copierOf(plain(AMMPriceResponse))(answer))))
      const [first, second] = Object(written).quotes
      expect(first).to.include({ gasPriceToken: '\\', price: price.price }).and.not.have.property('base')
      expect(second).to.deep.equal(refusal)
    } finally {
      console.warn = warn
    }
    expect(warned).to.deep.equal([])
  })
})
