/** One line of the benchmark: what was measured, beside its reference where there is one. */
export interface Row {
  name: string
  value: string
  reference?: string
  ratio?: string
}

/** Prints a figure's rows in columns under its title, and what is to be known about it. */
export function report(title: string, rows: readonly Row[], note?: string): void {
  const width = (key: 'name' | 'value' | 'reference') => Math.max(0, ...rows.map((row) => (row[key] ?? '').length))
  const [name, value, reference] = [width('name'), width('value'), width('reference')]
  console.log(`\n${title}`)
  for (const row of rows) {
    const against = row.reference === undefined ? '' : `   reference ${row.reference.padStart(reference)}`
    console.log(`  ${row.name.padEnd(name)}  ${row.value.padStart(value)}${against}${row.ratio === undefined ? '' : `   ${row.ratio}`}`)
  }
  if (note !== undefined) console.log(`  ${note}`)
}

export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`
export const micros = (value: number) => `${Math.round(value)} µs`
export const perSecond = (value: number) => `${Math.round(value)}/s`
export const times = (value: number, reference: number) => `× ${(value / reference).toFixed(value / reference < 0.1 ? 3 : 2)}`
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
