// Whether an answer reached its caller, as far as the connection tells: HTTP itself has no word for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pause } from '../base/async.ts'
import { createSocketTable, endsOf } from '../base/socket-table.ts'

export interface AnswerDelivery {
  /** true once the answer was written out and the connection still stood; false at once when the connection is gone. */
  readonly delivered: Promise<boolean>
  /**
   * Resolves where it shows that an answer that was written was not read: the connection broke, or the other end's system has not acknowledged
   * the answer for so long, where this machine's tells (Linux). Never after its client sent another request over the connection or ended it.
   */
  broken(unacknowledgedMs: number): Promise<void>
}

/** The answers of a connection of which more may become known. */
interface Answers {
  /** What to do when the connection ends: those behind others are told nothing by Node.js. */
  readonly unwritten: Map<() => void, ServerResponse>
  /** What to do when it breaks. */
  readonly unread: Set<() => void>
}

const answersOf = new WeakMap<Socket, Answers>()
const table = createSocketTable()

/** To be called when a request comes. */
export function deliveryOf({ socket }: IncomingMessage, res: ServerResponse): AnswerDelivery {
  const answers = answersOf.get(socket) ?? follow(socket)
  const { unwritten, unread } = answers
  unread.clear()
  const delivered = new Promise<boolean>((resolve) => {
    const lost = () => resolve(false)
    if (socket.destroyed) return lost()
    unwritten.set(lost, res)
    res.once('finish', () => {
      unwritten.delete(lost)
      resolve(!socket.destroyed)
    })
  })
  return {
    delivered,
    broken: (unacknowledgedMs) =>
      new Promise((resolve) => {
        const breaks = () => resolve()
        res.once('finish', () => {
          if (socket.destroyed) return
          unread.add(breaks)
          void resolveUnacknowledged(socket, unacknowledgedMs, () => unread.has(breaks), breaks)
        })
      }),
  }
}

function follow(socket: Socket): Answers {
  const answers: Answers = { unwritten: new Map(), unread: new Set() }
  answersOf.set(socket, answers)
  // Whatever comes after it: one that has closed its end often answers our last bytes by a reset.
  socket.once('end', () => {
    answers.unread.clear()
    // Node.js writes no other answer to it, and closes it turns later. One that was written may be what its client has waited for.
    for (const [lost, { writableEnded }] of answers.unwritten) if (!writableEnded) lost()
  })
  socket.once('close', () => {
    for (const lost of answers.unwritten.keys()) lost()
    // Without an error this server has ended it.
    if (socket.errored) for (const breaks of answers.unread) breaks()
    answers.unread.clear()
  })
  return answers
}

async function resolveUnacknowledged(socket: Socket, afterMs: number, isUnread: () => boolean, breaks: () => void): Promise<void> {
  const ends = endsOf(socket)
  await pause(afterMs, undefined, { ref: false })
  if (isUnread() && ((await table.unacknowledgedBytes(ends)) ?? 0) > 0 && isUnread()) breaks()
}
