// CSV as RFC 4180 says it. What others wrote is text for a spreadsheet, and never a formula; each record is one line.
import { printable } from './printable.ts'

/** A column, and what a record has in it. */
export type CsvColumn<T> = readonly [name: string, value: (record: T) => string | number | undefined]

/** Records that are many, and how they are written in columns. */
export interface RecordStream<T extends object> {
  /** Each is read once the one before it was taken. */
  readonly pages: AsyncGenerator<readonly T[], void>
  readonly columns: readonly CsvColumn<T>[]
}

export interface CsvWriter<T> {
  readonly header: string
  lines(records: readonly T[]): string
}

/** A spreadsheet takes it for a number, though it begins as formulas do. */
const belowZero = /^-\d+(\.\d+)?$/

/** Where Excel splits a line at `;`, as it does in German or French, a formula may begin. Quotes do not keep it together: they begin no cell of its. */
const semicolon = /;(?=["\s]*[=+\-@＝＋－＠])/g

/** Before what a spreadsheet would take for a formula is an apostrophe, also behind a semicolon. A line break within a text is a space. */
export async function csvWriter<T>(columns: readonly CsvColumn<T>[]): Promise<CsvWriter<T>> {
  // Most servers and commands write none.
  const { stringify } = await import('csv-stringify/sync')
  const write = (rows: readonly (readonly string[])[]) =>
    stringify([...rows], {
      record_delimiter: '\r\n',
      escape_formulas: true,
      cast: { string: (value) => (belowZero.test(value) ? { value, escape_formulas: false } : value) },
    })
  const cell = (value: string | number | undefined) =>
    value === undefined ? '' : printable(String(value)).replaceAll('\n', ' ').replaceAll(semicolon, ";'")
  return {
    header: write([columns.map(([name]) => name)]),
    lines: (records) => write(records.map((record) => columns.map(([, value]) => cell(value(record))))),
  }
}
