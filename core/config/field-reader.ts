// Reads the fields of a request: their types by the schema of an endpoint, or of a path of an interface.
import { parse } from 'node:querystring'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import { didYouMean } from './problems.ts'
import { badFields, type FieldProblem } from '../base/errors.ts'

export type Fields = Record<string, unknown>

interface FieldSchema {
  type?: string
  enum?: readonly unknown[]
  expects?: string
  acceptsNumber?: true
  minimum?: number
  items?: { acceptsNumber?: true }
  /** Of a list of objects: the handler validates the fields of each entry by itself, so that a wrong one does not fail the others. */
  apart?: true
}

const maxProblems = 20

/**
 * One compiler for many schemas, since to make one takes time. It remembers names (`$id`), and refuses another schema of the same name, as where two
 * paths have one in common: such a schema has a compiler of its own.
 */
export function compilers(make: () => Ajv): (schema: object) => Ajv {
  let common: Ajv | undefined
  return (schema) => (JSON.stringify(schema).includes('"$id"') ? make() : (common ??= make()))
}

/** Of the schemas of all endpoints. */
const compilerOf = compilers(newCompiler)

function newCompiler(): Ajv {
  const compiler = new Ajv({ strict: true, allErrors: true, ownProperties: true, meta: false, validateSchema: false })
  compiler.addKeyword({ keyword: 'expects', schemaType: 'string' })
  compiler.addKeyword({ keyword: 'acceptsNumber', schemaType: 'boolean' })
  compiler.addKeyword({ keyword: 'apart', schemaType: 'boolean' })
  // Checked by the handlers.
  compiler.addKeyword({ keyword: 'rules', schemaType: 'array' })
  return compiler
}

/** Parses a query. A repeated field becomes a list. All fields are read; the parser's default would stop after a thousand. */
export const readQuery = (search: string): Record<string, unknown> => parse(search, '&', '=', { maxKeys: 0 })

export type FieldsReader<T> = (fields: Readonly<Record<string, unknown>>, from: 'query' | 'body') => T

/**
 * Makes a function that converts the fields of a query or body to the types of a schema and validates them. It throws INCOMPLETE_PARAMS
 * with all problems. The schema is compiled at its first use: to compile all of them took a fifth of a start.
 */
export function fieldsReader<T extends TObject>(schema: T): FieldsReader<Static<T>> {
  const schemas = schema.properties as unknown as Record<string, FieldSchema>
  const names = Object.keys(schemas)
  const readers = new Map(Object.entries(schemas).map(([name, field]) => [name, fieldReader(field)]))
  let compiled: ValidateFunction<Static<T>> | undefined

  return (fields, from) => {
    const values: Fields = {}
    const named = from === 'query' ? joinLists(fields, schemas) : fields
    for (const field of Object.keys(named)) {
      const value = named[field]
      const readField = readers.get(field)
      if (readField === undefined) define(values, field, value)
      else if (value !== null && (from === 'body' || value !== '')) values[field] = readField(value, from)
    }
    // Such as that for readiness, by which nothing has to be compiled before a start is over.
    if (names.length === 0 && Object.keys(values).length === 0) return values as Static<T>
    const validate = (compiled ??= compilerOf(schema).compile<Static<T>>(withoutEntries(schema)))
    if (!validate(values)) throw badFields(problemsOf(validate.errors ?? [], schemas, names))
    for (const field of Object.keys(values)) if (hasNul(values[field])) throw badFields([{ field, problem: 'has the character U+0000' }])
    return values
  }
}

/** No name has it, and PostgreSQL takes no text with it. */
const hasNul = (value: unknown): boolean =>
  typeof value === 'string' ? value.includes('\0') : Array.isArray(value) && value.some((each) => typeof each === 'string' && hasNul(each))

