// Which answers the clients of the proxy have read. The server is told: an equal request after an answer that was not read is the same request.
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { followToItsEnd } from '../http/ending.ts'
import type { AnswerReports } from './answer-reports.ts'
import type { ServerConnection } from './server-connections.ts'

/** For a client to read an answer after which its connection ends. */
const endingMs = 30_000
/** Connections to the server whose answers are not read yet. Those beyond are closed, and what is not read is known all the same. */
const maxHeld = 32

/** Of a request that may act. */
export interface FollowedAnswer {
  /** Names it in reports. */
  readonly id: string
  /** Some of it may have reached the server. */
  sent(): void
  /** The server has answered. @param isReported whether it waits for a report */
  answered(isReported: boolean): void
  /** It did not reach its client, and never will. */
  lost(): void
}

export interface UnreadAnswers {
  /** @param connection by which the answer comes: it is released once that is read */
  follow(response: ServerResponse, connection: ServerConnection): FollowedAnswer
  /** The client asks more over its connection. */
  read(client: Socket): void
  /** Its connection is closed. */
  closed(client: Socket): void
}

export function createUnreadAnswers(reports: Pick<AnswerReports, 'add'>): UnreadAnswers {
  /** Written, and not known to be read. */
  const unread = new Map<Socket, Set<Answer>>()
  /** The newest at the end. */
  const held = new Set<ServerConnection>()

  function hold(connection: ServerConnection): void {
    held.add(connection)
    const [oldest] = held
    if (held.size <= maxHeld || !oldest) return
    held.delete(oldest)
    oldest.end()
  }

  class Answer implements FollowedAnswer {
    readonly id = randomUUID()
    readonly #client: Socket
    readonly #connection: ServerConnection
    #state: 'not sent' | 'waits' | 'written' | 'read' | 'lost' = 'not sent'
    /** Until the server says that it waits for no report. */
    #isReported = true
    #reported: Promise<void> = Promise.resolve()

    constructor(response: ServerResponse, connection: ServerConnection) {
      this.#client = response.req.socket
      this.#connection = connection
      followToItsEnd(this.#client, endingMs)
      // Before Node.js ends a connection that is not kept.
      response.prependOnceListener('finish', () => this.#written())
      response.once('close', () => {
        if (this.#state === 'not sent' || this.#state === 'waits') this.lost()
      })
    }

    sent(): void {
      if (this.#state === 'not sent') this.#state = 'waits'
    }

    answered(isReported: boolean): void {
      this.#isReported = isReported
    }

    lost(): void {
      const before = this.#state
      if (before === 'read' || before === 'lost') return
      this.#end('lost')
      if (before !== 'not sent') void this.#report(false)
      this.#connection.end()
    }

    #written(): void {
      const client = this.#client
      // What its client was refused without the server.
      if (this.#state !== 'waits') return
      if (client.destroyed || client.readableEnded) return this.lost()
      this.#state = 'written'
      hold(this.#connection)
      const answers = unread.get(client) ?? new Set()
      unread.set(client, answers.add(this))
      this.#reported = stillStands(client).then((stands) => {
        if (!stands) this.lost()
        else if (this.#state !== 'lost') return this.#report(true)
      })
    }

    read(): void {
      if (this.#state !== 'written') return
      this.#end('read')
      // A connection that ends before its report is one whose answer is lost.
      void this.#reported.then(() => this.#connection.release())
    }

    async #report(read: boolean): Promise<void> {
      if (this.#isReported) await reports.add({ id: this.id, read })
    }

    #end(state: 'read' | 'lost'): void {
      this.#state = state
      held.delete(this.#connection)
      const answers = unread.get(this.#client)
      answers?.delete(this)
      if (answers?.size === 0) unread.delete(this.#client)
    }
  }

  return {
    follow: (response, connection) => new Answer(response, connection),
    read(client) {
      for (const answer of unread.get(client) ?? []) answer.read()
    },
    closed(client) {
      for (const answer of unread.get(client) ?? [])
        if (client.errored) answer.lost()
        else answer.read()
    },
  }
}

/** A write of nothing fails where what was written before came to an end that was closed: the system of that end has said so by then, on one machine. */
const stillStands = (client: Socket): Promise<boolean> => new Promise((resolve) => client.write('', (error) => resolve(!error)))
