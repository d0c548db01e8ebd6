import { startChild } from '../child.ts'
import type { IncrementsProcess } from '../processes/increments.ts'
import { perSecond, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const changes = 50_000
const counts = [1, 50, 200]

/** Changes taken into books in memory, from their text to who follows. */
export async function bookIncrements(): Promise<Row[]> {
  const child = await startChild<IncrementsProcess>('increments')
  try {
    // What is measured is warm code.
    for (const how of ['books', 'maps'] as const) await child.ask(how, { markets: 50, changes })
    const rows: Row[] = []
    for (const markets of counts) {
      const seen = { books: [] as number[], maps: [] as number[] }
      for (let round = 0; round < rounds; round += 1)
        for (const how of ['books', 'maps'] as const) seen[how].push((await child.ask(how, { markets, changes })).rate)
      const [books, maps] = [median(seen.books), median(seen.maps)]
      const name = `${markets} market${markets === 1 ? '' : 's'}`
      rows.push({ name, value: perSecond(books), reference: perSecond(maps), ratio: times(books, maps) })
    }
    return rows
  } finally {
    await child.end()
  }
}
