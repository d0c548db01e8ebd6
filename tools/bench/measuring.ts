import { readFileSync } from 'node:fs'

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

/** The value that a share of the numbers does not exceed; NaN of none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5)

/** So many requests over all clients together, each of which makes its next when it has the last one's answer. */
export async function inTurns<C>(clients: readonly C[], count: number, one: (client: C, index: number) => Promise<unknown>) {
  const latenciesMs: number[] = []
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      while (next < count) {
        const index = next
        next += 1
        const sentAt = performance.now()
        await one(client, index)
        latenciesMs.push(performance.now() - sentAt)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  return { rate: count / seconds, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) }
}

/** Linux counts in hundredths of a second for whoever asks, whatever its own tick is (USER_HZ, proc(5)). */
const msPerTick = 10

/** Processor time of a process with all its threads, in milliseconds; NaN where the system has no /proc. */
export function cpuMsOf(processId: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The name, in parentheses, may hold anything; utime and stime are fields 14 and 15 of the whole.
    const [utime, stime] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return (Number(utime) + Number(stime)) * msPerTick
  } catch {
    return Number.NaN
  }
}
