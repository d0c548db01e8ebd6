import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { maskedCopy } from './mask.ts'
import { schemaProblems, type ConfigProblem } from './problems.ts'
import {
  type Environment,
  substitute,
  type TreeProblem,
  setAt,
  type Section,
  getAt,
  segmentsOf,
  ancestors,
  mapTexts,
  mergeOver,
  withoutEntries,
} from './tree.ts'
import { locate, type YamlFile } from './yaml.ts'
import { isObject } from '../base/json.ts'

/** A value that replaces that of the file. */
export interface Override {
  pointer: string
  value: unknown
  /** Its source, for problems. */
  file: 'environment' | 'command line'
  path: string
  /** Must not be shown. */
  secret: boolean
}

interface CheckResult<T> {
  value: T
  /** The same with secrets masked. */
  shown: Section
}

export interface Check<T> {
  validate: Validate<T>
  env: Environment
  /** Values that replace those of the tree. */
  overrides?: readonly Override[]
  /** Further keys that are known at the top. */
  alsoKnown?: readonly string[]
  /** Whether the text at this JSON pointer may name variables of the environment; absent: every text. */
  mayName?: (pointer: string) => boolean
  /** Whether the text at this JSON pointer stands for another, so that no schema can judge it. */
  isHidden?: (pointer: string) => boolean
}

// The schemas are our own: to compile the schema of schemas, and to optimise what runs once, takes longer than all checks.
const options = { strict: true, allErrors: true, verbose: true, meta: false, validateSchema: false, code: { optimize: false } } as const
let ajv: Ajv | undefined

/** A type guard with its schema, and what was wrong in the last value. */
export type Validate<T> = ((value: unknown) => value is T) & Pick<ValidateFunction<T>, 'errors'> & { readonly schema?: unknown }

/** Checks by a schema that is compiled for the first value: most commands check by few of them. */
export function checkBy<T>(schema: unknown, compile: () => ValidateFunction<T>): Validate<T> {
  let compiled: ValidateFunction<T> | undefined
  const validate = (value: unknown): value is T => {
    compiled ??= compile()
    const isValid = compiled(value)
    made.errors = compiled.errors ?? null
    return isValid
  }
  const made: Validate<T> = Object.assign(validate, { schema })
  return made
}

/** Checks by one of Sluice's own schemas. */
export const compile = <S extends TSchema>(schema: S): Validate<Static<S>> =>
  checkBy(schema, () => (ajv ??= new Ajv(options)).compile<Static<S>>(schema))

/** What a schema judges: plain data, so that another process can do it. */
export interface SchemaPart {
  readonly value: Section
  /** JSON pointers of the texts from the environment. */
  readonly textual: readonly string[]
  /** JSON pointers of texts that stand for others. */
  readonly hidden?: readonly string[]
  /** Further keys that are known at the top. */
  readonly alsoKnown?: readonly string[]
}

/** With defaults and converted texts, or what is wrong. */
export type JudgedPart<T = Section> = { readonly value: Section & T } | { readonly troubles: readonly TreeProblem[] }

interface PreparedTree {
  /** Undefined where there is nothing that a schema could judge. */
  readonly part: SchemaPart | undefined
  readonly shown: Map<string, string>
  readonly troubles: readonly TreeProblem[]
}

/** Substitutes variables in a tree and applies overrides. The given tree is not changed. */
export function prepareTree(
  tree: Section,
  { env, overrides = [], alsoKnown, mayName, isHidden = () => false }: Omit<Check<unknown>, 'validate'>,
): PreparedTree {
  const own = structuredClone(tree)
  // Overridden values are removed first: their variables may be unset.
  for (const { pointer } of overrides) setAt(own, pointer, undefined)
  const { value, shown, troubles } = substitute(own, env, mayName)
  if (!isObject(value)) return { part: undefined, shown, troubles }
  for (const { pointer, value: over, secret } of overrides) {
    setAt(value, pointer, over)
    if (secret) shown.set(pointer, '***')
  }
  const textual = [...new Set([...shown.keys(), ...overrides.map(({ pointer }) => pointer)])]
  const hidden: string[] = []
  mapTexts(value, (text, pointer) => {
    if (isHidden(pointer)) hidden.push(pointer)
    return text
  })
  return { part: { value, textual, ...(hidden.length > 0 && { hidden }), ...(alsoKnown && { alsoKnown }) }, shown, troubles }
}

/** Validates a part in place. */
export function judgePart<T>(validate: Validate<T>, { value, textual, hidden = [], alsoKnown }: SchemaPart): JudgedPart<T> {
  if (checkValue(validate, value, new Set(textual))) return { value }
  // All errors are listed, and defaults are filled in beside them.
  const errors = (validate.errors ?? []).filter(({ instancePath }) => !hidden.includes(instancePath))
  return errors.length === 0 && isOfHidden<T>(value, hidden) ? { value } : { troubles: schemaProblems(errors, alsoKnown) }
}

/** Whatever a schema misses at texts that stand for others, these are right. */
const isOfHidden = <T>(_value: Section, hidden: readonly string[]): _value is Section & T => hidden.length > 0

