import { oneLine, printable } from '../loader/thrown.ts'

/** A row of a table, and lines below it. */
interface Row {
  cells: readonly string[]
  below?: readonly string[]
}

/** Rows with columns as wide as their widest cell. */
export function table(given: readonly Row[]): string {
  const rows = given.map(({ cells, below = [] }) => ({ cells: cells.map(oneLine), below: below.map(printable) }))
  const widths = rows[0]?.cells.map((_, column) => Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0))) ?? []
  return rows
    .flatMap(({ cells, below }) => [
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
      ...below.map((line) => `  ${line.replaceAll('\n', '\n    ')}`),
    ])
    .join('\n')
}

/** Prints the text that a command returns. An error of the command is printed without its stack, and the process exits with 1. */
export async function printResult(command: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await command()}\n`)
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error))
  }
}

/** As `printResult`, on the standard error: the standard output is the command's own. */
export async function printNotice(command: () => Promise<string>): Promise<void> {
  try {
    process.stderr.write(`${await command()}\n`)
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error))
  }
}

export function printError(message: string): void {
  process.stderr.write(`error: ${message}\n`)
  process.exitCode = 1
}

/** Whether a person typed `yes`. */
export const isYes = (answer: string): boolean => answer.trim().toLowerCase() === 'yes'
