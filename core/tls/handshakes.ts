import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** Bounds of connections that have shown no certificate yet. */
export interface HandshakeLimits {
  /** Of all addresses. */
  handshakes: number
  /** Of one address, that wait for the client; 0: any number. Behind a proxy, all clients have one address. */
  handshakesOfAddress: number
}

/** For a client to begin its handshake. The handshake itself has as long. */
const silentMs = 10_000
const lookMs = 1_000
/** Handshakes under way together. One that waits longer for its client than most do does not keep the next from starting. */
const [atOnce, usualMs] = [32, 50]

/** A connection without a certificate. */
interface PendingHandshake {
  readonly socket: Socket
  readonly address: string
  readonly name: string
  /** By `performance.now`: since when it waits for its client. */
  since: number
}

/**
 * Starts the handshakes of a server, a few at a time, and addresses take turns: a handshake costs the event loop as much as twenty prices. A connection
 * without a word of its client costs next to nothing. Where there are too many, the one that has waited for its client longest is closed.
 * @param onClosed called for each that is closed to make room
 */
export function paceHandshakes(
  server: Server,
  { handshakes: max, handshakesOfAddress: maxOfAddress }: HandshakeLimits,
  onClosed: () => void = () => {},
): void {
  // What makes a TLS connection of an accepted one.
  const begin = server.listeners('connection')
  server.removeAllListeners('connection')

  /** By name. Those that wait for their client, the longest first: `silent` for its first word, `begun` for the rest of the handshake. */
  const silent = new Map<string, PendingHandshake>()
  const begun = new Map<string, PendingHandshake>()
  const waitingByAddress = new Map<string, Set<PendingHandshake>>()
  /** Clients that have spoken and wait for us, by their address. */
  const ready = new Map<string, PendingHandshake[]>()
  let readyCount = 0
  /** Handshakes under way that are not slow yet. */
  const brisk = new Set<PendingHandshake>()
  let isScheduled = false

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address, remotePort } = socket
    // The client has left already.
    if (address === undefined) return void socket.destroy()
    const pending = { socket, address, name: nameOf(address, remotePort), since: performance.now() }
    if (silent.size + begun.size + readyCount >= max) closeOldest(silent.values().next().value ?? begun.values().next().value ?? pending)
    if (socket.destroyed) return
    waitForClient(silent, pending)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => forget(pending))
    socket.once('readable', () => {
      if (!silent.has(pending.name)) return
      forget(pending)
      // It left without a word.
      if (socket.readableLength === 0) return void socket.destroy()
      const waiting = ready.get(address) ?? []
      ready.set(address, waiting)
      waiting.push(pending)
      readyCount += 1
      schedule()
    })
  })
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const pending = begun.get(nameOf(socket.remoteAddress, socket.remotePort))
    if (pending) forget(pending)
  })

  function waitForClient(stage: Map<string, PendingHandshake>, pending: PendingHandshake): void {
    stage.set(pending.name, pending)
    const ofAddress = waitingByAddress.get(pending.address) ?? new Set()
    waitingByAddress.set(pending.address, ofAddress.add(pending))
  }

  /** It waits for its client no more. */
  function forget(pending: PendingHandshake): void {
    if (silent.get(pending.name) === pending) silent.delete(pending.name)
    if (begun.get(pending.name) === pending) begun.delete(pending.name)
    const ofAddress = waitingByAddress.get(pending.address)
    ofAddress?.delete(pending)
    if (ofAddress?.size === 0) waitingByAddress.delete(pending.address)
    if (brisk.delete(pending)) schedule()
  }

  function closeOldest(pending: PendingHandshake | undefined): void {
    pending?.socket.destroy()
    if (pending) forget(pending)
    onClosed()
  }

  function schedule(): void {
    if (isScheduled || readyCount === 0) return
    isScheduled = true
    if (brisk.size < atOnce) setImmediate(startNext)
    else setTimeout(startNext, usualMs / 4)
  }

  /** One in a turn of the event loop: its cost comes a moment later, with what the client has said. */
  function startNext(): void {
    isScheduled = false
    const slowSince = performance.now() - usualMs
    for (const each of brisk) if (each.since < slowSince) brisk.delete(each)
    if (brisk.size < atOnce) start()
    schedule()
  }

  function start(): void {
    for (const [address, waiting] of ready) {
      const pending = waiting.shift()
      ready.delete(address)
      if (waiting.length > 0) ready.set(address, waiting)
      if (!pending) continue
      readyCount -= 1
      if (pending.socket.destroyed) continue
      pending.since = performance.now()
      brisk.add(pending)
      waitForClient(begun, pending)
      for (const each of begin) Reflect.apply(each, server, [pending.socket])
      return
    }
  }

  const closeSilent = setInterval(() => {
    const before = performance.now() - silentMs
    for (const { since, socket } of silent.values()) {
      if (since > before) break
      socket.destroy()
    }
    if (maxOfAddress > 0) for (const waiting of waitingByAddress.values()) closeSlow(waiting)
  }, lookMs).unref()

  /** Those of an address that are too many. A client that opens hundreds of connections at once needs a moment to speak on each. */
  function closeSlow(waiting: ReadonlySet<PendingHandshake>): void {
    const before = performance.now() - lookMs
    for (const pending of [...waiting].toSorted((a, b) => a.since - b.since)) {
      if (waiting.size <= maxOfAddress || pending.since > before) return
      closeOldest(pending)
    }
  }

  server.once('close', () => clearInterval(closeSilent))
}

const nameOf = (address = '', port = 0) => `${address} ${port}`
