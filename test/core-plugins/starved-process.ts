// A process with a watchdog, for tests: it works in long turns, or in one without end, from the first line of its input on.
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { startWatchdog } from '../../core/plugins/code/watchdog.ts'

const [work, stallSeconds] = process.argv.slice(2)
/** Of processor time. */
const turnMs = 150

startWatchdog({ stallSeconds: Number(stallSeconds), running: 'a test runs' })
// Some heartbeats first: it is their end that the watchdog looks for.
await setTimeout(500)
console.log('ready')
await once(process.stdin, 'data')

if (work === 'loop') for (;;);
if (work === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
for (let turn = 0; turn < 3; turn += 1) {
  const before = process.cpuUsage()
  while (process.cpuUsage(before).user + process.cpuUsage(before).system < turnMs * 1000);
  await setTimeout(1)
}
console.log('done')
process.exit(0)
