import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { checkValue } from './checks/check-value.ts'
import type { Environment } from './settings/environment.ts'
import { shownCopy } from './mask.ts'
import type { Override } from './settings/overrides.ts'
import { schemaProblems } from './checks/schema-problems.ts'
import { substitute, type Trouble } from './yaml/substitute.ts'
import { isSection, setAt, type Section } from './tree.ts'

export interface Checked<T> {
  value: T
  /** Fit to be shown. */
  shown: Section
}

export interface Check<T> {
  validate: ValidateFunction<T>
  env: Environment
  /** Values that go over the tree's own. */
  overrides?: readonly Override[]
  /** Keys that are known at the top besides the schema's. */
  alsoKnown?: readonly string[]
}

const ajv = new Ajv({ strict: true, allErrors: true, verbose: true })

/** Compiles one of Sluice's own schemas. */
export function compile<S extends TSchema>(schema: S): ValidateFunction<Static<S>> {
  return ajv.compile<Static<S>>(schema)
}

/** Puts the environment into a tree and validates it. The tree is left as it is. */
export function checkTree<T>(
  tree: Section,
  { validate, env, overrides = [], alsoKnown }: Check<T>,
): Checked<T> | { troubles: readonly Trouble[] } {
  const own = structuredClone(tree)
  // What is overridden is not looked at: its variables need not be set.
  for (const { pointer } of overrides) setAt(own, pointer, undefined)
  const { value, shown, troubles } = substitute(own, env)
  if (!isSection(value)) return { troubles }
  for (const { pointer, value: over, secret } of overrides) {
    setAt(value, pointer, over)
    if (secret) shown.set(pointer, '***')
  }

  const textual = new Set([...shown.keys(), ...overrides.map(({ pointer }) => pointer)])
  if (checkValue(validate, value, textual) && troubles.length === 0) return { value, shown: shownCopy(value, shown) }
  const told = new Set(troubles.map(({ pointer }) => pointer))
  return { troubles: [...troubles, ...schemaProblems(validate.errors ?? [], alsoKnown).filter(({ pointer }) => !told.has(pointer))] }
}
