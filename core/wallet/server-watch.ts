// The signer's keeper ends a server whose event loop is blocked. Servers without a keeper have a thread for it (core/plugins/code/watchdog.ts).
import { writeSync } from 'node:fs'
import { blockedLine, createBlockedLoop } from '../base/blocked-loop.ts'

export interface WatchOrder {
  /** How long its event loop may be blocked. */
  readonly stallSeconds: number
  /** What runs in the server, for the line that is said then. */
  readonly running: string
}

/** The server's first message. */
export interface WatchMessage extends WatchOrder {
  readonly type: 'watch'
}

/** The server gives a sign of life twice as often, and answers are awaited between. */
const beatMs = 500
/** With fewer beats one that comes late would end a server that works. */
export const shortestStallSeconds = 5

export function readWatchMessage(message: object): WatchMessage | undefined {
  if (!('type' in message && message.type === 'watch' && 'stallSeconds' in message && 'running' in message)) return undefined
  const { stallSeconds, running } = message
  if (typeof stallSeconds !== 'number' || stallSeconds < shortestStallSeconds || typeof running !== 'string') return undefined
  return { type: 'watch', stallSeconds, running }
}

/** @returns who is told of each heartbeat of the server */
export function watchServer({ stallSeconds, running }: WatchMessage): { hear(beingDebugged: boolean): void } {
  const server = process.ppid
  const loop = createBlockedLoop({ processId: server, stallMs: stallSeconds * 1000, beatMs })
  let heard = true
  let beingDebugged = false
  const watch = setInterval(() => {
    const isBlocked = loop.isBlocked(heard || beingDebugged)
    heard = false
    // Where it ended, this process has another parent, and is about to end.
    const hasEnded = !process.connected || process.ppid !== server
    if (hasEnded || isBlocked) clearInterval(watch)
    if (isBlocked && !hasEnded) end(server, stallSeconds, running)
  }, beatMs)
  watch.unref()
  return {
    hear(isDebugged) {
      heard = true
      beingDebugged = isDebugged
    },
  }
}

function end(server: number, stallSeconds: number, running: string): void {
  // First: the standard error, which is the server's, may be a pipe that is full and nobody reads.
  process.kill(server, 'SIGKILL')
  writeSync(2, `${blockedLine({ processId: server, stallSeconds, running })}\n`)
}
