import { expect } from 'chai'
import { chainContract } from '../../core/contracts/answers/chain.ts'
import { connectorContract } from '../../core/contracts/answers/connector.ts'
import { list, object, text, type Schema } from '../../core/contracts/answers/contract.ts'
import { parserOf } from '../../core/plugins/code/parser.ts'

interface Keywords {
  readonly type?: string
  readonly crosses?: string
  readonly properties?: Readonly<Record<string, Keywords>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Keywords
  readonly items?: Keywords
  readonly values?: Keywords
  readonly anyOf?: readonly Keywords[]
  readonly enum?: readonly unknown[]
  readonly minItems?: number
  readonly minimum?: number | bigint
}

/** Values that fit: objects with the fields that they must have, and with all; lists with as few entries as they may have, and with each. */
function samples(schema: Keywords): readonly unknown[] {
  const { type, crosses, properties, required = [], anyOf, minItems = 0, minimum } = schema
  if (anyOf) return anyOf.flatMap(samples)
  if (schema.enum) return schema.enum
  if (properties) {
    const fields = Object.entries(properties).map(([key, of]) => [key, samples(of)] as const)
    const most = Math.max(1, ...fields.map(([, values]) => values.length))
    const full = Array.from({ length: most }, (_, index) =>
      Object.fromEntries(fields.map(([key, values]) => [key, values[index % values.length]])),
    )
    return [...full, Object.fromEntries(fields.filter(([key]) => required.includes(key)).map(([key, values]) => [key, values[0]]))]
  }
  const least = Math.max(1, minItems)
  if (type === 'array') return [...samples(schema.items ?? {}).map((each) => Array(least).fill(each)), ...(minItems === 0 ? [[]] : [])]
  if (type === 'object') return [{}, ...samples(schema.additionalProperties ?? {}).map((each) => ({ key: each }))]
  if (type === 'string') return ['0.5']
  if (type === 'integer' || type === 'number') return [Math.max(Number(minimum ?? 0), 0)]
  if (type === 'bigint') return [minimum ?? -1n, 1n]
  if (type === 'boolean') return [true, false]
  if (type === 'undefined' || crosses === 'nothing') return [undefined]
  if (crosses === 'json') return [{ a: [null, 1, 'x', true, {}] }]
  if (crosses === 'words' || crosses === 'opaque') return ['it']
  if (crosses === 'bytes') return [Uint8Array.of(1)]
  if (crosses === 'map') return samples(schema.values ?? {}).map((each) => new Map([['key', each]]))
  throw new Error(`There is no sample of ${JSON.stringify(schema)}.`)
}

/** Those that are not functions and streams. */
function* schemasOf(contract: object, path: string): Generator<readonly [string, Schema<unknown>]> {
  for (const [name, member] of Object.entries(contract)) {
    const here = `${path}.${name}`
    if ('part' in member) yield* schemasOf(member.part, here)
    const schema = member.answer ?? member.value
    const isLive = JSON.stringify(schema ?? '', (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).match(
      /"crosses":"(function|stream)"/,
    )
    if (schema && !isLive) yield [here, schema]
  }
}

describe('the contracts of plugins', () => {
  const all = [...schemasOf(chainContract, 'chain'), ...schemasOf(connectorContract, 'connector')]

  it('parse every form of what methods answer and properties hold to an equal value', () => {
    expect(all).to.have.length.above(80)
    for (const [path, schema] of all)
      for (const sample of samples(schema as Keywords)) expect(parserOf(schema)(sample, []), path).to.deep.equal(sample)
  })

  it('refuse an object without any one of the fields that it must have', () => {
    for (const [path, schema] of all) {
      const { properties, required = [] } = schema as Keywords
      const [full] = samples(schema as Keywords)
      for (const key of properties ? required : []) {
        const { [key]: _, ...others } = Object(full)
        expect(() => parserOf(schema)(others, []), `${path} without ${key}`).to.throw(key)
      }
    }
  })

  it('copy a frozen list of frozen text once, and all other lists each time', () => {
    const parse = parserOf(list(object<{ pool: string }>({ pool: text() }), 10))
    const frozen = (...items: readonly object[]) => Object.freeze(items.map((each) => Object.freeze(each)))
    const parsedTwice = (value: unknown) => [parse(value, []), parse(value, [])] as const
    const hops = frozen({ pool: 'a' }, { pool: 'b' })
    const [copy, again] = parsedTwice(hops)
    expect(copy).to.deep.equal(hops)
    expect(copy).not.to.equal(hops)
    expect(copy[0]).not.to.equal(hops[0])
    expect(again).to.equal(copy)

    let reads = 0
    const changing = { get: () => `read ${(reads += 1)}`, enumerable: true }
    class Hop {
      get pool() {
        return changing.get()
      }
    }
    const byIndex = Object.freeze(Object.defineProperty([{ pool: 'a' }], 0, { get: () => ({ pool: changing.get() }) }))
    for (const value of [
      [{ pool: 'a' }],
      Object.freeze([{ pool: 'a' }]),
      frozen(Object.defineProperty({}, 'pool', changing)),
      frozen(new Hop()),
      Object.freeze([new Proxy({ pool: 'a' }, { get: changing.get })]),
      new Proxy(hops, {}),
      byIndex,
    ]) {
      const [one, other] = parsedTwice(value)
      expect(one).not.to.equal(other)
    }
  })
})
