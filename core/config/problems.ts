import type { ErrorObject } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { wordsOfPattern } from './patterns.ts'
import { pointerOf, type TreeProblem } from './tree.ts'
import { isObject } from '../base/json.ts'

/** A mistake in the configuration, and its remedy. Never holds a value, which could be a secret. */
export interface ConfigProblem {
  /** A file (relative to the home folder where it lies inside), `environment` or `command line`. */
  file: string
  /** 1-based; absent where it is unknown. */
  line?: number
  /** The key, e.g. `server.port`; the variable's name for the environment; empty for the whole file. */
  path: string
  problem: string
  remedy: string
  /** The configuration is right, and a later attempt may succeed. */
  temporary?: true
}

/** All problems of a configuration; the message is for a terminal. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(
      [`The configuration has ${count}:`, ...problems.map((problem) => `  ${describeProblem(problem).replace('\n', '\n    ')}`)].join('\n'),
    )
    this.problems = problems
  }
}

/** Two lines: place and problem, then the remedy. */
export function describeProblem({ file, line, path, problem, remedy }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}`
  return `${[place, path].filter(Boolean).join('  ')}: ${problem}\n→ ${remedy}`
}

/** Why the server cannot start. The message tells the operator what is wrong and what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/**
 * Turns the errors of ajv into problems for the author of the file. Needs ajv's options `allErrors` and `verbose`.
 * @param alsoKnown keys that are known although the schema does not have them
 */
export function schemaProblems(errors: readonly ErrorObject[], alsoKnown: readonly string[] = []): TreeProblem[] {
  const all = errors.map((error) => ({ error, trouble: trouble(error, alsoKnown) }))
  const told = all.filter((one) => isWorthTelling(one, all)).map((one) => one.trouble)
  // Two branches of a schema can report the same problem.
  return told.filter((one, index) => told.findIndex((other) => other.pointer === one.pointer && other.problem === one.problem) === index)
}

interface FoundProblem {
  error: ErrorObject
  trouble: TreeProblem
}

function isWorthTelling({ error, trouble }: FoundProblem, all: readonly FoundProblem[]): boolean {
  // Other errors report why these failed.
  if (error.keyword === 'if' || error.propertyName !== undefined) return false
  // Of a choice, only the branch that fails deepest inside is worth reporting.
  if (isChoice(error)) return !all.some((one) => isBranchOf(one.error, error) && one.trouble.pointer.startsWith(`${error.instancePath}/`))
  const choice = all.find((one) => isChoice(one.error) && isBranchOf(error, one.error))
  return choice === undefined || trouble.pointer.length > choice.error.instancePath.length
}

function isBranchOf(error: ErrorObject, choice: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/`)
}

function trouble({ keyword, instancePath, params, parentSchema, data, message }: ErrorObject, alsoKnown: readonly string[]): TreeProblem {
  const name = (key: string) => String(Object.hasOwn(params, key) ? params[key] : '')
  const schema: unknown = parentSchema
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key = name(keyword === 'additionalProperties' ? 'additionalProperty' : 'unevaluatedProperty')
      const patterns = isObject(schema) && isObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []
      const known = [...Object.keys(properties), ...alsoKnown]
      const shown = patterns.map((pattern) => wordsOfPattern(pattern) ?? `a key that matches ${pattern}`)
      const remedy = known.length === 0 && shown.length > 0 ? `Use ${shown.join(' or ')}.` : suggestion(key, known)
      return { pointer: instancePath + pointerOf([key]), problem: 'is not a known key', remedy }
    }
    case 'required': {
      const key = name('missingProperty')
      return { pointer: instancePath + pointerOf([key]), problem: 'is missing', remedy: `Add it: ${expected(properties[key])}.` }
    }
    case 'propertyNames':
      return {
        pointer: instancePath + pointerOf([name('propertyName')]),
        problem: 'is not a valid key here',
        remedy: `Use ${isObject(schema) ? expected(schema['propertyNames']) : 'another key'}.`,
      }
    case 'uniqueItems':
      return { pointer: instancePath, problem: 'lists the same entry twice', remedy: 'Keep one of them.' }
    default:
      return {
        pointer: instancePath,
        problem: problemOf(keyword, message),
        remedy: `Write ${expected(schema)}.${typeHint(keyword, data, schema)}`,
      }
  }
}

