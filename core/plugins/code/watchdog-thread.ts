// Watches the main thread from a thread of its own. See watchdog.ts.
import { writeSync } from 'node:fs'
import inspector from 'node:inspector'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { blockedLine, createBlockedLoop } from '../../base/blocked-loop.ts'
import { plainJson } from '../../base/printable.ts'
import { authorsLine } from './source-places.ts'
import { folderUrl, pluginOfStack, type PluginFolder } from './uncaught.ts'
import { loopWords, type WatchdogData } from './watchdog.ts'

interface Frame {
  functionName: string
  url: string
  line: number
  column: number
  /** A source map in the script itself has the lines that its author wrote: plugins are compiled so. */
  map: string | undefined
}

/** How long it may take to find the function that is running. */
const inquiryMs = 5_000

const { shared, beatMs, beatsPerStall, stallSeconds, saysOnly }: WatchdogData = workerData
let plugins: readonly PluginFolder[] = []
parentPort?.on('message', (more: readonly PluginFolder[]) => {
  plugins = more
})

const loop = createBlockedLoop({ processId: 'self', stallMs: beatMs * beatsPerStall, beatMs })
let last = -1
const watch = setInterval(() => {
  const now = Atomics.load(shared, 0)
  const beingDebugged = Atomics.load(shared, 1) === 1
  const heard = now !== last || beingDebugged
  last = now
  if (!loop.isBlocked(heard)) return
  clearInterval(watch)
  findRunningFunction()
}, beatMs)

/** Pauses the main thread by the debugger's protocol and reads its call frames. The thread stays paused where the process ends. */
function findRunningFunction(): void {
  const scripts = new Map<string, { readonly url: string; readonly sourceMapURL?: string | undefined }>()
  if (!saysOnly) setTimeout(() => end([]), inquiryMs)
  try {
    const session = new inspector.Session()
    session.connectToMainThread()
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params))
    session.on('Debugger.paused', ({ params }) => {
      const frames = params.callFrames.map(({ functionName, location, url }) => ({
        functionName,
        url: scripts.get(location.scriptId)?.url ?? url,
        line: location.lineNumber + 1,
        column: location.columnNumber ?? 0,
        map: scripts.get(location.scriptId)?.sourceMapURL,
      }))
      if (!saysOnly) return end(frames)
      say(frames)
      session.post('Debugger.resume')
      session.disconnect()
    })
    session.post('Debugger.enable')
    session.post('Debugger.pause')
  } catch {
    if (!saysOnly) end([])
  }
}

/** Of a plugin: in its folder, with the line of the source. */
function placeOf({ url, line, column, map }: Frame): string {
  const folder = plugins.find((each) => url.startsWith(folderUrl(each.folder)))?.folder
  if (folder === undefined) return `${url}:${line}`
  return `${path.relative(folder, fileURLToPath(url))}:${(map !== undefined && authorsLine(map, line, column)) || line}`
}

interface RunningCode {
  readonly plugin: string | undefined
  readonly where: string | undefined
}

function runningIn(frames: readonly Frame[]): RunningCode {
  const guilty = frames.find(({ url }) => pluginOfStack(url, plugins) !== undefined)
  const top = guilty ?? frames.find(({ url }) => url.startsWith('file:')) ?? frames[0]
  const plugin = guilty && pluginOfStack(guilty.url, plugins)
  return { plugin, where: top && `${top.functionName || 'an anonymous function'} (${placeOf(top)})` }
}

/** In the words that `loopIn` reads. */
function say(frames: readonly Frame[]): void {
  const { where } = runningIn(frames)
  if (where !== undefined) writeSync(2, `${loopWords}${where}\n`)
}

function end(frames: readonly Frame[]): void {
  const { plugin, where } = runningIn(frames)
  const who = plugin === undefined ? 'no plugin was running' : `the plugin '${plugin}' was running`
  const running = `${who}${where === undefined ? '' : `, in ${where}`}`
  // Synchronous: the main thread is paused.
  try {
    writeSync(2, `${plainJson(blockedLine({ processId: process.pid, stallSeconds, running, plugin, function: where }))}\n`)
  } finally {
    // Also where nobody reads the log and the pipe is full.
    process.kill(process.pid, 'SIGKILL')
  }
}
