import { once } from 'node:events'
import net from 'node:net'

/** A connection of a client to the server, which can fail. */
export interface Link {
  /** Both ends learn that it is gone. */
  cut(): void
  /** From now on nothing comes through but its end: on the way to the server (`up`) or from it (`down`). */
  stall(way: 'up' | 'down'): void
  /** It took an answer of the server, and gave it to nobody: the server cannot know. */
  readonly tookAnswer: boolean
}

export interface Links {
  readonly port: number
  /** That of a client, by the port that it has at its end. */
  of(clientPort: number): Link | undefined
  /** Cuts all that there are. */
  cutAll(): void
  /** When one that was not asked for by its client's port took an answer: milliseconds of the clock. */
  readonly taken: readonly number[]
  stop(): void
}

/** @param target the port of the server now; undefined while there is none */
export async function startLinks(target: () => number | undefined, clock: () => number): Promise<Links> {
  const links = new Map<number, Link>()
  const taken: number[] = []
  const listener = net.createServer((near) => {
    const clientPort = near.remotePort ?? 0
    const to = target()
    near.on('error', () => {})
    if (to === undefined) return void near.destroy()
    const far = net.connect(to, '127.0.0.1').on('error', () => {})
    let [stalledUp, stalledDown, tookAnswer] = [false, false, false]
    links.set(clientPort, {
      cut() {
        near.resetAndDestroy()
        far.end()
      },
      stall(way) {
        if (way === 'up') stalledUp = true
        else stalledDown = true
      },
      get tookAnswer() {
        return tookAnswer
      },
    })
    near.on('data', (data) => stalledUp || far.write(data))
    near.on('close', () => far.end())
    // What the server wrote before it learns that the client is gone still arrives here.
    far.on('data', (data) => {
      if (!stalledDown && !near.destroyed) return void near.write(data)
      // Without the server's own word that it closes.
      if (data.length <= shortBytes) return
      tookAnswer = true
      taken.push(clock())
    })
    far.on('close', () => {
      near.destroy()
      links.delete(clientPort)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('The links have no port.')
  return {
    port: address.port,
    of: (clientPort) => links.get(clientPort),
    cutAll() {
      for (const link of links.values()) link.cut()
    },
    taken,
    stop() {
      listener.close()
      for (const link of links.values()) link.cut()
    },
  }
}

/** A record of TLS that closes the connection. */
const shortBytes = 64
