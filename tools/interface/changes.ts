// Whether a change of the public interface breaks who uses it.
import { isObject } from '../../core/base/json.ts'

export interface InterfaceChanges {
  readonly breaking: readonly string[]
  readonly compatible: readonly string[]
}

/**
 * The changes of a report of an entry point. Whatever is gone or differs breaks; so does a member that is new and not optional, where plugins
 * implement the type.
 */
export function changesOfReport(before: string, after: string): InterfaceChanges {
  const [old, now] = [declarationsOf(before), declarationsOf(after)]
  const breaking: string[] = []
  const compatible: string[] = []
  for (const [name, lines] of old) {
    const other = now.get(name)
    if (!other) {
      breaking.push(`- ${name}`)
      continue
    }
    for (const line of without(lines, other)) breaking.push(`- ${name}: ${line}`)
    for (const line of without(other, lines)) (isOptional(line) ? compatible : breaking).push(`+ ${name}: ${line}`)
  }
  for (const name of now.keys()) if (!old.has(name)) compatible.push(`+ ${name}`)
  return { breaking, compatible }
}

/** Lines of code of each declaration, by its name. */
function declarationsOf(report: string): ReadonlyMap<string, readonly string[]> {
  const code = report.match(/```ts\n([^]*)```/)?.[1] ?? ''
  const found = new Map<string, readonly string[]>()
  for (const block of code.split(/\n(?=\/\/ @)/)) {
    const lines = block
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('//'))
    const name = /(?:class|interface|type|const|function|enum|namespace) (\w+)/.exec(lines[0] ?? '')?.[1]
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), ...lines])
  }
  return new Map([...found].map(([name, lines]) => [name, withInherited(lines, found)]))
}

/** What an interface extends that the same entry point exports is its own: to part it in two breaks nobody. */
function withInherited(lines: readonly string[], all: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const [first = '', ...rest] = lines
  const [, head, bases] = /^(export interface .+?) extends (.+) \{$/.exec(first) ?? []
  if (head === undefined || bases === undefined) return lines
  const names = bases.split(/, (?=[A-Z])/)
  const membersOf = (base: string) => all.get(base.replace(/<.*/, ''))
  const others = names.filter((base) => !membersOf(base))
  const inherited = names.flatMap((base) => withInherited(membersOf(base) ?? [], all).slice(1, -1))
  return [`${head}${others.length > 0 ? ` extends ${others.join(', ')}` : ''} {`, ...inherited, ...rest]
}

const isOptional = (line: string) => /^(readonly )?\w+\?/.test(line)

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const rest = [...others]
  return lines.filter((line) => {
    const at = rest.indexOf(line)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

/** The changes of the OpenAPI document, by JSON pointer. What a request must have, and a value that is gone, breaks. */
export function changesOfDocument(before: string, after: string): InterfaceChanges {
  const breaking: string[] = []
  const compatible: string[] = []
  compare(JSON.parse(before), JSON.parse(after), '')
  return { breaking, compatible }

  function compare(one: unknown, other: unknown, at: string): void {
    const key = at.slice(at.lastIndexOf('/') + 1)
    if (JSON.stringify(one) === JSON.stringify(other)) return
    if (isNamed(one) && isNamed(other)) compare(byName(one), byName(other), at)
    else if (Array.isArray(one) && Array.isArray(other)) {
      const parts = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each))
      for (const each of without(parts(one), parts(other)))
        (key === 'required' ? compatible : breaking).push(`- ${at}: ${each.slice(0, 200)}`)
      for (const each of without(parts(other), parts(one)))
        (key === 'required' ? breaking : compatible).push(`+ ${at}: ${each.slice(0, 200)}`)
    } else if (isObject(one) && isObject(other)) {
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
        const below = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        if (!(name in other)) (words.has(name) ? compatible : breaking).push(`- ${below}`)
        else if (name in one) compare(one[name], other[name], below)
        else compatible.push(`+ ${below}`)
      }
    } else if (key === 'required' && typeof other === 'boolean') (other ? breaking : compatible).push(`${at}: ${String(one)} → ${other}`)
    else (words.has(key) ? compatible : breaking).push(`${at}: ${JSON.stringify(one)} → ${JSON.stringify(other)}`.slice(0, 300))
  }
}

/** A list of parameters, whose order means nothing. */
const isNamed = (value: unknown): value is readonly { readonly name: string }[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => isObject(each) && typeof each.name === 'string')

const byName = (list: readonly { readonly name: string }[]) => Object.fromEntries(list.map((each) => [each.name, each]))

/** What people read, and no program. */
const words = new Set(['description', 'summary', 'title', 'version', 'example', 'default'])
