// oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { parse } from 'yaml'
import { withListenerKeys } from '../../core/plugins/candidate.ts'
import { networkKeys } from '../../core/config/plugin-config.ts'
import { surelyFits } from '../../core/config/quick-check.ts'
import { serverFile, serverSchema } from '../../core/config/settings-schema.ts'
import { isObject } from '../../core/base/json.ts'
import { root } from '../../tools/imports.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true, useDefaults: true, validateFormats: false, strictNumbers: true })

/** What ajv says of a copy, and whether it left the copy as it was. */
function judged(schema: object, value: unknown): { fits: boolean; isSame: boolean } {
  const copy = structuredClone({ value })
  const fits = ajv.validate(schema, copy.value)
  return { fits, isSame: JSON.stringify(copy.value) === JSON.stringify(value) }
}

const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  2,
  3,
  1e21,
  '',
  'a',
  'ab',
  'abc',
  '😀',
  '😀😀',
  'a b',
  '1',
  [],
  [1],
  [1, 1],
  [1, 2, 3],
  ['a', 'b'],
  [{}],
  [{}, {}],
  {},
  { a: 1 },
  { a: 'x' },
  { a: undefined },
  { a: 1, b: 2 },
  { b: 1, ab: 'x' },
  { a: { a: 1 } },
  { a: [1, 'x'] },
  JSON.parse('{ "__proto__": 1 }'),
]

const schemas: readonly object[] = [
  ...['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'].map((type) => ({ type })),
  { type: ['string', 'null'] },
  { enum: ['a', 1, null] },
  { const: 'a' },
  { const: null },
  { anyOf: [{ type: 'string' }, { minimum: 2 }] },
  { anyOf: [true] },
  { allOf: [{ type: 'number' }, { maximum: 1 }] },
  { allOf: [false] },
  { minLength: 2 },
  { maxLength: 1 },
  { pattern: '^a' },
  { pattern: '^.$' },
  { minimum: 1 },
  { maximum: 1 },
  { exclusiveMinimum: 1 },
  { exclusiveMaximum: 1 },
  { minItems: 1 },
  { maxItems: 1 },
  { items: { type: 'integer' } },
  { items: false },
  { required: ['a'] },
  { required: [] },
  { minProperties: 1 },
  { maxProperties: 1 },
  { propertyNames: { maxLength: 1 } },
  { properties: { a: { type: 'integer' } } },
  { properties: { a: { type: 'integer' } }, additionalProperties: false },
  { properties: { a: { properties: { a: { minimum: 1 } }, required: ['a'], additionalProperties: false } } },
  { additionalProperties: { type: 'integer' } },
  { additionalProperties: true },
  { additionalProperties: false },
  { patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false },
  { patternProperties: { b$: false } },
  { title: 'T', description: 'D', examples: [1] },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' },
  { then: false },
  { else: false },
]

/** With what ajv takes for right or wrong, and nobody can tell without it. */
const unclear: readonly object[] = [
  { not: { type: 'string' } },
  { oneOf: [{ type: 'string' }] },
  { multipleOf: 0.5 },
  { if: { type: 'string' }, then: false },
  { if: { type: 'string' }, then: { minLength: 2 } },
  { if: { minimum: 1 }, then: { maximum: 2 }, else: { type: ['number', 'string'] } },
  { if: { type: 'string' }, else: false },
  { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
  { own: 'keyword' },
  { prefixItems: [{ type: 'string' }] },
  { properties: { a: { default: 1 } } },
  { properties: { a: { type: 'string', default: 'x' } }, required: ['a'] },
  { uniqueItems: true },
  { enum: [{}] },
  { const: [] },
]

/** The schemas of the release with what its files give to them. */
async function released(): Promise<readonly (readonly [string, object, unknown])[]> {
  const names = readdirSync(path.join(root, 'plugins'))
  const found = await Promise.all(
    names.map(async (name) => {
      const { default: plugin } = await import(path.join(root, 'plugins', name, 'index.ts'))
      const config: Record<string, unknown> = parse(readFileSync(path.join(root, 'plugins', name, 'defaults.yml'), 'utf8'))
      const { schema, trading_type: trading } = plugin.manifest
      if (plugin.kind === 'interface') return [[name, withListenerKeys(schema), config] as const]
      if (trading !== undefined && trading.length > 0 && 'allowedSlippage' in config) return [[name, schema, config] as const]
      return Object.entries(config).map(([network, entry]) => {
        const own = Object.entries(isObject(entry) ? entry : {}).filter(([key]) => !networkKeys.includes(key))
        return [`${name}/${network}`, schema, Object.fromEntries(own)] as const
      })
    }),
  )
  return [['server.yml', serverSchema, serverFile.defaults] as const, ...found.flat()]
}

/** The value with one place changed, by turns at every place. */
function* changed(value: unknown): Generator {
  for (const other of [null, 1, -1, 1.5, '', 'x', 'https://node.example', true, [], {}]) yield other
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) for (const other of changed(item)) yield value.with(index, other)
    yield [...value, ...value]
  } else if (isObject(value)) {
    yield { ...value, unknown: 1 }
    for (const [key, item] of Object.entries(value)) {
      const { [key]: _, ...rest } = value
      yield rest
      for (const other of changed(item)) yield { ...value, [key]: other }
    }
  }
}

describe('the check by a schema that is not compiled', () => {
  it('says of every keyword that it knows what ajv says', () => {
    for (const schema of schemas)
      for (const value of values)
        expect(surelyFits(schema, value), `${JSON.stringify(schema)} of ${JSON.stringify(value)}`).to.equal(ajv.validate(schema, value))
  })

  it('leaves to ajv what it does not know, and what has a default to fill in', () => {
    for (const schema of [...unclear, ...schemas])
      for (const value of [...values, Number.NaN, Infinity])
        if (surelyFits(schema, value))
          expect(judged(schema, value), `${JSON.stringify(schema)} of ${JSON.stringify(value)}`).to.deep.equal({ fits: true, isSame: true })
    expect(surelyFits({ own: 'keyword' }, 1)).to.equal(false)
    expect(surelyFits({ properties: { a: { default: 1 } } }, {})).to.equal(false)
  })

  it('settles all that the release itself configures', async () => {
    const unsettled = (await released()).filter(([, schema, value]) => !surelyFits(schema, value)).map(([name]) => name)
    expect(unsettled).to.deep.equal([])
  })

  it('takes nothing for right that ajv refuses or changes, whatever place is changed', async () => {
    for (const [name, schema, value] of await released())
      for (const other of changed(value))
        if (surelyFits(schema, other))
          expect(judged(schema, other), `${name}: ${JSON.stringify(other)}`).to.deep.equal({ fits: true, isSame: true })
  })
})
