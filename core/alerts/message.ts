// What people are told: a few sentences about one rule, from values that are bounded and have no characters that deceive.
import type { RuleName, Severity } from '../config/alerts-file.ts'
import { oneLine } from '../base/printable.ts'

/** Something that a rule found. */
export interface Finding {
  /** What it is about: the same text as long as it is the same. A wallet, a transaction, a node. */
  readonly subject: string
  /** A sentence of what is so. */
  readonly words: string
}

/** As it waits in the store: whatever is written of it is bounded. */
export interface AlertMessage {
  readonly status: 'raised' | 'resolved' | 'test'
  readonly rule: RuleName | 'test'
  readonly severity: Severity
  /** What the rule says, in a few words. */
  readonly title: string
  /** What to do. */
  readonly remedy: string
  /** Of what is over: what that means. */
  readonly over?: string
  /** How many there are, of which `items` are the first. */
  readonly count: number
  readonly items: readonly Finding[]
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** The server that says it. */
  readonly server: string
}

export const maxItems = 10
const [maxSubject, maxWords] = [200, 400]

const bounded = (text: string, max: number): string => {
  const line = oneLine(text.slice(0, max))
  return text.length > max ? `${line}…` : line
}

/** Labels, names of tokens and what plugins say are others' words: nobody takes them for more than that, and none is long. */
export const safeFinding = ({ subject, words }: Finding): Finding => ({
  subject: bounded(subject, maxSubject),
  words: bounded(words, maxWords),
})

const marks = { info: 'INFO', warning: 'WARNING', critical: 'CRITICAL' } as const

/** The first line. */
export function headingOf({ status, severity, title, count }: AlertMessage): string {
  const mark = status === 'raised' ? marks[severity] : status === 'resolved' ? 'RESOLVED' : 'TEST'
  return `[${mark}] ${title}${count > 1 ? ` (${count})` : ''}`
}

/** The lines below. */
export function linesOf({ status, items, count, remedy, over, server, at }: AlertMessage): string[] {
  return [
    ...items.map(({ words }) => `- ${words}`),
    ...(count > items.length ? [`- and ${count - items.length} more`] : []),
    ...(status === 'raised' && remedy !== '' ? [`What to do: ${remedy}`] : []),
    ...(over === undefined ? [] : [over]),
    // It may come late.
    `Sluice, ${server}, ${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
  ]
}