function problemOf(keyword: string, message: string | undefined): string {
  switch (keyword) {
    case 'type':
      return 'is of the wrong type'
    case 'enum':
    case 'const':
      return 'is not one of the possible values'
    case 'pattern':
    case 'format':
      return 'is not written in the expected form'
    case 'anyOf':
    case 'oneOf':
      return 'has none of the possible forms'
    default:
      return message ?? 'is not valid'
  }
}

function typeHint(keyword: string, data: unknown, schema: unknown): string {
  if (keyword !== 'type' || !isObject(schema)) return ''
  const { type, pattern } = schema
  if (typeof data === 'number' && type === 'string' && wordsOfPattern(pattern) === undefined)
    return ' (In quotes: without them it is a number.)'
  if (typeof data !== 'string') return ''
  if (type === 'boolean' && /^(y|n|yes|no|on|off)$/i.test(data)) return ' (In YAML 1.2, yes, no, on and off are text.)'
  if ((type === 'integer' || type === 'number') && /^-?\d/.test(data)) return ' (Without quotes, in decimal digits.)'
  return ''
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

/** Describes what a JSON Schema expects: "a whole number from 1 to 65535 (TCP port), for example 15888". */
export function expected(schema: unknown): string {
  if (!isObject(schema)) return 'a value'
  const description = typeof schema['description'] === 'string' ? ` (${schema['description'].replace(/\.$/, '')})` : ''
  const value = schema['default']
  const example = ['string', 'number', 'boolean'].includes(typeof value) ? `, for example ${String(value)}` : ''
  return shape(schema) + description + example
}

function shape(schema: Record<string, unknown>): string {
  const { type, pattern } = schema
  if (Array.isArray(schema['enum'])) return `one of: ${schema['enum'].map((value) => JSON.stringify(value)).join(', ')}`
  if ('const' in schema) return JSON.stringify(schema['const'])
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return choices.map((choice) => expected(choice)).join(', or ')
  if (Array.isArray(type)) return type.map((one) => shape({ ...schema, type: one })).join(', or ')
  switch (type) {
    case 'integer':
      return `a whole number${range(schema)}`
    case 'number':
      return `a number${range(schema)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list${typeof schema['minItems'] === 'number' ? ` of at least ${schema['minItems']}` : ''}${schema['items'] ? `, each ${expected(schema['items'])}` : ''}`
    case 'object':
      return 'a mapping (`key: value` lines)'
    case 'string':
      return (
        wordsOfPattern(pattern) ??
        (typeof pattern === 'string' && typeof schema['description'] !== 'string' ? `text that matches ${pattern}` : 'text')
      )
    default:
      return 'a value that the schema allows'
  }
}

function range(schema: Record<string, unknown>): string {
  const { minimum, maximum, exclusiveMinimum } = schema
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` from ${minimum} to ${maximum}`
  const low =
    typeof minimum === 'number' ? ` of at least ${minimum}` : typeof exclusiveMinimum === 'number' ? ` above ${exclusiveMinimum}` : ''
  return typeof maximum === 'number' ? `${low}${low ? ' and' : ' of'} at most ${maximum}` : low
}

/** The time of a comparison grows with the product of the lengths. */
const maxNameLength = 64

/** The known name that was probably meant; undefined when no name is similar. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(plain(name), plain(candidate)) }))
    .toSorted((a, b) => a.edits - b.edits)
  const best = ranked[0]
  // Up to a third of the letters may be wrong (two swapped letters count twice).
  return best && best.edits <= Math.max(name.length > 3 ? 2 : 1, Math.floor(name.length / 3)) ? best.candidate : undefined
}

/** ' (did you mean "x"?)' for a message about an unknown name; empty if no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = nearest(name, known)
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`
}

/** "Did you mean …?" with a similar name, else the list of the known names. @param otherwise what the list follows */
export function suggestion(name: string, known: readonly string[], otherwise = 'Remove it, or use one of'): string {
  if (known.length === 0) return 'Remove it: no key is possible here.'
  const near = nearest(name, known)
  return near === undefined ? `${otherwise}: ${known.join(', ')}.` : `Did you mean "${near}"?`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '')
}
