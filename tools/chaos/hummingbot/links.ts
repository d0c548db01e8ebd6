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
  /** The server read only after its client may have come again that the client had left: a busy machine gave it no time. */
  readonly wasReadLate: boolean
}

export interface Links {
  readonly port: number
  /** That of a client, by the port that it has at its end. */
  of(clientPort: number): Link | undefined
  /** Cuts all that there are. */
  cutAll(): void
  /** When one took an answer, or was read late: milliseconds of the clock. */
  readonly unknown: readonly number[]
  stop(): void
}

/** @param target the port of the server now; undefined while there is none */
export async function startLinks(target: () => number | undefined, clock: () => number): Promise<Links> {
  const links = new Map<number, Link>()
  const unknown: number[] = []
  const listener = net.createServer((near) => {
    const clientPort = near.remotePort ?? 0
    const to = target()
    near.on('error', () => {})
    if (to === undefined) return void near.destroy()
    const far = net.connect(to, '127.0.0.1').on('error', () => {})
    let [stalledUp, stalledDown, tookAnswer, wasReadLate] = [false, false, false, false]
    let leftAt = Number.POSITIVE_INFINITY
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
      get wasReadLate() {
        return wasReadLate
      },
    })
    near.on('data', (data) => stalledUp || far.write(data))
    near.on('close', () => {
      leftAt = performance.now()
      far.end()
    })
    // What the server wrote before it learns that the client is gone still arrives here.
    far.on('data', (data) => {
      if (!stalledDown && !near.destroyed) return void near.write(data)
      // Without the server's own word that it closes.
      if (data.length <= shortBytes) return
      tookAnswer = true
      unknown.push(clock())
    })
    far.on('close', () => {
      wasReadLate = performance.now() - leftAt > lateMs
      if (wasReadLate) unknown.push(clock())
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
    unknown,
    stop() {
      listener.close()
      for (const link of links.values()) link.cut()
    },
  }
}

/** Of the time that the server gives a client's end to be read before an equal request is taken for another (`core/transactions/deliveries.ts`), less the way there. */
const lateMs = 40
/** A record of TLS that closes the connection. */
const shortBytes = 64
