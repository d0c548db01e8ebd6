import { startChild } from '../child.ts'
import type { PluginsProcess } from '../processes/plugins.ts'
import { ms, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const copies = 10

/** What loading plugins takes, their trials in threads included, and what each further one adds. */
export async function pluginTrials(): Promise<Row[]> {
  const few: LoadTimes[] = []
  const many: LoadTimes[] = []
  for (let round = 0; round < rounds; round += 1) {
    few.push(await load(0))
    many.push(await load(copies))
  }
  const [fewMs, manyMs] = [median(few.map(({ ms }) => ms)), median(many.map(({ ms }) => ms))]
  const threadMs = median([...few, ...many].map((loading) => loading.threadMs))
  const row = (name: string, value: number): Row => ({ name, value: ms(value), reference: ms(threadMs), ratio: times(value, threadMs) })
  return [row(`the checkout's ${few[0]?.plugins ?? 0} plugins`, fewMs), row(`each of ${copies} more connectors`, (manyMs - fewMs) / copies)]
}

interface LoadTimes {
  ms: number
  plugins: number
  threadMs: number
}

async function load(extra: number): Promise<LoadTimes> {
  const child = await startChild<PluginsProcess>('plugins')
  try {
    const threadMs = await child.ask('emptyThread')
    return { ...(await child.ask('load', extra)), threadMs }
  } finally {
    await child.end()
  }
}