function withoutEntries<T extends TObject>(schema: T): T {
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const { items, ...rest } = field as FieldSchema
    return [name, items !== undefined && rest.apart ? { ...rest, items: { type: 'object' } } : field]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** `a[]` is another spelling of the list `a`; values under both names are one list. */
function joinLists(fields: Fields, schemas: Record<string, FieldSchema>): Fields {
  if (!Object.keys(fields).some(isListName)) return fields
  const joined: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const list = isListName(name) ? name.slice(0, -2) : undefined
    const field = list !== undefined && Object.hasOwn(schemas, list) && schemas[list]?.type === 'array' ? list : name
    define(joined, field, Object.hasOwn(joined, field) ? [joined[field], value].flat() : value)
  }
  return joined
}

const isListName = (name: string) => name.endsWith('[]')

/** Sets an own property, even if its name is `__proto__`. */
function define(target: Fields, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}

function fieldReader({ enum: known, acceptsNumber, type, items }: FieldSchema): (value: unknown, from: 'query' | 'body') => unknown {
  const spellings = known && new Map(known.map((each) => [String(each).toLowerCase(), each]))
  return (value, from) => {
    if (spellings && typeof value === 'string') return spellings.get(value.toLowerCase()) ?? value
    if (acceptsNumber && typeof value === 'number') return exactDecimal(value)
    if (from === 'body')
      return items?.acceptsNumber && Array.isArray(value)
        ? value.map((each) => (typeof each === 'number' ? exactDecimal(each) : each))
        : value
    if (type === 'array') return readList(value)
    if (type === 'integer' && typeof value === 'string' && /^\d{1,16}$/.test(value)) return Number(value)
    if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
    return value
  }
}

/** A JSON number as a decimal string if a double holds it exactly as written, else unchanged, to be refused. */
function exactDecimal(value: number): unknown {
  const text = String(value)
  const digits = text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '')
  return Number.isSafeInteger(value) || (Number.isFinite(value) && digits.length <= 15) ? text : value
}

/** `a=x,y`, `a=x&a=y`, `a[]=x&a[]=y` and `a=["x","y"]`. */
function readList(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((each) => (typeof each === 'string' ? splitAtCommas(each) : [each]))
  if (typeof value !== 'string') return value
  if (value.startsWith('[')) {
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }
  return splitAtCommas(value)
}

const splitAtCommas = (text: string) => text.split(',').map((each) => each.trim())

function problemsOf(
  errors: readonly ErrorObject[],
  schemas: Record<string, FieldSchema>,
  names: readonly string[],
): [FieldProblem, ...FieldProblem[]] {
  const problems = new Map<string, string>()
  for (const error of errors) {
    // A body may have thousands of unknown fields: to search a similar name for each would delay all requests.
    if (problems.size >= maxProblems) break
    const [field, problem] = problemOf(error, schemas, names)
    if (!problems.has(field)) problems.set(field, problem)
  }
  const list = [...problems].map(([field, problem]) => ({ field, problem }))
  return list as [FieldProblem, ...FieldProblem[]]
}

function problemOf(
  { keyword, params, instancePath, message }: ErrorObject,
  schemas: Record<string, FieldSchema>,
  names: readonly string[],
): [string, string] {
  if (keyword === 'required') {
    const missing = String(params.missingProperty)
    return [missing, `is required${expectation(schemas[missing])}`]
  }
  if (keyword === 'additionalProperties') {
    const unknown = String(params.additionalProperty).slice(0, 64)
    return [unknown, `is not a field of this request${didYouMean(unknown, names)}`]
  }
  const field = instancePath.split('/')[1] ?? ''
  const schema = Object.hasOwn(schemas, field) ? schemas[field] : undefined
  if (keyword === 'type' && schema?.acceptsNumber) return [field, `must be ${schema.expects} (a JSON number only where it is exact)`]
  if (schema?.expects !== undefined) return [field, `must be ${schema.expects}`]
  return [field, message ?? 'is malformed']
}

const expectation = (schema: FieldSchema | undefined) => (schema?.expects === undefined ? '' : `: ${schema.expects}`)
