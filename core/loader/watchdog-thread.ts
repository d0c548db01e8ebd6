// Watches the main thread from a thread of its own. See watchdog.ts.
import { writeSync } from 'node:fs'
import inspector from 'node:inspector'
import { hostname } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { pluginOfStack, type PluginFolder } from './uncaught.ts'
import type { WatchdogData } from './watchdog.ts'

interface Frame {
  functionName: string
  url: string
  line: number
}

/** How long it may take to find the function that is running. */
const inquiryMs = 2_000

const { shared, beatMs, beatsPerStall, stallSeconds }: WatchdogData = workerData
let plugins: readonly PluginFolder[] = []
parentPort?.on('message', (more: readonly PluginFolder[]) => {
  plugins = more
})

// Counts missed beats rather than seconds: when the machine sleeps, this thread stops as well.
let last = -1
let missed = 0
const watch = setInterval(() => {
  const now = Atomics.load(shared, 0)
  const beingDebugged = Atomics.load(shared, 1) === 1
  missed = now === last && !beingDebugged ? missed + 1 : 0
  last = now
  if (missed < beatsPerStall) return
  clearInterval(watch)
  findRunningFunction()
}, beatMs)

/** Pauses the main thread by the debugger's protocol and reads its call frames. The thread stays paused: the process ends. */
function findRunningFunction(): void {
  const scripts = new Map<string, string>()
  setTimeout(() => end([]), inquiryMs)
  try {
    const session = new inspector.Session()
    session.connectToMainThread()
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url))
    session.on('Debugger.paused', ({ params }) => {
      end(
        params.callFrames.map(({ functionName, location, url }) => ({
          functionName,
          url: scripts.get(location.scriptId) ?? url,
          line: location.lineNumber + 1,
        })),
      )
    })
    session.post('Debugger.enable')
    session.post('Debugger.pause')
  } catch {
    end([])
  }
}

function end(frames: readonly Frame[]): void {
  const guilty = frames.find(({ url }) => pluginOfStack(url, plugins) !== undefined)
  const top = guilty ?? frames.find(({ url }) => url.startsWith('file:')) ?? frames[0]
  const plugin = guilty && pluginOfStack(guilty.url, plugins)
  const where = top && `${top.functionName || 'an anonymous function'} (${top.url}:${top.line})`
  const who = plugin === undefined ? 'no plugin was running' : `the plugin '${plugin}' was running`
  const msg = `event loop blocked for ${stallSeconds} s: ${who}${where === undefined ? '' : `, in ${where}`}. The process ends; its supervisor starts it again.`
  // Synchronous and without the logger, whose thread is paused.
  try {
    writeSync(
      2,
      `${JSON.stringify({ level: 60, time: Date.now(), pid: process.pid, hostname: hostname(), plugin, function: where, msg })}\n`,
    )
  } finally {
    // Also where nobody reads the log and the pipe is full.
    process.kill(process.pid, 'SIGKILL')
  }
}
