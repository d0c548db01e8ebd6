import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { isAlias, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, parseDocument, type Document } from 'yaml'
import type { ConfigProblem } from './problems.ts'
import { dottedPath, emptyKeys, mergeOver, type Section, pointerOf, type TreeProblem, ancestors } from './tree.ts'
import { isObject } from '../base/json.ts'

/** A configuration file: its mapping, and the line of each key. */
export interface YamlFile {
  /** The name to show. */
  readonly file: string
  /** Shared by all who read the same text: nobody changes it. */
  readonly value: Readonly<Section>
  /** Line of each key and list entry, by JSON pointer. */
  lines: ReadonlyMap<string, number>
  /** Values that YAML allows and that are probably mistakes: only where the caller asks for them, else they are problems of the file. */
  traps?: readonly TreeProblem[]
}

/**
 * Reads a YAML mapping; undefined without such a file, or after a problem, which is added to `problems`. The schema is YAML 1.2 core without
 * hexadecimal and octal numbers, so that an address without quotes is text.
 * @param path or the descriptor of a file that is open
 * @param withTraps gives values that are probably mistakes with the file: one of them refuses its own entry only
 */
export function readYaml(path: string | number, file: string, problems: ConfigProblem[], withTraps = false): YamlFile | undefined {
  const read = readTextFile(path)
  if (read.is === 'bad') problems.push({ file, path: '', problem: read.problem, remedy: read.remedy })
  return read.is === 'text' ? readYamlText(read.text, file, problems, withTraps) : undefined
}

/** The same of a text, as who writes a file reads it before: what is not read again is not written. */
export function readYamlText(text: string, file: string, problems: ConfigProblem[], withTraps = false): YamlFile | undefined {
  const report = (problem: string, remedy: string, line?: number) =>
    void problems.push({ file, ...(line === undefined ? {} : { line }), path: '', problem, remedy })

  const { refusal, faults, value, lines, traps } = parsed(text)
  if (refusal) {
    report(...refusal)
    return undefined
  }
  // One fault can cause any number of others.
  for (const { message, code, line } of faults.slice(0, 5))
    report(`is not valid YAML: ${withoutText(message)}`, remedies[code] ?? 'Correct that line, or put quotes around the value.', line)
  const yaml: YamlFile = { file, value: isObject(value) ? value : {}, lines, ...(withTraps && { traps }) }
  if (!withTraps) for (const { pointer, problem, remedy } of traps) problems.push({ ...locate(pointer, [yaml], file), problem, remedy })
  if (faults.length > 0 || (traps.length > 0 && !withTraps)) return undefined
  if (value === null || isObject(value)) return yaml
  report('is not a mapping', 'Write `key: value` lines at the top level.', 1)
  return undefined
}

/** The same where a key without a value is a problem: a limit that is left empty would be none. @param remedyOf undefined: this one may be empty */
export function withoutEmptyKeys(yaml: YamlFile, remedyOf: (pointer: string) => string | undefined): YamlFile {
  const empty = emptyKeys(yaml.value).flatMap((pointer) => {
    const remedy = remedyOf(pointer)
    return remedy === undefined ? [] : [{ pointer, problem: 'is empty', remedy }]
  })
  return empty.length === 0 ? yaml : { ...yaml, traps: [...(yaml.traps ?? []), ...empty] }
}

/** These files laid over each other, the last on top. One that is missing or cannot be read is left out. */
export const mergedFiles = (files: readonly string[]): Section =>
  files.reduce<Section>((below, file) => mergeOver(below, readYaml(file, file, [])?.value ?? {}), {})

interface ParsedYaml extends ReadValues {
  /** Why the parser was not asked: what is wrong, and what to do. */
  readonly refusal?: readonly [problem: string, remedy: string]
  readonly faults: readonly { message: string; code: string; line: number }[]
}

/** By the text, while they are in use: several parts of a start read the same files, and most of its reading time goes into parsing them. */
const known = new Map<string, WeakRef<ParsedYaml>>()
const maxKnown = 200

function parsed(text: string): ParsedYaml {
  const before = known.get(text)?.deref()
  if (before) return before
  const result = parse(text)
  if (known.size >= maxKnown) known.clear()
  known.set(text, new WeakRef(result))
  return result
}

