import { LineCounter, parseDocument } from 'yaml'
import type { ConfigProblem } from './problems.ts'
import { dotted } from './yaml/pointer.ts'
import { plainYaml, maxDepth } from './yaml/plain-yaml.ts'
import { readTextFile } from './yaml/read-text-file.ts'
import { isSection, type Section } from './tree.ts'

/** A configuration file that was read: its mapping, and where in the file each key stands. */
export interface YamlFile {
  /** The name to show. */
  file: string
  value: Section
  /** Line of each key and list entry, by JSON pointer. */
  lines: ReadonlyMap<string, number>
}

/**
 * Reads a YAML mapping; undefined when there is no such file, or a problem, which is added to `problems`.
 * YAML 1.2 core without hexadecimal and octal numbers: an address without quotes stays text.
 */
export function readYaml(path: string, file: string, problems: ConfigProblem[]): YamlFile | undefined {
  const report = (problem: string, cure: string, pointer = '', line?: number) =>
    void problems.push({ file, ...(line === undefined ? {} : { line }), path: dotted(pointer), problem, cure })

  const read = readTextFile(path)
  if (read.is === 'bad') report(read.problem, read.cure)
  if (read.is !== 'text') return undefined
  // The parser itself does not survive thousands of open brackets.
  if (openBrackets(read.text) > maxDepth) {
    report(`is nested more than ${maxDepth} levels deep`, 'Check the brackets.')
    return undefined
  }
  const counter = new LineCounter()
  const lineAt = (offset: number) => counter.linePos(offset).line
  const document = parseDocument(read.text, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'HEX' && tag.format !== 'OCT')),
  })
  // One fault can bring about any number of further ones.
  const faults = [...document.errors, ...document.warnings]
  for (const { message, pos, code } of faults.slice(0, 5)) {
    report(
      `is not the YAML that Sluice reads: ${withoutText(message)}`,
      cures[code] ?? 'Correct that line, or put quotes around the value.',
      '',
      lineAt(pos[0]),
    )
  }
  if (faults.length > 0) return undefined

  const { value, lines, traps } = plainYaml(document, lineAt)
  for (const { pointer, line, problem, cure } of traps) report(problem, cure, pointer, line)
  if (traps.length > 0) return undefined
  if (value === null) return { file, value: {}, lines }
  if (isSection(value)) return { file, value, lines }
  report('is not a mapping', 'Write `key: value` lines at the top level.', '', 1)
  return undefined
}

const cures: Readonly<Partial<Record<string, string>>> = {
  DUPLICATE_KEY: 'Keep one of the two keys.',
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_ALIAS: 'Put quotes around a value that begins with `*`.',
  MULTIPLE_DOCS: 'Remove the line `---` and what follows it.',
  TAG_RESOLVE_FAILED: 'Remove the tag (the word that begins with `!`).',
}

/** The parser ends some of its messages with what it found there, which may be a secret that lacks its quotes. */
function withoutText(message: string): string {
  return message.replace(/(:| %).*$/s, '')
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
