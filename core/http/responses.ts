import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { interfaceVersion, versionHeader } from '../api/version.ts'

/** Headers of every answer. */
export const responseHeaders = (requestId: string) => ({ 'X-Request-Id': requestId, [versionHeader]: interfaceVersion })

export const jsonHeaders = (requestId: string, body: string): OutgoingHttpHeaders => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
  ...responseHeaders(requestId),
})

/** No page of others may load a page of ours as its own, and no browser may take it for another type. */
export const pageHeaders = (requestId: string) => ({
  ...responseHeaders(requestId),
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
})

/** Sets the status at once, and writes the response together with the others of the same turn of the event loop. */
export type ResponseBatcher = (response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string) => void

interface PendingResponse {
  readonly response: ServerResponse
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

/** A batch is sent before the end of the turn if its first response has waited so long. */
const maxBatchMs = 1

/**
 * A caller that waits is asleep, and waking it can cost more than the answer did. Responses of one turn are written together at its end, when
 * the first process that was woken is still awake for the last.
 */
export function createResponseBatcher(): ResponseBatcher {
  let pending: PendingResponse[] = []
  let firstAt = 0

  function send(): void {
    const batch = pending
    pending = []
    for (const { response, headers, body } of batch) {
      // A request that failed meanwhile has its answer.
      if (response.headersSent) continue
      // One byte for each character is copied as it is, where it is the same in UTF-8.
      const encoding = headers['Content-Length'] === body.length ? 'latin1' : 'utf8'
      response.writeHead(response.statusCode, headers).end(body, encoding)
    }
  }

  return (response, status, headers, body) => {
    response.statusCode = status
    pending.push({ response, headers, body })
    if (pending.length === 1) {
      firstAt = performance.now()
      setImmediate(send)
    } else if (performance.now() - firstAt > maxBatchMs) send()
  }
}
