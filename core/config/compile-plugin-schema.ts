import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ConfigError } from './config-error.ts'
import { isSection, type Section } from './tree.ts'

/** Not strict: what a plugin's schema says beyond JSON Schema is its own affair. `format` is not checked. */
const options = { strict: false, allErrors: true, verbose: true, useDefaults: true, validateFormats: false, logger: false } as const

/** Compiles the schema of a plugin's manifest (JSON Schema 2020-12, or draft 7 where `$schema` says so). @throws ConfigError */
export function compilePluginSchema(schema: unknown, plugin: string): ValidateFunction<Section> {
  const refuse = (problem: string) => new ConfigError([{ file: `plugin ${plugin}`, path: 'manifest.schema', problem, cure: 'This is a defect of the plugin: tell its author, or disable it in plugins.disabled.' }])
  if (!isSection(schema)) throw refuse('is not a JSON Schema object')
  // Such a schema would validate by a promise.
  if (schema['$async'] === true) throw refuse('is an asynchronous schema')
  const draft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07')
  try {
    return draft7 ? new Ajv(options).compile<Section>(schema) : new Ajv2020(options).compile<Section>(schema)
  } catch (error) {
    throw refuse(`is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`)
  }
}
