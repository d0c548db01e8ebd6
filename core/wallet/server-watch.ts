// The signer's keeper ends a server whose event loop is blocked. A thread of the server could say which function runs, but takes 7 MB: it is for
// servers in which code of others runs.
import { writeSync } from 'node:fs'
import { blockedLine, createBlockedLoop } from '../base/blocked-loop.ts'

/** The server's first message. */
export interface WatchMessage {
  readonly type: 'watch'
  /** How long its event loop may be blocked. */
  readonly stallSeconds: number
}

/** The server gives a sign of life twice as often, and answers are awaited between. */
const beatMs = 500
/** With fewer beats one that comes late would end a server that works. */
export const shortestStallSeconds = 5

export function readWatchMessage(message: object): WatchMessage | undefined {
  if (!('type' in message && message.type === 'watch' && 'stallSeconds' in message)) return undefined
  const { stallSeconds } = message
  return typeof stallSeconds === 'number' && stallSeconds >= shortestStallSeconds ? { type: 'watch', stallSeconds } : undefined
}

/** @returns who is told of each heartbeat of the server */
export function watchServer({ stallSeconds }: WatchMessage): { hear(beingDebugged: boolean): void } {
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
    if (isBlocked && !hasEnded) end(server, stallSeconds)
  }, beatMs)
  watch.unref()
  return {
    hear(isDebugged) {
      heard = true
      beingDebugged = isDebugged
    },
  }
}

function end(server: number, stallSeconds: number): void {
  // First: the standard error, which is the server's, may be a pipe that is full and nobody reads.
  process.kill(server, 'SIGKILL')
  const running = 'only code of this release runs in the process'
  const advice = ' With log.level=debug this line names the function.'
  writeSync(2, `${blockedLine({ processId: server, stallSeconds, running, advice })}\n`)
}
