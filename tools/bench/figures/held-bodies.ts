import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { newClient } from '../../../core/tls/certificates.ts'
import { startChild, type Child } from '../child.ts'
import type { HeldBodiesProcess } from '../processes/held-bodies.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { megabytes, times, type Row } from '../report.ts'

const bodies = 3_500
/** Of the 100,000 that a body may have. */
const held = { announced: 100_000, sent: 99_000 }
/** What a connection costs that has sent something: buffers of TLS and HTTP, which stay with it. */
const whole = { announced: 20_000, sent: 20_000 }
/** What the server does with what has arrived, and what it frees later. */
const settleMs = 3_000

/** What the server holds while clients with few certificates send very many bodies whose ends never come. */
export async function heldBodies(sluice: Child<SluiceProcess>): Promise<Row[]> {
  const { url, certsDir, pid } = await sluice.ask('where')
  const rows: Row[] = [{ name: 'resident before', value: megabytes(residentOf(pid, 'VmRSS')) }]
  for (const certificates of [2, 10]) {
    const names = Array.from({ length: certificates }, (_, index) => `bodies-${certificates}-${index}`)
    for (const name of names) await newClient(certsDir, name)
    const clients = await startChild<HeldBodiesProcess>('held-bodies', [certsDir, ...names])
    try {
      await clients.ask('connect', { url, connections: bodies })
      await clients.ask('send', whole)
      await sleep(settleMs)
      const before = residentOf(pid, 'VmRSS')
      // From now on the peak is that of what comes. https://docs.kernel.org/filesystems/proc.html, clear_refs
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
      await clients.ask('send', held)
      await sleep(settleMs)
      const peak = residentOf(pid, 'VmHWM')
      const answered = Object.entries(await clients.ask('answered'))
      await clients.ask('drop')
      await sleep(settleMs)
      const refused = answered.reduce((sum, [, count]) => sum + count, 0)
      rows.push(
        {
          name: `of ${certificates} certificates: resident at the most`,
          value: megabytes(peak),
          reference: `${megabytes(before)} after a request of 20 kB on each connection`,
          ratio: times(peak, before),
        },
        { name: '  bodies held', value: String(bodies - refused) },
        ...answered.map(([status, count]): Row => ({ name: `  answered ${status}`, value: String(count) })),
        { name: '  resident after the connections ended', value: megabytes(residentOf(pid, 'VmRSS')) },
      )
    } finally {
      await clients.end()
    }
  }
  return rows
}

const residentOf = (pid: number, field: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
