import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import type { ConfigProblem } from './config-error.ts'
import { dotted, pointerOf } from './pointer.ts'
import { readTextFile } from './read-text-file.ts'
import { isSection, type Section } from './tree.ts'

/** A configuration file that was read: its mapping, and where in the file each key stands. */
export interface YamlFile {
  /** The name to show. */
  file: string
  value: Section
  /** Line of each key and list entry, by JSON pointer. */
  lines: ReadonlyMap<string, number>
}

/** Aliases can make a small file expand without bound. */
const maxValues = 20_000
const maxDepth = 40

/**
 * Reads a YAML mapping; undefined when there is no such file. Problems are added to `problems`.
 * YAML 1.2 core without hexadecimal and octal numbers: an address without quotes stays text.
 */
export function readYaml(path: string, file: string, problems: ConfigProblem[]): YamlFile | undefined {
  const read = readTextFile(path)
  if (read.is === 'absent') return undefined
  if (read.is === 'bad') {
    problems.push({ file, path: '', problem: read.problem, cure: read.cure })
    return undefined
  }
  const reader = new Reader(file, problems)
  return reader.read(read.text)
}

class Reader {
  readonly file: string
  readonly problems: ConfigProblem[]
  readonly lines = new Map<string, number>()
  readonly counter = new LineCounter()
  count = 0
  gaveUp = false

  constructor(file: string, problems: ConfigProblem[]) {
    this.file = file
    this.problems = problems
  }

  read(text: string): YamlFile | undefined {
    const before = this.problems.length
    // The parser itself does not survive thousands of open brackets.
    if (openBrackets(text) > maxDepth) this.report('', undefined, `is nested more than ${maxDepth} levels deep`, 'Check the brackets.')
    else this.convert(text)
    const value = this.value
    if (this.problems.length > before || value === undefined) return undefined
    return { file: this.file, value, lines: this.lines }
  }

  value: Section | undefined

  convert(text: string): void {
    const document = parseDocument(text, {
      lineCounter: this.counter,
      prettyErrors: false,
      stringKeys: true,
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      logLevel: 'silent',
      customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'HEX' && tag.format !== 'OCT')),
    })
    for (const { message, pos, code } of [...document.errors, ...document.warnings]) {
      this.report('', this.counter.linePos(pos[0]).line, `is not the YAML that Sluice reads: ${message}`, yamlCures[code] ?? 'Correct that line, or put quotes around the value.')
    }
    if (document.errors.length + document.warnings.length > 0) return
    const value = document.contents === null ? null : this.plain(document, document.contents, [], 0)
    if (value === null) this.value = {}
    else if (isSection(value)) this.value = value
    else this.report('', 1, 'is not a mapping', 'Write `key: value` lines at the top level.')
  }

  plain(document: Document, node: unknown, path: readonly (string | number)[], depth: number): unknown {
    if (this.gaveUp) return null
    this.count += 1
    if (this.count > maxValues || depth > maxDepth) {
      this.gaveUp = true
      this.report(pointerOf(path), undefined, 'holds too much: too many values, too deep, or an alias inside of itself', 'Write fewer aliases.')
      return null
    }
    if (isAlias(node)) {
      const target = node.resolve(document)
      if (target === undefined) this.report(pointerOf(path), this.line(node), `uses the alias *${node.source}, which is not defined before it`, 'Put quotes around the value, or define the anchor.')
      return target === undefined ? null : this.plain(document, target, path, depth + 1)
    }
    if (isSeq(node)) return node.items.map((item, index) => this.noting(document, item, [...path, index], depth))
    if (isMap(node)) {
      const section: Section = {}
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : ''
        const at = [...path, name]
        this.note(pointerOf(at), key)
        if (forbiddenKeys.has(name)) this.report(pointerOf(at), this.line(key), 'is not allowed as a key', 'Remove it.')
        else section[name] = value === null ? null : this.plain(document, value, at, depth + 1)
      }
      return section
    }
    return isScalar(node) ? this.scalar(node.value, node.source ?? '', pointerOf(path), this.line(node)) : null
  }

  noting(document: Document, item: unknown, path: readonly (string | number)[], depth: number): unknown {
    this.note(pointerOf(path), item)
    return this.plain(document, item, path, depth + 1)
  }

  scalar(value: unknown, source: string, pointer: string, line: number | undefined): unknown {
    if (typeof value !== 'number') return value
    if (/^[-+]?0\d/.test(source)) this.report(pointer, line, 'is a number with leading zeros, which some take for octal', 'Write it without leading zeros, or put quotes around it.')
    else if (!Number.isFinite(value)) this.report(pointer, line, 'is not a finite number', 'Write a number.')
    else if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.report(pointer, line, 'is a number too large to be exact', 'Put quotes around it.')
    return value
  }

  note(pointer: string, node: unknown): void {
    const line = this.line(node)
    if (line !== undefined && !this.lines.has(pointer)) this.lines.set(pointer, line)
  }

  line(node: unknown): number | undefined {
    const range = isNode(node) ? node.range : undefined
    return range ? this.counter.linePos(range[0]).line : undefined
  }

  report(pointer: string, line: number | undefined, problem: string, cure: string): void {
    this.problems.push({ file: this.file, ...(line === undefined ? {} : { line }), path: dotted(pointer), problem, cure })
  }
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

const yamlCures: Readonly<Partial<Record<string, string>>> = {
  DUPLICATE_KEY: 'Keep one of the two keys.',
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_ALIAS: 'Put quotes around a value that begins with `*`.',
  MULTIPLE_DOCS: 'Remove the line `---` and what follows it.',
  TAG_RESOLVE_FAILED: 'Remove the tag (the word that begins with `!`).',
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}

function openBrackets(text: string): number {
  let open = 0
  let most = 0
  for (const character of text) {
    if (character === '[' || character === '{') most = Math.max(most, ++open)
    else if ((character === ']' || character === '}') && open > 0) open -= 1
  }
  return most
}
