import { SluiceError } from '../base/errors.ts'

/** Processor time that requests of one certificate get as they arrive, in one turn of the event loop. What comes after them waits. */
const burstMs = 1
/** Processor time that waiting requests get in one turn of the event loop. Then sockets are read again. */
const sliceMs = 1

/** What one certificate has in flight and waiting, on all its connections. */
export class ClientLoad {
  maxInFlight = 0
  maxWaiting = 0
  inFlight = 0
  readonly waiting: WaitingRequest[] = []
  /** Whether it is in the line of those that may start a waiting request. */
  isInLine = false
  /** Pings that are waiting or in flight, beside the others. */
  pings = 0
  /** The turn of the event loop that `usedMs` is of. */
  turn = 0
  usedMs = 0
  /** Of the bodies of its requests, from the first byte to the answer. */
  bodyBytes = 0
  /** Requests that wait behind others of their connection. */
  behind = 0
  /** Of answers that its connections have not taken. */
  unsentBytes = 0

  constructor(maxInFlight: number) {
    this.setMost(maxInFlight)
  }

  setMost(maxInFlight: number): void {
    this.maxInFlight = maxInFlight
    this.maxWaiting = maxInFlight * waitingPerPlace
  }
}

/** Of one certificate. Whoever sends more has the others wait like requests. */
const maxPings = 16

/** So many requests may wait for each that may be in flight. */
const waitingPerPlace = 8

interface WaitingRequest {
  readonly since: number
  readonly request: QueuedRequest
  readonly work: () => unknown
  resolve(answer: unknown): void
  reject(error: unknown): void
}

export interface QueuedRequest {
  readonly client: ClientLoad
  /** Whether nobody waits for the answer, and nothing is lost if it is not made. */
  readonly isAbandoned: boolean
}

export interface FairQueue {
  /**
   * Starts the work at once, or in its turn.
   * @param isPing it asks whether the server answers, and costs next to nothing: it waits behind no request of its certificate, for no place in
   * flight, and for one turn of the event loop at most
   * @throws SluiceError OVERLOADED, RATE_LIMIT
   */
  run<T>(request: QueuedRequest, work: () => T | Promise<T>, isPing?: boolean): T | Promise<T>
  readonly inFlight: number
}

interface FairQueueOptions {
  /** Of the whole server. */
  maxInFlight: number
  maxWaitMs: number
  now?: () => number
  /** Calls back in the next turn of the event loop. */
  nextTurn?: (run: () => void) => void
}

/**
 * Shares the event loop between certificates. A request starts as it arrives while its certificate has used little time in this turn of the event
 * loop, has none waiting and is below its limit. Otherwise it waits, and certificates with waiting requests take turns, one request each.
 */
