import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { newClient } from '../../../core/tls/certificates.ts'
import { startChild, type Child } from '../child.ts'
import { ms, perSecond, times, megabytes, type Row } from '../measuring.ts'
import type { CrowdProcess } from '../processes/crowd.ts'
import type { FloodsProcess } from '../processes/floods.ts'
import type { HeldBodiesProcess } from '../processes/held-bodies.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

const crowded = 1_500
const [own, restMs, seconds] = [2, 2, 10]

/** What a client with two connections waits beside another one with 1,500, all of which always have a quote under way. */
export async function fairness(sluice: Child<SluiceProcess>): Promise<Row[]> {
  const { url, certsDir } = await sluice.ask('where')
  await newClient(certsDir, 'crowd')
  const load = await startChild<LoadProcess>('load', [certsDir])
  const crowd = await startChild<CrowdProcess>('crowd', [certsDir, 'crowd'])
  try {
    const run = () => load.ask('run', { url, connections: own, requests: Infinity, mostSeconds: seconds, restMs })
    await run()
    const alone = await run()
    const running = run()
    // Its own connections are open by then.
    await sleep(500)
    const connecting = crowd.ask('connect', { url, connections: crowded })
    const whileConnecting = await running
    await connecting
    await crowd.ask('start')
    await sleep(2_000)
    await crowd.ask('take')
    const beside = await run()
    const { ok, refused, lost } = await crowd.ask('take')
    const against = (name: string, value: number, reference: number): Row => ({
      name,
      value: ms(value),
      reference: ms(reference),
      ratio: times(value, reference),
    })
    return [
      against('p50', beside.p50Ms, alone.p50Ms),
      against('p99', beside.p99Ms, alone.p99Ms),
      { name: 'quotes', value: perSecond(beside.requests / beside.seconds), reference: perSecond(alone.requests / alone.seconds) },
      { name: `quotes of the other's ${crowded} connections`, value: perSecond(ok / beside.seconds) },
      { name: 'requests of the other that were refused', value: String(refused) },
      { name: 'connections of the other that were lost', value: String(lost) },
      against('while the other connects: p50', whileConnecting.p50Ms, alone.p50Ms),
      against('while the other connects: p99', whileConnecting.p99Ms, alone.p99Ms),
    ]
  } finally {
    await crowd.ask('stop')
    await Promise.all([load.end(), crowd.end()])
  }
}

const [connections, floodRestMs, floodSeconds] = [2, 2, 3]

/** What others wait for prices of a built-in connector while the host of a plugin floods the server in one of the ways that there are. */
export async function floods(): Promise<Row[]> {
  const child = await startChild<FloodsProcess>('floods')
  const { url, certsDir, names } = await child.ask('where')
  const load = await startChild<LoadProcess>('load', [certsDir])
  try {
    const run = () => load.ask('run', { url, connections, requests: Infinity, mostSeconds: floodSeconds, restMs: floodRestMs })
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
