// Reads the plain part of YAML, in which nearly every configuration file and sluice.lock are written: block mappings and lists, one value a
// line. It takes a tenth of the library's time. What it reads, the library reads alike (test/config/plain-yaml.test.ts); it gives up on all else.
import { pointerOf, type Section } from './tree.ts'

interface PlainYaml {
  readonly value: Section
  /** Line of each key and list entry, by JSON pointer. */
  readonly lines: Map<string, number>
}

interface Line {
  readonly number: number
  readonly indent: number
  readonly content: string
}

const maxLength = 500_000
const maxDepth = 30
const maxEntries = 10_000
/** Line breaks of other kinds, tabs and what is not seen are left to the library. */
// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u2000-\u200f\u2028-\u202f\ud800-\udfff\ufeff-\uffff]/
const blank = /^ *(?:#.*)?$/
/** A key, and what stands after its colon. After a digit only letters that no number has: 3pool. */
const entry = /^((?:[A-Za-z_]|[0-9][g-np-wyz])[\w./-]{0,199}):(?: +(.*))?$/
/** A value, with nothing but a comment after it. */
const scalar =
  /^(?:'([\x20-\x26\x28-\x7e]*)'|"([\x20\x21\x23-\x5b\x5d-\x7e]*)"|([A-Za-z0-9/][\w./+:-]*|[A-Za-z][\w./+-]*(?: [\w./+-]+)+)|(\{\})|(\[\]))(?: +#.*| *)$/
/** A list on one line, of words. */
const words = /^\[ *([A-Za-z][\w-]*(?: *, *[A-Za-z][\w-]*)*) *\](?: +#.*| *)$/
const numeric = /^[\d.]+(?:[eE][-+]?\d+)?$/
const number = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/
/** Words that are no text, in some spelling, and keys that no section has. */
const reserved = /^(?:true|false|null|__proto__|constructor|prototype)$/i

/** Undefined for a text that is not a mapping in plain YAML. */
export function readPlainYaml(text: string): PlainYaml | undefined {
  if (text.length > maxLength || unseen.test(text)) return undefined
  const lines: Line[] = []
  for (const [index, whole] of text.split('\n').entries()) {
    if (blank.test(whole)) continue
    const content = whole.trimStart()
    lines.push({ number: index + 1, indent: whole.length - content.length, content })
  }
  const found = new Map<string, number>()
  let at = 0

  /** The block that begins here: all of this indent, and what belongs to it. */
  function block(indent: number, pointer: string, depth: number): unknown {
    if (depth > maxDepth) return undefined
    return lines[at]?.content.startsWith('- ') ? list(indent, pointer, depth) : mapping(indent, pointer, depth)
  }

  function mapping(indent: number, pointer: string, depth: number): Section | undefined {
    const section: Section = {}
    for (let line = lines[at]; line !== undefined && line.indent >= indent; line = lines[at]) {
      const [, key, rest = ''] = entry.exec(line.content) ?? []
      if (line.indent > indent || key === undefined || reserved.test(key) || Object.hasOwn(section, key)) return undefined
      const here = pointer + pointerOf([key])
      found.set(here, line.number)
      at += 1
      const value = valueOf(rest, indent, here, depth)
      if (value === undefined) return undefined
      section[key] = value
    }
    return section
  }

  function list(indent: number, pointer: string, depth: number): unknown[] | undefined {
    const items: unknown[] = []
    for (let line = lines[at]; line !== undefined && line.indent >= indent; line = lines[at]) {
      if (line.indent > indent || !line.content.startsWith('- ')) return undefined
      const here = pointer + pointerOf([items.length])
      found.set(here, line.number)
      const content = line.content.slice(2)
      let item: unknown
      if (entry.test(content)) {
        // A mapping that begins on the line of its dash.
        lines[at] = { number: line.number, indent: indent + 2, content }
        item = mapping(indent + 2, here, depth + 1)
      } else {
        at += 1
        item = scalarOf(content)
      }
      if (item === undefined) return undefined
      items.push(item)
    }
    return items
  }

  /** What stands after a key, or below it. */
  function valueOf(rest: string, indent: number, pointer: string, depth: number): unknown {
    if (rest !== '' && !rest.startsWith('#')) return scalarOf(rest) ?? wordsOf(rest, pointer)
    const next = lines[at]
    if (next !== undefined && next.indent > indent) return block(next.indent, pointer, depth + 1)
    // A list may stand at the indent of its key.
    return next?.indent === indent && next.content.startsWith('-') ? undefined : null
  }

  /** A list on the line of its key. */
  function wordsOf(rest: string, pointer: string): unknown[] | undefined {
    const items = words.exec(rest)?.[1]?.split(/ *, */).map(scalarOf)
    if (items?.includes(undefined)) return undefined
    for (const index of items?.keys() ?? []) found.set(pointer + pointerOf([index]), found.get(pointer) ?? 0)
    return items
  }

  const first = lines[0]
  // A file with nothing but comments, as several of conf are.
  if (first === undefined) return { value: {}, lines: found }
  if (first.content.startsWith('- ')) return undefined
  const value = mapping(first.indent, '', 0)
  return value === undefined || at < lines.length || found.size > maxEntries ? undefined : { value, lines: found }
}

function scalarOf(content: string): unknown {
  const [, single, double, plain, emptyMapping, emptyList] = scalar.exec(content) ?? []
  if (single !== undefined || double !== undefined) return single ?? double
  if (emptyMapping !== undefined) return {}
  if (emptyList !== undefined) return []
  if (plain === undefined || plain.endsWith(':')) return undefined
  if (numeric.test(plain)) return number.test(plain) ? Number(plain) : undefined
  if (plain === 'true' || plain === 'false') return plain === 'true'
  return reserved.test(plain) ? undefined : plain
}
