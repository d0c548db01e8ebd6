import { startChild } from '../child.ts'
import type { RoutesRun, RoutesProcess } from '../processes/routes.ts'
import { micros, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 7
const quotes = 1_000
/** Of WETH for USDC: what nobody would split, what some would, and what goes several ways. */
const amounts = [1, 20, 200]

/** The search over all pools of uniswap in memory for amounts that were not asked before, where swaps may go several ways and where not. */
export async function routes(): Promise<Row[]> {
  const child = await startChild<RoutesProcess>('routes')
  try {
    const rows: Row[] = []
    for (const ether of amounts) {
      for (const exact of ['in', 'out'] as const) {
        const asking = (splits: boolean): RoutesRun => ({ splits, exact, ether, quotes })
        const [ours, reference]: [number[], number[]] = [[], []]
        let split = 0
        for (let round = -1; round < rounds; round += 1) {
          const [several, single] = [await child.ask('ask', asking(true)), await child.ask('ask', asking(false))]
          split = several.split
          // What is measured is warm code.
          if (round < 0) continue
          ours.push(several.micros)
          reference.push(single.micros)
        }
        const [value, beside] = [median(ours), median(reference)]
        const name = `${ether} to ${2 * ether} WETH exactly ${exact}, ${Math.round(100 * split)} % go several ways`
        rows.push({ name, value: micros(value), reference: micros(beside), ratio: times(value, beside) })
      }
    }
    return rows
  } finally {
    await child.end()
  }
}