/** The tree as it was judged, or everything that is wrong with it. */
export function finishTree<T>(
  { shown, troubles }: PreparedTree,
  judged: JudgedPart<T> | undefined,
): CheckResult<T> | { troubles: readonly TreeProblem[] } {
  if (!judged) return { troubles }
  if ('value' in judged && troubles.length === 0) return { value: judged.value, shown: maskedCopy(judged.value, shown) }
  const told = new Set(troubles.map(({ pointer }) => pointer))
  return { troubles: [...troubles, ...('troubles' in judged ? judged.troubles : []).filter(({ pointer }) => !told.has(pointer))] }
}

/** Substitutes variables in a tree, applies overrides and validates the result. The given tree is not changed. */
export function checkTree<T>(tree: Section, { validate, ...how }: Check<T>): CheckResult<T> | { troubles: readonly TreeProblem[] } {
  const prepared = prepareTree(tree, how)
  return finishTree(prepared, prepared.part && judgePart(validate, prepared.part))
}

/**
 * Validates in place. Text from the environment is converted to the number, boolean or list that the schema expects there; values in a file
 * must have the right type.
 * @param textual JSON pointers of the texts from the environment
 */
function checkValue<T>(validate: Validate<T>, value: Section, textual: ReadonlySet<string>): value is Section & T {
  convertTexts(validate.schema, value, textual)
  if (validate(value)) return true
  let changed = false
  for (const { keyword, instancePath, params } of validate.errors ?? []) {
    if (keyword !== 'type' || !textual.has(instancePath)) continue
    const text = getAt(value, instancePath)
    const typed = typeof text === 'string' ? fromText(text, params['type']) : undefined
    if (typed === undefined) continue
    setAt(value, instancePath, typed)
    changed = true
  }
  return changed && validate(value)
}

/** Converts the texts for which the schema has one type that no text has: nothing has to be wrong first to know that. */
function convertTexts(schema: unknown, value: Section, textual: Iterable<string>): void {
  for (const pointer of textual) {
    const type = typeAt(schema, pointer)
    const text = type === undefined ? undefined : getAt(value, pointer)
    const typed = typeof text === 'string' ? fromText(text, type) : undefined
    if (typed !== undefined) setAt(value, pointer, typed)
  }
}

/** The type of the property in the schema; undefined where it is said in another way. */
function typeAt(schema: unknown, pointer: string): unknown {
  let at = schema
  for (const key of segmentsOf(pointer)) {
    const properties = isObject(at) ? at['properties'] : undefined
    at = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
  }
  return isObject(at) ? at['type'] : undefined
}

/** The value of this type that a text stands for. */
export function fromText(text: string, type: unknown): number | boolean | readonly unknown[] | undefined {
  const trimmed = text.trim()
  if (type === 'boolean') return trimmed === 'true' ? true : trimmed === 'false' ? false : undefined
  if (type === 'array') return listFromText(trimmed)
  if (type !== 'integer' && type !== 'number') return undefined
  const number = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined
  return number !== undefined && Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

/** `a, b` or JSON: `["a","b"]`, whose entries the schema judges. */
function listFromText(text: string): readonly unknown[] | undefined {
  if (!text.startsWith('['))
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

/** The layers of a file's settings, from lowest to highest: defaults, the file, flags and environment. */
interface Layers {
  file: string
  defaults?: Section
  yaml: YamlFile | undefined
  overrides?: readonly Override[]
  /** Absent: whatever is wrong refuses the file. */
  entries?: SeparateEntries
}

/** Entries of a file that hold by themselves: one that is wrong is left out, and the others hold. */
export interface SeparateEntries {
  /** @returns the JSON pointer of the entry in which a place stands; undefined: without this place nothing holds */
  at(pointer: string): string | undefined
  /** Gets each entry that is left out. */
  onLeftOut(entry: string, problems: readonly ConfigProblem[]): void
}

/** Merges the layers and validates the result; undefined after a problem. */
export function checkFile<T>(
  validate: Validate<T>,
  { file, defaults = {}, yaml, overrides = [], entries }: Layers,
  env: Environment,
  problems: ConfigProblem[],
): CheckResult<T> | undefined {
  const overrideAt = (pointer: string) => overrides.find((one) => ancestors(pointer).includes(one.pointer))
  const entryAt = (pointer: string) => (overrideAt(pointer) ? undefined : entries?.at(pointer))
  const placed = ({ pointer, problem, remedy }: TreeProblem): ConfigProblem => {
    const override = overrideAt(pointer)
    const where = override ? { file: override.file, path: override.path } : locate(pointer, yaml ? [yaml] : [], file)
    return { ...where, problem, remedy }
  }
  const check = (tree: Section) => checkTree(tree, { validate, env, overrides })

  const tree = mergeOver(defaults, yaml?.value ?? {})
  const checked = check(tree)
  const troubles = [...(yaml?.traps ?? []), ...('troubles' in checked ? checked.troubles : [])]
  if ('value' in checked && troubles.length === 0) return checked
  const wrong = new Map<string, ConfigProblem[]>()
  for (const trouble of troubles) {
    const entry = entryAt(trouble.pointer)
    if (entry !== undefined) wrong.set(entry, [...(wrong.get(entry) ?? []), placed(trouble)])
  }
  const isOfEntries = troubles.every(({ pointer }) => entryAt(pointer) !== undefined)
  const rest = isOfEntries ? check(withoutEntries(tree, [...wrong.keys()])) : checked
  if ('value' in rest && isOfEntries) {
    for (const [entry, why] of wrong) entries?.onLeftOut(entry, why)
    return rest
  }
  problems.push(...(isOfEntries && 'troubles' in rest ? rest.troubles : troubles).map(placed))
  return undefined
}
