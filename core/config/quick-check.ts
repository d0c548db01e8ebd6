// Judges a value by a JSON schema without compiling it. Nearly all that a start checks is right, and to compile what checks it takes ten times as
// long as the checks. A `true` is what ajv would say; anything else is for ajv, which says what is wrong.
import type { ValidateFunction } from 'ajv'
import { isObject } from '../base/json.ts'

/** A type guard with its schema, and what was wrong in the last value. */
export type Validate<T> = ((value: unknown) => value is T) & Pick<ValidateFunction<T>, 'errors'> & { readonly schema?: unknown }

/** Checks by the schema as it is; what does not surely fit is judged by the compiled one, which is made when it is first needed. */
export function checkBy<T>(schema: unknown, compile: () => ValidateFunction<T>): Validate<T> {
  let compiled: ValidateFunction<T> | undefined
  const validate = (value: unknown): value is T => {
    const isValid = surelyFits(schema, value) || (compiled ??= compile())(value)
    made.errors = isValid ? null : (compiled?.errors ?? null)
    return isValid
  }
  const made: Validate<T> = Object.assign(validate, { schema })
  return made
}

type Keywords = Readonly<Record<string, unknown>>

/** By its schema, whether the value is as this keyword says; `false` also where this is not known here. */
const keywords: Readonly<Record<string, (told: unknown, value: unknown, schema: Keywords) => boolean>> = {
  type: (told, value) => (Array.isArray(told) ? told : [told]).some((type) => isOfType(type, value)),
  enum: (told, value) => !isCompound(value) && Array.isArray(told) && told.includes(value),
  const: (told, value) => !isCompound(value) && told === value,
  anyOf: (told, value) => Array.isArray(told) && told.some((schema) => surelyFits(schema, value)),
  allOf: (told, value) => Array.isArray(told) && told.every((schema) => surelyFits(schema, value)),
  // That a value does not fit is never sure, so that an `else` is asked for wherever the `if` does not surely hold.
  if: (told, value, { then = true, else: otherwise = true }) =>
    surelyFits(then, value) && (surelyFits(told, value) || surelyFits(otherwise, value)),

  minLength: (told, value) => typeof value !== 'string' || Array.from(value).length >= Number(told),
  maxLength: (told, value) => typeof value !== 'string' || Array.from(value).length <= Number(told),
  pattern: (told, value) => typeof value !== 'string' || expressionOf(String(told)).test(value),

  minimum: (told, value) => typeof value !== 'number' || value >= Number(told),
  maximum: (told, value) => typeof value !== 'number' || value <= Number(told),
  exclusiveMinimum: (told, value) => typeof value !== 'number' || value > Number(told),
  exclusiveMaximum: (told, value) => typeof value !== 'number' || value < Number(told),

  minItems: (told, value) => !Array.isArray(value) || value.length >= Number(told),
  maxItems: (told, value) => !Array.isArray(value) || value.length <= Number(told),
  uniqueItems: (told, value) =>
    !Array.isArray(value) || value.length < 2 || told === false || (!value.some(isCompound) && new Set(value).size === value.length),
  items: (told, value) => !Array.isArray(value) || value.every((item) => surelyFits(told, item)),

  required: (told, value) => !isObject(value) || (Array.isArray(told) && told.every((key) => value[key] !== undefined)),
  minProperties: (told, value) => !isObject(value) || Object.keys(value).length >= Number(told),
  maxProperties: (told, value) => !isObject(value) || Object.keys(value).length <= Number(told),
  propertyNames: (told, value) => !isObject(value) || keysOf(value).every((key) => surelyFits(told, key)),
  properties: (told, value) =>
    !isObject(value) ||
    (isObject(told) &&
      Object.entries(told).every(([key, schema]) =>
        // A default would be filled in.
        value[key] === undefined ? !(isObject(schema) && 'default' in schema) : surelyFits(schema, value[key]),
      )),
  patternProperties: (told, value) =>
    !isObject(value) ||
    (isObject(told) &&
      Object.entries(told).every(([pattern, schema]) =>
        keysOf(value).every((key) => !expressionOf(pattern).test(key) || surelyFits(schema, value[key])),
      )),
  additionalProperties: (told, value, { properties, patternProperties }) =>
    !isObject(value) ||
    keysOf(value).every(
      (key) =>
        (isObject(properties) && Object.hasOwn(properties, key)) ||
        (isObject(patternProperties) && Object.keys(patternProperties).some((pattern) => expressionOf(pattern).test(key))) ||
        surelyFits(told, value[key]),
    ),
}

/** They judge nothing; `then` and `else` do so by `if`. */
const annotations: ReadonlySet<string> = new Set([
  'then',
  'else',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$schema',
  '$id',
  '$comment',
])

/** Whether the value fits the schema beyond doubt: then ajv finds nothing wrong, and has no default to fill in. */
export function surelyFits(schema: unknown, value: unknown): boolean {
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) return false
  return Object.entries(schema).every(([keyword, told]) => {
    if (annotations.has(keyword)) return true
    const judge = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined
    return judge !== undefined && judge(told, value, schema)
  })
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'null') return value === null
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value)
  if (type === 'integer') return Number.isInteger(value)
  return (type === 'string' || type === 'boolean') && typeof value === type
}

const isCompound = (value: unknown): boolean => typeof value === 'object' && value !== null

/** As ajv reads them: with what a prototype has. */
function keysOf(value: object): string[] {
  const keys: string[] = []
  for (const key in value) keys.push(key)
  return keys
}

const expressions = new Map<string, RegExp>()

function expressionOf(pattern: string): RegExp {
  let expression = expressions.get(pattern)
  if (!expression) expressions.set(pattern, (expression = new RegExp(pattern, 'u')))
  return expression
}
