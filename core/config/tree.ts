import { isObject } from '../base/json.ts'

/** A mapping of a configuration file. */
export interface Section {
  [key: string]: unknown
}

/** Lays one tree over another: mappings are merged, other values (lists too) replaced; null leaves the value below. */
export function mergeOver(below: Section, over: Section): Section {
  const merged: Section = { ...below }
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue
    const beneath = Object.hasOwn(merged, key) ? merged[key] : undefined
    merged[key] = isObject(value) ? mergeOver(isObject(beneath) ? beneath : {}, value) : structuredClone(value)
  }
  return merged
}

/** Keys of mappings without a value, which a merge drops: in lists a schema sees them. */
export function emptyKeys(tree: unknown, pointer = ''): string[] {
  if (tree === null) return [pointer]
  return isObject(tree) ? Object.entries(tree).flatMap(([key, value]) => emptyKeys(value, pointer + pointerOf([key]))) : []
}

export function getAt(tree: unknown, pointer: string): unknown {
  let at = tree
  for (const segment of segmentsOf(pointer)) {
    if (Array.isArray(at)) at = at[Number(segment)]
    else if (isObject(at) && Object.hasOwn(at, segment)) at = at[segment]
    else return undefined
  }
  return at
}

/** Sets a value in place. Does nothing where its parent is not a mapping or list: the schema reports that. */
export function setAt(tree: Section, pointer: string, value: unknown): void {
  const segments = segmentsOf(pointer)
  const last = segments.pop()
  const parent = getAt(tree, pointerOf(segments))
  if (last === undefined) return
  if (Array.isArray(parent)) parent[Number(last)] = value
  else if (isObject(parent)) parent[last] = value
}

/** A copy without what stands at these JSON pointers. */
export function withoutEntries(tree: Section, pointers: readonly string[]): Section {
  const copy = structuredClone(tree)
  // From behind: the places of a list's other entries stay what they are.
  for (const pointer of pointers.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))) {
    const segments = segmentsOf(pointer)
    const last = segments.pop() ?? ''
    const parent = getAt(copy, pointerOf(segments))
    if (Array.isArray(parent)) parent.splice(Number(last), 1)
    else if (isObject(parent)) delete parent[last]
  }
  return copy
}

/** A copy with each text replaced by the result of `change`. */
export function mapTexts(value: unknown, change: (text: string, pointer: string) => string, pointer = ''): unknown {
  if (typeof value === 'string') return change(value, pointer)
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, change, pointer + pointerOf([index])))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, pointer + pointerOf([key]))]))
}

/** JSON pointers (RFC 6901), as ajv writes them in `instancePath`. */
export function pointerOf(segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** For people: `/mainnet/rpcUrls/0` → `mainnet.rpcUrls[0]`. */
export function dottedPath(pointer: string): string {
  return segmentsOf(pointer)
    .map((segment, index) => (/^\d+$/.test(segment) && index > 0 ? `[${segment}]` : `${index > 0 ? '.' : ''}${segment}`))
    .join('')
}

/** The pointer and all its ancestors, deepest first. */
export function ancestors(pointer: string): string[] {
  const segments = segmentsOf(pointer)
  return segments.map((_, index) => pointerOf(segments.slice(0, segments.length - index))).concat('')
}

/** A problem by its place in the tree, without the file. */
export interface TreeProblem {
  pointer: string
  problem: string
  remedy: string
}

interface SubstitutionResult {
  value: unknown
  /** The texts that were changed, by JSON pointer, with `***` for values of variables. */
  shown: Map<string, string>
  troubles: TreeProblem[]
}

const reference = /\$(\$?)\{([^}]*)(\}?)/g
const variableName = /^[A-Za-z_]\w*$/

/**
 * Replaces `${NAME}` by the variable's value; `$${` stands for `${` itself.
 * @param mayName whether the text at this JSON pointer may name variables
 */
export function substitute(tree: unknown, env: Environment, mayName: (pointer: string) => boolean = () => true): SubstitutionResult {
  const shown = new Map<string, string>()
  const troubles: TreeProblem[] = []
  const value = mapTexts(tree, (text, pointer) => {
    if (!text.includes('${')) return text
    const from = (look: (name: string) => string) =>
      text.replace(reference, (whole, escaped: string, name: string) => (escaped ? whole.slice(1) : look(name)))
    for (const [, escaped, name = '', closed] of text.matchAll(reference)) {
      const problem = escaped ? undefined : mayName(pointer) ? wrong(name, closed === '}', env) : notTheirs(name)
      if (problem) troubles.push({ pointer, ...problem })
      else if (!escaped)
        shown.set(
          pointer,
          from(() => '***'),
        )
    }
    return from((name) => variable(env, name) ?? '')
  })
  return { value, shown, troubles }
}

/** A plugin that named a variable would be told a secret of the server. */
const notTheirs = (name: string): { problem: string; remedy: string } => ({
  problem: `names the environment variable ${name}, and a plugin's own defaults may name none`,
  remedy:
    "Write this value in the plugin's file under conf/, if the plugin is to know that variable. Write $${ for the characters ${ themselves.",
})

function wrong(name: string, closed: boolean, env: Environment): { problem: string; remedy: string } | undefined {
  if (!closed) return { problem: 'has ${ without a closing }', remedy: 'Close it, or write $${ for the characters themselves.' }
  if (!variableName.test(name)) {
    return {
      problem: `has \${${name}}, which does not name a variable`,
      remedy: 'Write ${NAME} with letters, digits and _, or $${ for the characters themselves.',
    }
  }
  if (variable(env, name) !== undefined) return undefined
  return {
    problem: `needs the environment variable ${name}, which is not set`,
    remedy: `Set ${name} before the start, or remove this value.`,
  }
}

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable; an empty one counts as not set, because `${X:-}` in Compose files makes empty ones. */
export function variable(env: Environment, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return value === '' ? undefined : value
}
