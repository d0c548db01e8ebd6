// The signer service: signs for the servers that connect to its socket, as a user of its own. Nothing that a server says is believed. Keys are in
// another process still (core/wallet/signer-process.ts), which this one starts as a server without a service does.
import { existsSync, lstatSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { withTimeout } from '../../base/async.ts'
import { StartError } from '../../config/problems.ts'
import { reasonOf, SluiceError } from '../../base/errors.ts'
import { version } from '../../base/layout.ts'
import type { Signer, SignerLog } from '../signer.ts'
import { maxFailureText, stopOf, type StopInMessage } from '../signer-messages.ts'
import { createKeptStops } from './kept-stops.ts'
import { base64, frameOf, helloMs, maxRequestBytes, protocol, readFrames, readToService, requestOfWire } from './protocol.ts'
import type { FromService, ServiceState, ToService, Welcome } from './protocol.ts'

export interface SignerServiceOptions {
  /** The Unix socket that servers connect to. */
  readonly socket: string
  readonly signer: Signer
  readonly facts: Pick<Welcome, 'limits' | 'changers'>
  readonly log: SignerLog
}

export interface SignerService {
  /** Takes no more requests, and gives those that are signed now a moment. */
  stop(): Promise<void>
}

/** Each may keep as much memory waiting as is below. */
const maxConnections = 16
const maxWaiting = 512
const maxWaitingBytes = 4_194_304
/** Answers that a server has not read. */
const maxUnreadBytes = 1_048_576
/** Requests that are signed at once, of all servers. */
const slots = 32
const drainMs = 2_000
/** So often one thing is logged of connections: who makes many of them fills no disk. */
const logEveryMs = 1_000
const liftEveryMs = 10_000
/** Between two times that the signer is told what is stopped. What waits is told before the next signature. */
const holdEveryMs = 50
const maxReason = 4_000

interface Connection {
  readonly socket: Socket
  /** By the steady clock. */
  greetedMs: number | undefined
  stops: readonly StopInMessage[]
}

/** @throws StartError where another process listens there */
export async function startSignerService({ socket: address, signer, facts, log }: SignerServiceOptions): Promise<SignerService> {
  await removeStale(address)
  const connections = new Set<Connection>()
  const queues = createQueues()
  const note = quietLog(log)
  const kept = createKeptStops(
    () => performance.now(),
    () => signer.wallets().map(({ address: each }) => each),
  )
  // What one server has stopped holds for all, also once it is gone: a server can make it stricter, and none can lift what another one says.
  const holding = atMostEvery(holdEveryMs, () =>
    signer.hold([...[...connections].flatMap(({ stops }) => stops), ...kept.current()].map(stopOf)),
  )
  const lifting = setInterval(() => {
    const lifted = kept.lift()
    if (lifted.length === 0) return
    log.warn({ stops: lifted }, 'What a server that is gone had stopped is lifted: a server that connected since replaced it')
    holding.ask()
  }, liftEveryMs).unref()

  const server = createServer((socket) => {
    const connection: Connection = { socket, greetedMs: undefined, stops: [] }
    // Who never says who it is makes room for who does.
    if (connections.size >= maxConnections) drop([...connections].find((each) => each.greetedMs === undefined))
    socket.on('error', () => {})
    if (connections.size >= maxConnections) return refuse(socket, `${maxConnections} servers are connected already`)
    connections.add(connection)
    const late = setTimeout(() => refuse(socket, `nothing was said for ${helloMs / 1000} s`), helloMs)
    socket.once('close', () => {
      clearTimeout(late)
      drop(connection)
    })
    readFrames(
      socket,
      maxRequestBytes,
      (json) => {
        const message = readToService(json)
        if (connection.greetedMs !== undefined) return take(connection, message, json.length)
        clearTimeout(late)
        greet(connection, message)
      },
      (why) => refuse(socket, why.message),
    )
  })

  server.maxConnections = 2 * maxConnections

  function drop(connection: Connection | undefined): void {
    if (!connection || !connections.delete(connection)) return
    connection.socket.destroy()
    queues.drop(connection)
    const stops = kept.keep(connection.stops)
    if (stops.length > 0) note('warn', { stops }, 'A server is gone: what it has stopped stays stopped')
    holding.ask()
  }

  function greet(connection: Connection, message: ToService): void {
    const { socket } = connection
    if (message.type !== 'hello') return refuse(socket, 'the first message is not a greeting')
    if (message.protocol !== protocol)
      return refuse(
        socket,
        `the signer is of Sluice ${version} (protocol ${protocol}), the server of ${message.version} (protocol ${message.protocol}): run both from one release`,
      )
    connection.greetedMs = performance.now()
    note(
      'info',
      { version: message.version, servers: [...connections].filter((each) => each.greetedMs !== undefined).length },
      'A server connected',
    )
    socket.once('close', () => note('info', {}, 'A server is gone'))
    const wallets = signer.wallets()
    tell(connection, {
      type: 'welcome',
      protocol,
      version,
      wallets: [...wallets],
      locked: shortened(signer.locked()),
      ...facts,
      ...state(),
    })
  }

  function state(): ServiceState {
    const [failing, countProblem] = [signer.failing()?.slice(0, maxReason), signer.countProblem()?.slice(0, maxReason)]
    return { isReady: signer.isReady(), ...(failing !== undefined && { failing }), ...(countProblem !== undefined && { countProblem }) }
  }

  function take(connection: Connection, message: ToService, bytes: number): void {
    if (message.type === 'ping') return tell(connection, { type: 'pong', ...state() })
    if (message.type === 'stops') {
      connection.stops = kept.own(message.stops)
      kept.replace(connection.greetedMs ?? 0)
      return holding.ask()
    }
    if (message.type === 'hello') throw new Error('it greets twice')
    const { id } = message
    if (queues.add(connection, bytes, () => sign(connection, id, message.request))) return
    const words = 'Too many requests of this server wait for the signer: nothing was signed. Send fewer at once.'
    tell(connection, { type: 'failed', id, name: 'OVERLOADED', message: words })
  }

  async function sign(connection: Connection, id: number, wire: unknown): Promise<void> {
    try {
      const request = requestOfWire(wire)
      if (!request) throw new SluiceError('FORBIDDEN', 'The signer refused: the request is malformed.')
      holding.finish()
      tell(connection, { type: 'signed', id, signature: base64(await signer.sign(request)) })
    } catch (error) {
      const known = error instanceof SluiceError ? error : new SluiceError('UNKNOWN_ERROR', 'The signer failed; nothing was signed.')
      const details = Object.fromEntries(
        Object.entries(known.details ?? {}).flatMap(([name, each]) => (isPlain(each) ? [[name, each]] : [])),
      )
      tell(connection, { type: 'failed', id, name: known.name, message: known.message.slice(0, maxFailureText), details })
    }
  }

  function tell({ socket }: Connection, message: FromService): void {
    if (socket.destroyed) return
    if (socket.writableLength <= maxUnreadBytes) return void socket.write(frameOf(message))
    note('warn', {}, 'A server does not read what it is answered: its connection is closed')
    socket.destroy()
  }

  function refuse(socket: Socket, reason: string): void {
    note('warn', { reason: reason.slice(0, maxReason) }, 'A connection was refused')
    if (socket.destroyed) return
    socket.removeAllListeners('data')
    socket.end(frameOf({ type: 'refused', reason: reason.slice(0, maxReason) }))
    socket.resume()
    setTimeout(() => socket.destroy(), drainMs).unref()
  }

  await listen(server, address)
  server.on('error', (error) => log.error({ error: error.message }, 'The socket of the signer failed'))

  return {
    async stop() {
      clearInterval(lifting)
      holding.end()
      server.close()
      await withTimeout(queues.drain(), drainMs, () => undefined)
      for (const { socket } of connections) socket.destroySoon()
      await signer.stop()
    },
  }
}

/** An act that is done at once where it was not done lately, and else after a while: it then acts by what is there. */
function atMostEvery(everyMs: number, act: () => void) {
  let waiting: NodeJS.Timeout | undefined
  let doneMs = -Infinity
  function end(): void {
    clearTimeout(waiting)
    waiting = undefined
  }
  function doNow(): void {
    end()
    doneMs = performance.now()
    act()
  }
  return {
    ask(): void {
      const waitMs = doneMs + everyMs - performance.now()
      if (waitMs <= 0) doNow()
      else waiting ??= setTimeout(doNow, waitMs)
    },
    /** Does now what waits. */
    finish(): void {
      if (waiting) doNow()
    },
    end,
  }
}

function quietLog(log: SignerLog) {
  const lastMs = new Map<string, number>()
  return (level: 'info' | 'warn', fields: object, message: string): void => {
    const nowMs = performance.now()
    if (nowMs - (lastMs.get(message) ?? -Infinity) < logEveryMs) return
    lastMs.set(message, nowMs)
    log[level](fields, message)
  }
}

/** The requests of the servers, which take turns. */
function createQueues() {
  const queues = new Map<object, { readonly waiting: { readonly bytes: number; readonly work: () => Promise<void> }[]; bytes: number }>()
  let underWay = 0
  let onIdle: (() => void) | undefined

  function next(): void {
    if (onIdle && underWay === 0) onIdle()
    for (const [server, queue] of queues) {
      if (underWay >= slots || onIdle) return
      const first = queue.waiting.shift()
      // Behind the others: a map goes by the order of insertion, and comes to what is added meanwhile.
      queues.delete(server)
      if (!first) continue
      queue.bytes -= first.bytes
      if (queue.waiting.length > 0) queues.set(server, queue)
      underWay += 1
      void first.work().finally(() => {
        underWay -= 1
        next()
      })
    }
  }

  return {
    /** @returns false where too much of this server waits already */
    add(server: object, bytes: number, work: () => Promise<void>): boolean {
      const queue = queues.get(server) ?? { waiting: [], bytes: 0 }
      if (queue.waiting.length >= maxWaiting || queue.bytes + bytes > maxWaitingBytes) return false
      queue.waiting.push({ bytes, work })
      queue.bytes += bytes
      queues.set(server, queue)
      next()
      return true
    },
    drop: (server: object) => void queues.delete(server),
    /** Begins nothing any more. Settles when what is under way has ended. */
    drain: () =>
      new Promise<void>((resolve) => {
        onIdle = resolve
        next()
      }),
  }
}

const isPlain = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const shortened = (texts: readonly string[]): string[] => texts.map((each) => each.slice(0, maxReason))

/** Its owner and its group may connect: the group is the servers'. */
async function listen(server: Server, address: string): Promise<void> {
  const before = process.umask(0o117)
  server.listen(address)
  try {
    await once(server, 'listening').finally(() => process.umask(before))
  } catch (error) {
    throw new StartError(`The signer cannot listen at ${address}: ${reasonOf(error)}.`)
  }
}

/** A socket that a signer left which was killed. @throws StartError where it is another file, or somebody listens there */
async function removeStale(address: string): Promise<void> {
  if (!existsSync(address)) return
  if (!lstatSync(address).isSocket()) throw new StartError(`${address} is there and no socket: name another file in --socket.`)
  const socket = connect(address)
  const isHeld = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  if (isHeld) throw new StartError(`A signer listens at ${address} already: stop that one first, or name another file in --socket.`)
  rmSync(address, { force: true })
}
