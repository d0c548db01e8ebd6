import { Ajv, type ValidateFunction } from 'ajv'
import type { TSchema, Static } from 'typebox'
import { checkValue } from './check-value.ts'
import type { ConfigProblem } from './config-error.ts'
import type { Environment } from './environment.ts'
import { shownCopy } from './mask.ts'
import type { Override } from './overrides.ts'
import { dotted, upwards } from './pointer.ts'
import type { YamlFile } from './read-yaml.ts'
import { schemaProblems } from './schema-problems.ts'
import { substitute, type Substitution, type Trouble } from './substitute.ts'
import { isSection, layOver, setAt, type Section } from './tree.ts'

const ajv = new Ajv({ strict: true, allErrors: true, verbose: true })

/** Compiles one of Sluice's own schemas. */
export function compile<S extends TSchema>(schema: S): ValidateFunction<Static<S>> {
  return ajv.compile<Static<S>>(schema)
}

/** A file's keys, from lowest to highest: defaults, what the file says, what flags and environment say. */
export interface Layers {
  file: string
  defaults?: Section
  yaml: YamlFile | undefined
  overrides?: readonly Override[]
}

export interface Checked<T> {
  value: T
  /** Fit to be shown. */
  shown: Section
}

/** Lays the layers over one another, puts the environment in, and validates; undefined when there is a problem. */
export function checkFile<T>(validate: ValidateFunction<T>, { file, defaults = {}, yaml, overrides = [] }: Layers, env: Environment, problems: ConfigProblem[]): Checked<T> | undefined {
  const before = problems.length
  const overridden = new Map(overrides.map((override) => [override.pointer, override]))
  const locate = (trouble: Trouble) => void problems.push(located(trouble, file, yaml, overridden))

  const tree = layOver(defaults, yaml?.value ?? {})
  for (const { pointer } of overrides) setAt(tree, pointer, undefined)
  const { value, substitutions, troubles } = substitute(tree, env)
  troubles.forEach(locate)
  if (!isSection(value)) return undefined
  for (const { pointer, value: over } of overrides) setAt(value, pointer, over)

  const textual = new Set([...substitutions.keys(), ...overridden.keys()])
  const valid = checkValue(validate, value, textual)
  if (!valid) {
    const broken = new Set(troubles.map(({ pointer }) => pointer))
    schemaProblems(validate.errors ?? []).filter(({ pointer }) => !broken.has(pointer)).forEach(locate)
  }
  if (!valid || problems.length > before) return undefined
  return { value, shown: shown(value, substitutions, overrides) }
}

function shown(value: Section, substitutions: ReadonlyMap<string, Substitution>, overrides: readonly Override[]): Section {
  const copy = shownCopy(value, substitutions)
  if (!isSection(copy)) return {}
  for (const { pointer, secret } of overrides) if (secret) setAt(copy, pointer, '***')
  return copy
}

function located({ pointer, problem, cure }: Trouble, file: string, yaml: YamlFile | undefined, overrides: ReadonlyMap<string, Override>): ConfigProblem {
  const override = upwards(pointer).map((at) => overrides.get(at)).find((found) => found !== undefined)
  if (override) return { file: override.file, path: override.path, problem, cure }
  const line = yaml?.lineOf(pointer)
  return { file, ...(line === undefined ? {} : { line }), path: dotted(pointer), problem, cure }
}
