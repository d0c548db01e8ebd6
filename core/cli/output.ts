import { styleText } from 'node:util'
import { command } from '../base/layout.ts'
import { forTerminal, oneLine, printable } from '../base/printable.ts'
import { reasonOf } from '../base/errors.ts'

/** A row of a table, and lines below it. */
interface Row {
  cells: readonly string[]
  below?: readonly string[]
}

/** Between columns. */
const gap = '  '
/** Narrower than this no column is made. */
const minColumn = 8

/**
 * Rows with columns as wide as their widest cell.
 * @param maxWidth of the table: cells are broken after commas, and where no name is long after slashes, to fit, and the lines below at spaces
 */
export function table(given: readonly Row[], maxWidth = Infinity): string {
  const rows = given.map(({ cells, below = [] }) => ({ cells: cells.map(oneLine), below: below.map(printable) }))
  const widths = rows[0]?.cells.map((_, column) => Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0))) ?? []
  const longest = (parts: (cell: string) => string[]) =>
    widths.map((_, column) => Math.max(...rows.flatMap(({ cells }) => parts(cells[column] ?? '').map(({ length }) => length))))
  const room = maxWidth - gap.length * (widths.length - 1)
  const whole = longest(afterCommas)
  // Where the names do not fit, and none is of an unusual length, none is cut: that of a network goes into a second line before.
  const fits = whole.reduce((sum, each) => sum + each, 0) <= room
  const partsOf = !fits && Math.max(...whole) <= usualWidth ? afterSlashes : afterCommas
  fit(widths, longest(partsOf), room)
  return rows
    .flatMap(({ cells, below }) => {
      const columns = cells.map((cell, column) => broken(partsOf(cell), widths[column] ?? 0))
      const height = Math.max(...columns.map(({ length }) => length))
      return [
        ...Array.from({ length: height }, (_, line) =>
          columns
            .map((lines, column) => (lines[line] ?? '').padEnd(widths[column] ?? 0))
            .join(gap)
            .trimEnd(),
        ),
        ...below.flatMap((text) =>
          text
            .split('\n')
            .flatMap((line, first) =>
              broken(line.split(/(?<= )/), maxWidth - 4, false).map(
                (each, index) => `${first + index === 0 ? '  ' : '    '}${each.trimEnd()}`,
              ),
            ),
        ),
      ]
    })
    .join('\n')
}

const usualWidth = 20
const afterCommas = (cell: string): string[] => cell.split(/(?<=,)/)
const afterSlashes = (cell: string): string[] => cell.split(/(?<=[,/])/)

/** Takes from the widest columns, in place, until all fit; first from those whose cells break after commas. */
function fit(widths: number[], unbroken: readonly number[], most: number): void {
  while (widths.reduce((sum, each) => sum + each, 0) > most) {
    const breakable = widths.filter((width, column) => width > (unbroken[column] ?? 0))
    const widest = Math.max(...(breakable.length > 0 ? breakable : widths))
    if (widest <= minColumn) return
    const column = widths.findLastIndex((width, index) => width === widest && (breakable.length === 0 || width > (unbroken[index] ?? 0)))
    widths[column] = widest - 1
  }
}

/** @param cut whether a part that is too long is cut too: not where it is to be copied, such as a path */
function broken(parts: readonly string[], width: number, cut = true): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.trimEnd().length <= width) lines[lines.length - 1] = last + part
    else lines.push(part)
  }
  return cut ? lines.flatMap((line) => line.match(new RegExp(`.{1,${Math.max(1, Math.min(width, 1000))}}`, 'gu')) ?? ['']) : lines
}

/** Prints lines: what commands print goes through here or `complain`, so that no text from outside reaches a terminal as it is. */
export const say = (text: string): void => void process.stdout.write(`${forTerminal(text)}\n`)

/** The same on the standard error. */
export const complain = (text: string): void => void process.stderr.write(`${forTerminal(text)}\n`)

/** Prints the text that a command returns. An error of the command is printed without its stack, and the process exits with 1. */
export async function printResult(command: () => Promise<string>): Promise<void> {
  try {
    say(await command())
  } catch (error) {
    printError(reasonOf(error))
  }
}

/** As `printResult`, on the standard error: the standard output is the command's own. */
export async function printNotice(command: () => Promise<string>): Promise<void> {
  try {
    complain(await command())
  } catch (error) {
    printError(reasonOf(error))
  }
}

export function printError(message: string): void {
  complain(`error: ${message}`)
  process.exitCode = 1
}

/** For tables: the first six and the last four characters of a long one. */
export const shortAddress = (address: string): string => (address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`)

/** Whether a person typed `yes`. */
export const isYes = (answer: string): boolean => answer.trim().toLowerCase() === 'yes'

/** For the help of a command. */
export const examples = (...lines: readonly string[]): string => `\nFor example:\n${lines.map((line) => `  ${command} ${line}`).join('\n')}`

/** The result of one check. A `warn` can wait, a `bad` cannot; `remedy` is absent where `what` says what to do. */
export type Finding = { part: string; state: 'good'; what: string } | { part: string; state: 'warn' | 'bad'; what: string; remedy?: string }

const signs = { good: styleText('green', '✓'), warn: styleText('yellow', '!'), bad: styleText('red', '✗') }

export function showFinding(finding: Finding): string {
  const line = `${signs[finding.state]} ${finding.part.padEnd(13)} ${finding.what}`
  return finding.state === 'good' || finding.remedy === undefined ? line : `${line}\n  ${' '.repeat(13)} → ${finding.remedy}`
}
