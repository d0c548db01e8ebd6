import { watch } from 'node:fs'
import { checkServerCertificates, readServerPems, type ServerCertificates } from './server-certificates.ts'

// Notifications do not come from every mount (NFS, some containers' volumes), so the four small files are also read now and then.
const pollMs = 2_000
// A renewal replaces two files: reading between them would find a pair that does not fit.
const settleMs = 30

export interface WatchEvents {
  /** The files are a new usable set. A throw refuses it. */
  changed(certificates: ServerCertificates): void
  /** The files are no usable set; the server goes on with what it has. */
  refused(error: unknown): void
}

/** Reports every change of the server's certificate files since `current` was read. Returns what stops it. */
export function watchCertificates(certsDir: string, current: ServerCertificates, events: WatchEvents): () => void {
  let seen = JSON.stringify(current.pems)
  let lastRefusal: string | undefined
  let turn = Promise.resolve()
  let settling: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    if (stopped) return
    try {
      const pems = await readServerPems(certsDir)
      const content = JSON.stringify(pems)
      if (content === seen) return
      seen = content
      const certificates = await checkServerCertificates(certsDir, pems)
      if (stopped) return
      events.changed(certificates)
      lastRefusal = undefined
    } catch (error) {
      // Files that stay away are found away at every poll: said once.
      if (!stopped && String(error) !== lastRefusal) events.refused(error)
      lastRefusal = String(error)
    }
  }

  function lookSoon(): void {
    settling ??= setTimeout(() => {
      settling = undefined
      turn = turn.then(look)
    }, settleMs)
    settling.unref()
  }

  const stopNotifications = notifications(certsDir, lookSoon)
  const poll = setInterval(lookSoon, pollMs).unref()
  lookSoon()

  return () => {
    stopped = true
    stopNotifications()
    clearInterval(poll)
    clearTimeout(settling)
  }
}

/** File system notifications where there are any: the poll notices everything too, only later. */
function notifications(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // The limit of watches is reached, or the file system has none.
    return () => {}
  }
}