function parse(text: string): ParsedYaml {
  const refusal = refusalOf(shapeOf(text))
  if (refusal) return { refusal, faults: [], ...nothing }
  const counter = new LineCounter()
  const lineAt = (offset: number) => counter.linePos(offset).line
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // The library compares each key with all before it.
    uniqueKeys: false,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'HEX' && tag.format !== 'OCT')),
  })
  const faults = [...document.errors, ...document.warnings].map(({ message, pos, code }) => ({ message, code, line: lineAt(pos[0]) }))
  const { repeated, ...values } = faults.length > 0 ? { ...nothing, repeated: [] } : valuesIn(document, lineAt)
  if (repeated.length === 0) return { faults, ...values }
  return { faults: repeated.map((line) => ({ message: 'Map keys must be unique', code: 'DUPLICATE_KEY', line })), ...nothing }
}

const nothing: ReadValues = { value: null, lines: new Map(), traps: [] }

const remedies: Readonly<Partial<Record<string, string>>> = {
  DUPLICATE_KEY: 'Keep one of the two keys.',
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_ALIAS: 'Put quotes around a value that begins with `*`.',
  MULTIPLE_DOCS: 'Remove the line `---` and what follows it.',
  TAG_RESOLVE_FAILED: 'Remove the tag (the word that begins with `!`).',
}

function refusalOf({ depth, tokens }: ReturnType<typeof shapeOf>): ParsedYaml['refusal'] {
  // The parser would overflow its stack. V8 ends the process then, and throws nothing, if it just compiles a regular expression.
  if (depth > maxDepth) return [`is nested more than ${maxDepth} levels deep`, 'Check the brackets and the indentation.']
  // The parser would hold the server for seconds.
  if (tokens > maxTokens) return ['is too large: it has too many keys, values or comments', 'Put the right file in its place.']
  return undefined
}

/** The parser ends some messages with text of the file, which may be a secret without its quotes. */
function withoutText(message: string): string {
  return message.replace(/(:| %).*$/s, '')
}

/**
 * Levels of collections, by the library's lexer, which does not recurse: those in brackets, and those of blocks by the columns of their indicators. Of
 * a list at the indent of its key, one of both is counted. Ends with the first level or token too many.
 */
function shapeOf(text: string): { depth: number; tokens: number } {
  const blocks: number[] = []
  let [column, brackets, depth, tokens] = [0, 0, 0, 0]
  for (const token of new Lexer().lex(text)) {
    tokens += 1
    if (token === '[' || token === '{') brackets += 1
    else if (token === ']' || token === '}') brackets = Math.max(0, brackets - 1)
    else if (token === '\x18') brackets = 0
    else if (brackets === 0 && (token === '-' || token === '?' || token === ':')) {
      while ((blocks.at(-1) ?? -1) >= column) blocks.pop()
      blocks.push(column)
    }
    depth = Math.max(depth, blocks.length + brackets)
    column = token.includes('\n') ? 0 : column + token.length
    if (depth > maxDepth || tokens > maxTokens) break
  }
  return { depth, tokens }
}

/** Aliases can expand a small file without bound, and refer to themselves. */
const maxValues = 20_000
const maxDepth = 40
/** With their keys, spaces and ends of lines, and comments beside them. */
const maxTokens = 10 * maxValues

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

interface ReadValues {
  readonly value: unknown
  /** By JSON pointer. */
  readonly lines: ReadonlyMap<string, number>
  readonly traps: readonly TreeProblem[]
}

