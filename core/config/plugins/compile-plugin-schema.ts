import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ConfigError } from '../problems.ts'
import { isSection, type Section } from '../tree.ts'

/** Not strict: what a plugin's schema says beyond JSON Schema is its own affair. `format` is not checked. */
const options = { strict: false, allErrors: true, verbose: true, useDefaults: true, validateFormats: false, logger: false } as const

// Making one takes as long as loading a plugin: they are shared, and hold no schema after it was compiled.
let ajv2020: Ajv2020 | undefined
let ajv7: Ajv | undefined
/** By their text: all chains of a family have one. */
const compiled = new Map<string, ValidateFunction<Section>>()

/** Compiles the schema of a plugin's manifest (JSON Schema 2020-12, or draft 7 where `$schema` says so). @throws ConfigError */
export function compilePluginSchema(schema: unknown, plugin: string): ValidateFunction<Section> {
  const refuse = (problem: string) =>
    new ConfigError([
      {
        file: `plugin ${plugin}`,
        path: 'manifest.schema',
        problem,
        cure: 'This is a defect of the plugin: tell its author, or disable it in plugins.disabled.',
      },
    ])
  if (!isSection(schema)) throw refuse('is not a JSON Schema object')
  // Such a schema would validate by a promise.
  if (schema['$async'] === true) throw refuse('is an asynchronous schema')
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  if (known) return known
  const isDraft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07')
  const ajv = isDraft7 ? (ajv7 ??= new Ajv(options)) : (ajv2020 ??= new Ajv2020(options))
  // A copy: the plugin's own object may be frozen, or change.
  const copy = structuredClone(schema)
  try {
    const validate = ajv.compile<Section>(copy)
    compiled.set(text, validate)
    return validate
  } catch (error) {
    throw refuse(`is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    ajv.removeSchema(copy)
  }
}
