// A table that becomes a list of cards where the screen is narrow. Its roles are written out: cards have the display of no table.
import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly name: string
  cell(row: Row): ComponentChildren
  /** Numbers stand at the end. */
  readonly end?: true
}

interface TableProps<Row> {
  /** What it lists, for those who do not see its heading. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
  /** In the place of a table without rows. */
  readonly none: string
}

export function Table<Row>({ caption, columns, rows, keyOf, none }: TableProps<Row>) {
  if (rows.length === 0) return <p class="none">{none}</p>
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, end }) => (
            <th role="columnheader" scope="col" class={end ? 'end' : ''}>
              {name === '' ? <span class="unseen">Actions</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" key={keyOf(row)}>
            {columns.map(({ name, cell, end }) => (
              <td role="cell" class={end ? 'end' : ''} data-name={name}>
                {/* One box: beside its name on a phone, its parts stand in lines. */}
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
