// Watches the main thread from a thread of its own. See watchdog.ts.
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { blockedLine, createBlockedLoop } from '../../base/blocked-loop.ts'
import type { WatchdogData } from './watchdog.ts'

const { shared, beatMs, stallSeconds, running }: WatchdogData = workerData
const loop = createBlockedLoop({ processId: 'self', stallMs: stallSeconds * 1000, beatMs })
let last = -1
setInterval(() => {
  const now = Atomics.load(shared, 0)
  const beingDebugged = Atomics.load(shared, 1) === 1
  const heard = now !== last || beingDebugged
  last = now
  if (!loop.isBlocked(heard)) return
  try {
    writeSync(2, `${blockedLine({ processId: process.pid, stallSeconds, running })}\n`)
  } finally {
    // Also where nobody reads the log and the pipe is full.
    process.kill(process.pid, 'SIGKILL')
  }
}, beatMs)
