/** A row of a table, and what is said below it. */
interface Row {
  cells: readonly string[]
  below?: readonly string[]
}

/** In columns as wide as their widest cell. */
export function table(rows: readonly Row[]): string {
  const widths = rows[0]?.cells.map((_, column) => Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0))) ?? []
  return rows
    .flatMap(({ cells, below = [] }) => [
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
      ...below.map((line) => `  ${line}`),
    ])
    .join('\n')
}
