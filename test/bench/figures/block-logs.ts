import { startChild } from '../child.ts'
import type { BlockLogsProcess, Kind } from '../processes/block-logs.ts'
import { micros, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const kinds: readonly Kind[] = ['Sync', 'Swap', 'Mint and Burn']
const sources = { answer: "from the node's answer", logs: 'of logs that were read' } as const
const rounds = 7
const blocks = 20

/** A block of a thousand logs, each of another pool: moving the pools by it beside decoding them alone. */
export async function blockLogs(): Promise<Row[]> {
  const child = await startChild<BlockLogsProcess>('block-logs')
  try {
    const rows: Row[] = []
    for (const kind of kinds) {
      for (const from of ['answer', 'logs'] as const) {
        const seen = { apply: [] as number[], decode: [] as number[] }
        // The first are to warm the code.
        for (let round = -2; round < rounds; round += 1) {
          for (const how of ['apply', 'decode'] as const) {
            const one = await child.ask(how, { kind, from, blocks })
            if (round >= 0) seen[how].push(one)
          }
        }
        const [value, reference] = [median(seen.apply), median(seen.decode)]
        rows.push({
          name: `${kind}, ${sources[from]}`,
          value: micros(value),
          reference: micros(reference),
          ratio: times(value, reference),
        })
      }
    }
    return rows
  } finally {
    await child.end()
  }
}
