import { startChild } from '../child.ts'
import type { PluginsProcess } from '../processes/plugins.ts'
import { ms, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const copies = 10

/** What loading plugins takes, their trials in threads included, and what each further one adds. */
export async function pluginTrials(): Promise<Row[]> {
  const own: number[] = []
  const more: number[] = []
  let count = 0
  for (let round = 0; round < rounds; round += 1) {
    const few = await load(0)
    count = few.plugins
    own.push(few.ms)
    more.push((await load(copies)).ms)
  }
  const [base, all] = [median(own), median(more)]
  return [
    { name: `the checkout's ${count} plugins`, value: ms(base) },
    { name: `each of ${copies} more connectors`, value: ms((all - base) / copies), reference: '44 to 105 ms by trial import in a thread of its own' },
  ]
}

async function load(extra: number): Promise<{ ms: number; plugins: number }> {
  const child = await startChild<PluginsProcess>('plugins')
  try {
    return await child.ask('load', extra)
  } finally {
    await child.end()
  }
}
