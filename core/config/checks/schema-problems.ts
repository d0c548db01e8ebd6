import type { ErrorObject } from 'ajv'
import { expected } from './expected.ts'
import { pointerOf } from '../yaml/pointer.ts'
import { suggestion } from './nearest.ts'
import type { Trouble } from '../yaml/substitute.ts'
import { isSection } from '../tree.ts'

/**
 * What ajv found, in words for the person who wrote the file. Needs ajv's options `allErrors` and `verbose`.
 * @param alsoKnown keys that are known at a place although the schema there does not have them
 */
export function schemaProblems(errors: readonly ErrorObject[], alsoKnown: readonly string[] = []): Trouble[] {
  const all = errors.map((error) => ({ error, trouble: trouble(error, alsoKnown) }))
  const told = all.filter((one) => isWorthTelling(one, all)).map((one) => one.trouble)
  // Branches of a schema can find the same thing twice.
  return told.filter((one, index) => told.findIndex((other) => other.pointer === one.pointer && other.problem === one.problem) === index)
}

interface Found {
  error: ErrorObject
  trouble: Trouble
}

function isWorthTelling({ error, trouble }: Found, all: readonly Found[]): boolean {
  // What made them fail is told by errors of their own.
  if (error.keyword === 'if' || error.propertyName !== undefined) return false
  // Of a choice, only the branch that matched so far that it fails inside is of interest.
  if (isChoice(error)) return !all.some((one) => isBranchOf(one.error, error) && one.trouble.pointer.startsWith(`${error.instancePath}/`))
  const choice = all.find((one) => isChoice(one.error) && isBranchOf(error, one.error))
  return choice === undefined || trouble.pointer.length > choice.error.instancePath.length
}

function isBranchOf(error: ErrorObject, choice: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/`)
}

function trouble({ keyword, instancePath, params, parentSchema, data, message }: ErrorObject, alsoKnown: readonly string[]): Trouble {
  const name = (key: string) => String(Object.hasOwn(params, key) ? params[key] : '')
  const schema: unknown = parentSchema
  const properties = isSection(schema) && isSection(schema['properties']) ? schema['properties'] : {}
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key = name(keyword === 'additionalProperties' ? 'additionalProperty' : 'unevaluatedProperty')
      const patterns = isSection(schema) && isSection(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []
      const known = [...Object.keys(properties), ...alsoKnown]
      const cure = known.length === 0 && patterns.length > 0 ? `Use a key that matches ${patterns.join(' or ')}.` : suggestion(key, known)
      return { pointer: instancePath + pointerOf([key]), problem: 'is not a known key', cure }
    }
    case 'required': {
      const key = name('missingProperty')
      return { pointer: instancePath + pointerOf([key]), problem: 'is missing', cure: `Add it: ${expected(properties[key])}.` }
    }
    case 'propertyNames':
      return {
        pointer: instancePath + pointerOf([name('propertyName')]),
        problem: 'is not a key that can stand here',
        cure: `Use ${isSection(schema) ? expected(schema['propertyNames']) : 'another key'}.`,
      }
    case 'uniqueItems':
      return { pointer: instancePath, problem: 'lists the same entry twice', cure: 'Keep one of them.' }
    default:
      return {
        pointer: instancePath,
        problem: problemOf(keyword, message),
        cure: `Write ${expected(schema)}.${typeHint(keyword, data, params['type'])}`,
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

function typeHint(keyword: string, data: unknown, type: unknown): string {
  if (keyword !== 'type' || typeof data !== 'string') return ''
  if (type === 'boolean' && /^(y|n|yes|no|on|off)$/i.test(data)) return ' (YAML 1.2 takes yes, no, on and off for text.)'
  if ((type === 'integer' || type === 'number') && /^-?\d/.test(data)) return ' (Without quotes, in decimal digits.)'
  return ''
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}
