// A server that several files share, with the clients of each: what one file has spent is not spent by another.
import type { Client } from '../../testkit/client.ts'

/** The server, and the clients that the files gave it. */
interface SharedByFiles<T> {
  /** By name, as in `conf/clients.yml`: those of every file. */
  readonly clients: Record<string, object>
  readonly opened: Map<string, Client>
  /**
   * Called in a `describe`, so that the server has the clients of all files, and ends after the last of them.
   * @returns what starts it, where it has not started yet
   */
  use(own: Readonly<Record<string, object>>): () => Promise<T>
  /** The server ends; `use` starts another. */
  stop(): Promise<void>
  started(): Promise<T>
}

interface Options<T> {
  readonly client: object
  start(): Promise<T>
  /** What started ends; undefined where nothing did. */
  end(started: T | undefined): Promise<void>
}

export function sharedByFiles<T>({ client, start, end }: Options<T>): SharedByFiles<T> {
  const clients: Record<string, object> = { client }
  const opened = new Map<string, Client>()
  let running: T | undefined
  let users = 0

  async function stop(): Promise<void> {
    for (const each of opened.values()) each.close()
    const ended = running
    running = undefined
    await end(ended)
  }
  const started = async (): Promise<T> => (running ??= await start())
  // Also where some of them have no test that is played.
  after(stop)
  return {
    clients,
    opened,
    use(own) {
      users += 1
      after(async () => {
        users -= 1
        if (users === 0) await stop()
      })
      for (const [name, entry] of Object.entries(own)) {
        if (name in clients) throw new Error(`Another file has the client "${name}".`)
        clients[name] = entry
      }
      return started
    },
    stop,
    started,
  }
}