/** A parsed document as plain values, and the lines of keys that a mapping has twice. */
function valuesIn({ contents }: Document, lineAt: (offset: number) => number): ReadValues & { readonly repeated: readonly number[] } {
  const repeated: number[] = []
  const lines = new Map<string, number>()
  const traps: TreeProblem[] = []
  /** As they stand before the node that is read; the library looks for each through the whole document. */
  const anchors = new Map<string, unknown>()
  let [values, aliases] = [0, 0]
  let gaveUp = false

  function noteAnchor(node: unknown): void {
    // What an alias stands for was noted where it stands.
    if (aliases === 0 && (isScalar(node) || isSeq(node) || isMap(node)) && node.anchor !== undefined) anchors.set(node.anchor, node)
  }

  const trap = (pointer: string, problem: string, remedy: string) => void traps.push({ pointer, problem, remedy })

  function valueOf(node: unknown, pointer: string, depth: number): unknown {
    if (gaveUp) return null
    noteAnchor(node)
    if (++values > maxValues || depth > maxDepth) {
      gaveUp = true
      trap(pointer, 'is too large: too many values, nested too deep, or an alias inside of itself', 'Write fewer aliases.')
    } else if (isAlias(node)) {
      if (anchors.has(node.source)) {
        aliases += 1
        const value = valueOf(anchors.get(node.source), pointer, depth + 1)
        aliases -= 1
        return value
      }
      trap(
        pointer,
        'begins with * like an alias, but no such anchor stands before it',
        'Put quotes around the value, or define the anchor.',
      )
    } else if (isSeq(node)) {
      return node.items.map((item, index) => {
        const at = pointer + pointerOf([index])
        noteLine(at, item)
        return valueOf(item, at, depth + 1)
      })
    } else if (isMap(node)) {
      const section: Section = {}
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : ''
        const at = pointer + pointerOf([name])
        noteLine(at, key)
        noteAnchor(key)
        if (Object.hasOwn(section, name) && isScalar(key)) repeated.push(lineAt(key.range?.[0] ?? 0))
        if (forbiddenKeys.has(name)) trap(at, 'is not allowed as a key', 'Remove it.')
        else section[name] = valueOf(value, at, depth + 1)
      }
      return section
    } else if (isScalar(node)) {
      const problem = numberTrap(node.value, node.source ?? '')
      if (problem) trap(pointer, ...problem)
      return node.value
    }
    return null
  }

  function noteLine(pointer: string, node: unknown): void {
    if (isNode(node) && node.range) lines.set(pointer, lineAt(node.range[0]))
  }

  return { value: valueOf(contents, '', 0), lines, traps, repeated }
}

function numberTrap(value: unknown, source: string): [problem: string, remedy: string] | undefined {
  if (typeof value !== 'number') return undefined
  if (/^[-+]?0\d/.test(source))
    return ['is a number with leading zeros, which may be read as octal', 'Write it without leading zeros, or put quotes around it.']
  if (!Number.isFinite(value)) return ['is not a finite number', 'Write a number.']
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return ['is a number too large to be exact', 'Put quotes around it.']
  return undefined
}

/** Where a key stands, for people: in the topmost file that has the key or the nearest mapping around it. */
export function locate(pointer: string, layers: readonly YamlFile[], otherwise: string): { file: string; line?: number; path: string } {
  const path = dottedPath(pointer)
  for (const at of ancestors(pointer)) {
    const layer = layers.findLast(({ lines }) => lines.has(at))
    const line = layer?.lines.get(at)
    if (layer && line !== undefined) return { file: layer.file, line, path }
  }
  return { file: otherwise, path }
}

/** More than any configuration needs; token lists have their own limit. */
export const maxTextBytes = 1_000_000

type TextFile = { is: 'text'; text: string } | { is: 'absent' } | { is: 'bad'; problem: string; remedy: string }

/** Opens a file to read it; a FIFO is opened at once, too. @throws the error of the file system */
export const openToRead = (file: string): number => openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))

/** Reads a regular UTF-8 file. Failures are returned as a problem with its remedy, never thrown. @param file or its open descriptor, which stays open */
export function readTextFile(file: string | number, limitBytes = maxTextBytes): TextFile {
  let opened: number | undefined
  try {
    // One descriptor for both: the file that is checked is the file that is read, whatever is put in its place meanwhile.
    const descriptor = typeof file === 'number' ? file : (opened = openToRead(file))
    const stats = fstatSync(descriptor)
    // Reading a FIFO or a device could block for ever.
    if (!stats.isFile())
      return bad(stats.isDirectory() ? 'is a folder, not a file' : 'is not a regular file', `Put a file in its place, or remove it.`)
    if (stats.size > limitBytes) return bad(`is larger than ${limitBytes} bytes`, 'Put the right file in its place.')
    // The decoder drops a byte order mark.
    return { is: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor)) }
  } catch (error) {
    return failure(error)
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

function failure(error: unknown): TextFile {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
      return { is: 'absent' }
    case 'EACCES':
    case 'EPERM':
      return bad(
        'cannot be read: permission denied',
        `Let the user that runs Sluice${process.getuid ? ` (uid ${process.getuid()})` : ''} read it.`,
      )
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return bad('is not UTF-8 text', 'Save it with the encoding UTF-8.')
    default:
      return bad(`cannot be read (${String(code ?? error)})`, 'Check the file and the disk that it is on.')
  }
}

function bad(problem: string, remedy: string): TextFile {
  return { is: 'bad', problem, remedy }
}
