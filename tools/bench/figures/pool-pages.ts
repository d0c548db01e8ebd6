import { startChild } from '../child.ts'
import type { PoolPagesProcess } from '../processes/pool-pages.ts'
import { ms, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const pages = 9
const [many, few] = [20_000, 200]

/** The deepest 100 of many pools in memory, two connectors' or one's: how long a page holds the event loop at most, and how long it takes. */
export async function poolPages(): Promise<Row[]> {
  const child = await startChild<PoolPagesProcess>('pool-pages')
  try {
    // What is measured is warm code.
    await child.ask('pages', { pools: many, pages: 2 })
    const [ours, reference] = [await child.ask('pages', { pools: many, pages }), await child.ask('pages', { pools: few, pages })]
    return (['heldMs', 'tookMs'] as const).map((key) => {
      const [value, other] = [median(ours.map((each) => each[key])), median(reference.map((each) => each[key]))]
      const what = key === 'heldMs' ? 'the event loop is held at most, median of the pages' : 'a page takes'
      return { name: `${many.toLocaleString('en')} pools: ${what}`, value: ms(value), reference: ms(other), ratio: times(value, other) }
    })
  } finally {
    await child.end()
  }
}
