// Checks values by Sluice's own schemas. Ajv compiles each for the first value: a start checks few, and to compile them all takes time.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Unsafe, type Static, type TSchema } from 'typebox'

let ajv: Ajv | undefined

/** It knows each schema by its object, so that one is compiled once. */
function compiled<S extends TSchema>(schema: S): ValidateFunction<Static<S>> {
  if (!ajv) {
    ajv = new Ajv({ strict: false, ownProperties: true, meta: false, validateSchema: false, code: { optimize: false } })
    ajv.addKeyword({ keyword: 'passes', validate: (passes: (value: unknown) => boolean, value: unknown) => passes(value), errors: false })
  }
  return ajv.compile<Static<S>>(schema)
}

/** Whether a value is what a schema says. */
export const fits = <const S extends TSchema>(schema: S, value: unknown): value is Static<S> => compiled(schema)(value)

/** What is wrong with a value, and where: of an unknown key its own place. */
export type SchemaProblem = Pick<ErrorObject, 'instancePath' | 'keyword' | 'message' | 'params'>

/** What is wrong first in a value; undefined where it fits. */
export function firstProblem(schema: TSchema, value: unknown): SchemaProblem | undefined {
  const check = compiled(schema)
  const [first] = check(value) ? [] : (check.errors ?? [])
  if (first?.keyword !== 'additionalProperties') return first
  const key = String(first.params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1')
  return { ...first, instancePath: `${first.instancePath}/${key}`, message: 'is not known' }
}

/** What no JSON Schema says, such as that something is bytes. */
export const passing = <T>(passes: (value: unknown) => boolean) => Unsafe<T>({ passes })
