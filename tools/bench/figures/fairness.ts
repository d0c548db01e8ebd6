import { setTimeout as sleep } from 'node:timers/promises'
import { newClient } from '../../../core/tls/certificates.ts'
import { startChild, type Child } from '../child.ts'
import type { CrowdProcess } from '../processes/crowd.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { ms, perSecond, times, type Row } from '../report.ts'

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
