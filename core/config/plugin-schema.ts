// Runs the schema of a plugin's manifest over its configuration. A schema of a third party runs where the plugin runs, never in the server: it may
// take for ever, and its answer is the plugin's word.
import { isDeepStrictEqual } from 'node:util'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isObject } from '../base/json.ts'
import { fromText, judgePart, type JudgedPart, type SchemaPart } from './check.ts'
import { pointerOf, type Section } from './tree.ts'
import { reasonOf } from '../base/errors.ts'

/** Plain data, so that another process can answer it. */
export interface SchemaQuestion {
  readonly schema: object
  /** The release's tests have checked the schema itself. */
  readonly isTested: boolean
  readonly parts: readonly SchemaPart[]
}

/** Why the schema cannot be used, or what it says of each part. */
export type SchemaAnswer = { readonly invalid: string } | { readonly judged: readonly JudgedPart[] }

/** Changes the values of the parts in place. */
export function judgeBySchema({ schema, isTested, parts }: SchemaQuestion): SchemaAnswer {
  try {
    const validate = compilePluginSchema(schema, isTested)
    return { judged: parts.map((part) => judgePart(validate, part)) }
  } catch (error) {
    const added = addedToAllObjects()
    if (added.length > 0)
      return {
        invalid: `cannot be used: '${added.join("', '")}' was added to Object.prototype, which every object has since. Take that out of the plugin, or of what it imports`,
      }
    if (error instanceof InvalidSchema) return { invalid: error.message }
    if (error instanceof RangeError) return { invalid: 'cannot be used: it refers to itself without an end, or is nested too deep' }
    return { invalid: `cannot be used: ${reasonOf(error)}` }
  }
}

class InvalidSchema extends Error {}

/** The compiler of schemas fails on such keys with words that tell nobody anything. */
function addedToAllObjects(): string[] {
  const added: string[] = []
  for (const key in {}) added.push(key)
  return added
}

/**
 * Not strict: a plugin's schema may have keywords of its own. `format` is not checked. The schema itself is checked where the release's tests
 * have not done so: to compile the schema of schemas takes longer than to compile those of all built-in plugins.
 */
const options = {
  strict: false,
  allErrors: true,
  verbose: true,
  useDefaults: true,
  validateFormats: false,
  validateSchema: false,
  logger: false,
  code: { optimize: false },
} as const

// Creating an instance takes as long as loading a plugin, so it is shared; schemas are removed after they are compiled.
let ajv2020: Ajv2020 | undefined
/** For schemas that say so: keywords of the two drafts mean different things. */
let ajv7: Ajv | undefined
/** By their text: all chains of a family share a schema. */
const compiled = new Map<string, ValidateFunction<Section>>()

/** Compiles the schema of a plugin's manifest (JSON Schema 2020-12, or draft 7 where `$schema` says so). @throws InvalidSchema */
function compilePluginSchema(schema: unknown, isTested: boolean): ValidateFunction<Section> {
  if (!isObject(schema)) throw new InvalidSchema('is not a JSON Schema object')
  // It would validate asynchronously.
  if (schema['$async'] === true) throw new InvalidSchema('is an asynchronous schema')
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  if (known) return known
  const isDraft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07')
  const ajv = isDraft7 ? (ajv7 ??= new Ajv(options)) : (ajv2020 ??= new Ajv2020(options))
  // A copy, because the plugin's object may be frozen or change.
  const copy = structuredClone(schema)
  try {
    if (!isTested) void ajv.validateSchema(copy, true)
    const validate = ajv.compile<Section>(copy)
    compiled.set(text, validate)
    return validate
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw new InvalidSchema(`is not a valid JSON Schema: ${reasonOf(error)}`)
  } finally {
    ajv.removeSchema(copy)
  }
}

const maxText = 1_000
const maxTroubles = 100
const maxEntries = 50_000
const maxDepth = 64

/**
 * The answer of another process, in which the plugin itself may have spoken: within bounds, and with everything that was asked about as it
 * was, so that a plugin's schema adds what is missing and changes nothing that the operator wrote. @throws Error
 */
export function parseSchemaAnswer({ parts }: SchemaQuestion, answer: unknown): SchemaAnswer {
  if (!isObject(answer)) throw new Error('its schema gave no answer')
  const { invalid, judged } = answer
  if (typeof invalid === 'string') return { invalid: invalid.slice(0, maxText) }
  if (!Array.isArray(judged) || judged.length !== parts.length) throw new Error('its schema gave no answer')
  return { judged: parts.map((part, index) => parseJudged(part, judged[index])) }
}

function parseJudged({ value: asked, textual }: SchemaPart, judged: unknown): JudgedPart {
  if (!isObject(judged)) throw new Error('its schema gave no answer')
  const { troubles } = judged
  if (Array.isArray(troubles) && troubles.length > 0) return { troubles: troubles.slice(0, maxTroubles).map(parseTrouble) }
  const value = plainCopy(judged['value'], { entries: 0 })
  if (!isObject(value) || !isKept(asked, value, new Set(textual)))
    throw new Error('its schema changed what is configured, and a schema can only add what is missing')
  return { value }
}

function parseTrouble(trouble: unknown) {
  const text = (key: string) => {
    const found = isObject(trouble) ? trouble[key] : undefined
    return typeof found === 'string' ? found.slice(0, maxText) : ''
  }
  return { pointer: text('pointer'), problem: text('problem') || 'is wrong', remedy: text('remedy') || 'Correct it.' }
}

function plainCopy(value: unknown, count: { entries: number }, depth = 0): unknown {
  count.entries += 1
  if (count.entries > maxEntries || depth > maxDepth) throw new Error(`its schema made a configuration of more than ${maxEntries} entries`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, count, depth + 1))
  if (!isObject(value)) throw new Error('its schema made a configuration that is not plain data')
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainCopy(item, count, depth + 1)]))
}

/** Whether everything that was there is still there, as it was; texts of the environment may have become what they stand for. */
function isKept(was: unknown, is: unknown, textual: ReadonlySet<string>, pointer = ''): boolean {
  if (typeof was === 'string' && textual.has(pointer) && was !== is) return isDeepStrictEqual(fromText(was, typeName(is)), is)
  if (Array.isArray(was))
    return Array.isArray(is) && was.every((item, index) => isKept(item, is[index], textual, pointer + pointerOf([index])))
  if (!isObject(was)) return was === is
  return (
    isObject(is) &&
    Object.entries(was).every(([key, item]) => Object.hasOwn(is, key) && isKept(item, is[key], textual, pointer + pointerOf([key])))
  )
}

const typeName = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)
