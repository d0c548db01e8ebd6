// Whether an answer reached its caller, as far as the connection tells: HTTP itself has no word for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pause } from '../base/async.ts'
import { createSocketTable, endsOf } from '../base/socket-table.ts'
import { followToItsEnd } from './ending.ts'

/** The answers of a connection of which more may become known. */
interface Answers {
  /** What to do when the connection ends: those behind others are told nothing by Node.js. */
  readonly unwritten: Map<() => void, ServerResponse>
  /** What to do when it breaks. */
  readonly unread: Set<() => void>
  /** What to do when it ends or breaks, of answers that a proxy reports about. */
  readonly unreported: Set<() => void>
  /** The client has closed its end. */
  isEnded: boolean
}

const answersOf = new WeakMap<Socket, Answers>()
const table = createSocketTable()

/** Of one answer. To be made when its request comes; what nobody asks of it costs next to nothing. */
export class AnswerDelivery {
  readonly #socket: Socket
  readonly #res: ServerResponse
  readonly #answers: Answers
  #delivered: Promise<boolean> | undefined

  constructor({ socket }: IncomingMessage, res: ServerResponse) {
    this.#socket = socket
    this.#res = res
    this.#answers = answersOf.get(socket) ?? follow(socket)
    this.#answers.unread.clear()
    this.#answers.unreported.clear()
  }

  /** true once the answer was written out and the connection still stood; false at once when the connection is gone. To be asked for before it is written. */
  get delivered(): Promise<boolean> {
    return (this.#delivered ??= new Promise<boolean>((resolve) => {
      const [socket, res] = [this.#socket, this.#res]
      if (res.writableFinished) return resolve(!socket.destroyed)
      const stop = this.onLost(() => resolve(false))
      res.once('finish', () => {
        stop()
        resolve(!socket.destroyed)
      })
    }))
  }

  /** Whether the connection is gone before the answer was written. */
  get isLost(): boolean {
    return this.#socket.destroyed || (this.#answers.isEnded && !this.#res.writableEnded)
  }

  /** Calls back once the connection is gone before the answer is written, at once where it is gone, until the returned function is called. */
  onLost(lost: () => void): () => void {
    const { unwritten } = this.#answers
    if (this.isLost) lost()
    else unwritten.set(lost, this.#res)
    return () => unwritten.delete(lost)
  }

  /**
   * Resolves where it shows that an answer that was written was not read: the connection broke, or the other end's system has not acknowledged
   * the answer for so long, where this machine's tells (Linux). Never after its client sent another request over the connection or ended it.
   */
  broken(unacknowledgedMs: number): Promise<void> {
    const [socket, { unread }] = [this.#socket, this.#answers]
    followToItsEnd(socket, unacknowledgedMs + readingMs)
    return new Promise((resolve) => {
      const breaks = () => resolve()
      this.#res.once('finish', () => {
        if (socket.destroyed) return
        unread.add(breaks)
        void resolveUnacknowledged(socket, unacknowledgedMs, () => unread.has(breaks), breaks)
      })
    })
  }

  /** Resolves once the connection has ended or broken after the answer was written. Never after another request came over it. */
  ended(): Promise<void> {
    const [socket, { unreported }] = [this.#socket, this.#answers]
    return new Promise((resolve) => {
      this.#res.once('finish', () => {
        if (socket.destroyed || this.#answers.isEnded) resolve()
        else unreported.add(() => resolve())
      })
    })
  }
}

function follow(socket: Socket): Answers {
  const answers: Answers = { unwritten: new Map(), unread: new Set(), unreported: new Set(), isEnded: false }
  answersOf.set(socket, answers)
  // Whatever comes after it: one that has closed its end often answers our last bytes by a reset.
  socket.once('end', () => {
    answers.isEnded = true
    answers.unread.clear()
    for (const ends of answers.unreported) ends()
    // Node.js writes no other answer to it, and closes it turns later. One that was written may be what its client has waited for.
    for (const [lost, { writableEnded }] of answers.unwritten) if (!writableEnded) lost()
  })
  socket.once('close', () => {
    for (const lost of answers.unwritten.keys()) lost()
    // Without an error this server has ended it.
    if (socket.errored) for (const breaks of answers.unread) breaks()
    answers.unread.clear()
    for (const ends of answers.unreported) ends()
  })
  return answers
}

/** To read what the system tells. */
const readingMs = 1_000

async function resolveUnacknowledged(socket: Socket, afterMs: number, isUnread: () => boolean, breaks: () => void): Promise<void> {
  const ends = endsOf(socket)
  await pause(afterMs, undefined, { ref: false })
  if (isUnread() && ((await table.unacknowledgedBytes(ends)) ?? 0) > 0 && isUnread()) breaks()
}