export function createFairQueue({
  maxInFlight,
  maxWaitMs,
  now = () => performance.now(),
  nextTurn = (run) => void setImmediate(run),
}: FairQueueOptions): FairQueue {
  let inFlight = 0
  let turn = 1
  let isScheduled = false
  /**
   * Clients with waiting requests that may start one, in the order of their turns, each once. No set: V8 makes a table for each client that leaves
   * one empty, and each is kept by the one before it until old objects are collected.
   */
  const line: ClientLoad[] = []
  /** Clients with waiting requests that have to wait for the end of others. */
  const full = new Set<ClientLoad>()

  /** Pings that come in a turn in which their certificate has used its time. */
  const pings: (() => void)[] = []

  const hasTime = (client: ClientLoad) => client.turn !== turn || client.usedMs < burstMs
  const hasRoom = (client: ClientLoad) => client.inFlight < client.maxInFlight && inFlight < maxInFlight

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    nextTurn(serve)
  }

  function serve(): void {
    isScheduled = false
    turn += 1
    for (const begin of pings.splice(0)) begin()
    const until = now() + sliceMs
    for (let client = line.shift(); client; client = now() < until ? line.shift() : undefined) {
      client.isInLine = false
      // The other certificates may have taken the last place of the server since.
      if (hasRoom(client)) startNext(client)
      queueUp(client)
    }
    if (line.length > 0) schedule()
  }

  function queueUp(client: ClientLoad): void {
    if (client.waiting.length === 0) return
    if (hasRoom(client)) lineUp(client)
    else full.add(client)
  }

  function lineUp(client: ClientLoad): void {
    if (client.isInLine) return
    client.isInLine = true
    line.push(client)
  }

  function startNext(client: ClientLoad): void {
    const next = client.waiting.shift()
    if (!next) return
    const { request, work, since, resolve, reject } = next
    try {
      if (request.isAbandoned || now() - since > maxWaitMs) throw waitedTooLong
      resolve(start(client, work))
    } catch (error) {
      reject(error)
    }
  }

  function start<T>(client: ClientLoad, work: () => T | Promise<T>): T | Promise<T> {
    inFlight += 1
    client.inFlight += 1
    return measure(client, work, () => leave(client))
  }

  /** It counts for the time of its certificate, and for nothing else. */
  const ping = <T>(client: ClientLoad, work: () => T | Promise<T>): T | Promise<T> => measure(client, work, () => void (client.pings -= 1))

  function measure<T>(client: ClientLoad, work: () => T | Promise<T>, ended: () => void): T | Promise<T> {
    const startedAt = now()
    let isPending = false
    try {
      const answer = work()
      isPending = answer instanceof Promise
      return answer instanceof Promise ? settled(answer, ended) : answer
    } finally {
      client.usedMs = now() - startedAt + (client.turn === turn ? client.usedMs : 0)
      client.turn = turn
      if (!isPending) ended()
      schedule()
    }
  }

  function leave(client: ClientLoad): void {
    inFlight -= 1
    client.inFlight -= 1
    if (full.size === 0) return
    for (const each of full) {
      if (!hasRoom(each)) continue
      full.delete(each)
      lineUp(each)
    }
    if (line.length > 0) schedule()
  }

  return {
    run<T>(request: QueuedRequest, work: () => T | Promise<T>, isPing = false) {
      const { client } = request
      if (isPing && client.pings < maxPings) {
        client.pings += 1
        if (hasTime(client)) return ping(client, work)
        schedule()
        return new Promise<Awaited<T>>((resolve, reject) => {
          pings.push(() => {
            try {
              resolve(ping(client, work) as Awaited<T>)
            } catch (error) {
              reject(error)
            }
          })
        })
      }
      if (client.waiting.length === 0 && client.inFlight < client.maxInFlight) {
        if (inFlight >= maxInFlight) throw overloaded(maxInFlight)
        if (hasTime(client)) return start(client, work)
      }
      if (client.waiting.length + client.behind >= client.maxWaiting) throw tooManyWaiting(client)
      return new Promise<Awaited<ReturnType<typeof work>>>((resolve, reject) => {
        client.waiting.push({ since: now(), request, work, resolve, reject })
        if (full.has(client)) return
        queueUp(client)
        schedule()
      })
    },
    get inFlight() {
      return inFlight
    },
  }
}

/** As `finally`, which makes three more promises. */
const settled = <T>(work: Promise<T>, ended: () => void): Promise<T> =>
  work.then(
    (given) => {
      ended()
      return given
    },
    (error: unknown) => {
      ended()
      throw error
    },
  )

const overloaded = (max: number) =>
  new SluiceError('OVERLOADED', `The server has ${max} requests in flight (limits.inFlight). Try again shortly.`, {
    retryAfterSeconds: 1,
    bound: 'inFlight',
  })

export const tooManyWaiting = ({ maxInFlight, maxWaiting }: ClientLoad) =>
  new SluiceError(
    'RATE_LIMIT',
    `This client certificate has ${maxWaiting} requests waiting behind the ${maxInFlight} that it may have in flight (limits.clientInFlight): nothing was done for this one. Send fewer at once.`,
    { retryAfterSeconds: 1, bound: 'clientInFlight' },
  )

const waitedTooLong = new SluiceError(
  'OVERLOADED',
  'The request waited behind others of the same client certificate for as long as a request may take (server.requestTimeoutSeconds): nothing was done. Send fewer at once.',
  { retryAfterSeconds: 1, bound: 'requestTimeoutSeconds' },
)
