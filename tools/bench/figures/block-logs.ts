import { startChild } from '../child.ts'
import type { BlockLogsProcess, Kind } from '../processes/block-logs.ts'
import { micros, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const kinds: readonly Kind[] = ['Sync', 'Swap', 'Mint and Burn']
const sources = { answer: "from the node's answer", logs: 'of logs that were read' } as const
const rounds = 7
const blocks = 20

/** A block of a thousand logs, each of another pool: moving the pools by it beside decoding them alone, by the least that does and by ethers. */
export async function blockLogs(): Promise<Row[]> {
  const child = await startChild<BlockLogsProcess>('block-logs')
  try {
    const rows: Row[] = []
    for (const kind of kinds) {
      for (const from of ['answer', 'logs'] as const) {
        const seen = { apply: [] as number[], decode: [] as number[], decodeByLibrary: [] as number[] }
        const hows = from === 'logs' ? (['apply', 'decode', 'decodeByLibrary'] as const) : (['apply', 'decode'] as const)
        // The first are to warm the code.
        for (let round = -2; round < rounds; round += 1) {
          for (const how of hows) {
            const one = await child.ask(how, { kind, from, blocks })
            if (round >= 0) seen[how].push(one)
          }
        }
        const beside = (name: string, reference: number): Row => {
          const value = median(seen.apply)
          return { name, value: micros(value), reference: micros(reference), ratio: times(value, reference) }
        }
        rows.push(beside(`${kind}, ${sources[from]}`, median(seen.decode)))
        if (from === 'logs') rows.push(beside(`${kind}, beside ethers`, median(seen.decodeByLibrary)))
      }
    }
    return rows
  } finally {
    await child.end()
  }
}
