import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../child.ts'
import type { FloodsProcess } from '../processes/floods.ts'
import type { LoadProcess } from '../processes/load.ts'
import { ms, times, type Row } from '../report.ts'

const [connections, restMs, seconds] = [2, 2, 3]

/** What others wait for prices of a built-in connector while the host of a plugin floods the server in one of the ways that there are. */
export async function floods(): Promise<Row[]> {
  const child = await startChild<FloodsProcess>('floods')
  const { url, certsDir, names } = await child.ask('where')
  const load = await startChild<LoadProcess>('load', [certsDir])
  try {
    const run = () => load.ask('run', { url, connections, requests: Infinity, mostSeconds: seconds, restMs })
    await run()
    const rows: Row[] = []
    for (const name of names) {
      const alone = await run()
      const begun = child.ask('flood', name)
      await sleep(200)
      const beside = await run()
      await begun
      await sleep(1_000)
      for (const [what, value, reference] of [
        ['p50', beside.p50Ms, alone.p50Ms],
        ['p95', beside.p95Ms, alone.p95Ms],
      ] as const)
        rows.push({ name: `${name}: ${what}`, value: ms(value), reference: ms(reference), ratio: times(value, reference) })
      rows.push({ name: '  its host was ended', value: `${await child.ask('deaths', name)} times` })
    }
    return rows
  } finally {
    await Promise.all([load.end(), child.end()])
  }
}
