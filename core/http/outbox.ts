import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** An answer that comes this much later than the first that waits does not wait for the end of the turn. */
const mostMs = 1

interface Outgoing {
  readonly response: ServerResponse
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

/** Takes the status of an answer at once, and writes it with the others of the same turn of the event loop. */
export type Outbox = (response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string) => void

/**
 * Whoever waits for an answer sleeps, and to wake somebody can cost more than to make the answer: where several are made in a turn of the
 * event loop, the writes come together at its end, when the first of those who are woken are still awake for the last.
 */
export function createOutbox(): Outbox {
  let waiting: Outgoing[] = []
  let firstAt = 0

  function send(): void {
    const due = waiting
    waiting = []
    for (const { response, headers, body } of due) {
      // What failed meanwhile has had its answer.
      if (response.headersSent) continue
      response.writeHead(response.statusCode, headers).end(body)
    }
  }

  return (response, status, headers, body) => {
    response.statusCode = status
    waiting.push({ response, headers, body })
    if (waiting.length === 1) {
      firstAt = performance.now()
      setImmediate(send)
    } else if (performance.now() - firstAt > mostMs) send()
  }
}
