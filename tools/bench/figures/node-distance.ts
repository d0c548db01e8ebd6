import { startChild } from '../child.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { newQuotes, sameQuote } from '../quote-path.ts'
import { ms, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 5
const farMs = 50
const [connections, requests] = [1, 500]

/** Warm quotes of a server whose node is far away, beside the same server with its node at hand. */
export async function nodeDistance(): Promise<Row[]> {
  const sluice = await startChild<SluiceProcess>('sluice', ['behind-proxy'])
  try {
    const { url, certsDir } = await sluice.ask('where')
    const load = await startChild<LoadProcess>('load', [certsDir])
    try {
      const rows: Row[] = []
      for (const [name, path] of [
        ['the same', sameQuote()],
        ['new', newQuotes()],
      ] as const) {
        const p50 = async (delayMs: number) => {
          await sluice.ask('delayNode', delayMs)
          return (await load.ask('run', { url, connections, requests, path })).p50Ms
        }
        await p50(0)
        const [far, near]: [number[], number[]] = [[], []]
        for (let round = 0; round < rounds; round += 1) {
          far.push(await p50(farMs))
          near.push(await p50(0))
        }
        const [value, reference] = [median(far), median(near)]
        rows.push({ name: `${name}: p50`, value: ms(value), reference: ms(reference), ratio: times(value, reference) })
      }
      return rows
    } finally {
      await load.end()
    }
  } finally {
    await sluice.end()
  }
}
