import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { SluiceError } from '../base/errors.ts'
import { errorBody } from './request-steps.ts'
import { closeGently, dropRest, endWith, isEnding } from './ending.ts'
import { jsonHeaders } from './responses.ts'

/** Enough for a query of a thousand token addresses. */
export const maxHeaderBytes = 64 * 1024

/** The last two requests of a connection. Answers are written in their order. */
interface Pipeline {
  newest: ServerResponse
  /** Unless it is finished. */
  before: ServerResponse | undefined
}

/**
 * Answers what is no request of HTTP/1.1, or Node.js refuses before it becomes a request, with a body like that of all other errors. The connection
 * is closed after the answer, and nothing that comes after it is carried out.
 * @param answer gets all other requests
 */
export function refuseMalformed(server: Server, answer: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>()

  function refuseRequest({ socket }: IncomingMessage, response: ServerResponse, refusal: SluiceError): void {
    if (isEnding(socket)) return
    const { status, headers, json } = answerOf(refusal)
    endWith(response)
    response.writeHead(status, headers).end(json)
  }

  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => refuseRequest(request, response, unexpected))
  /** Refuses what comes after the requests of a connection, or the body of the newest. A trade that was sent before has its own answer first. */
  function refuseRest(socket: Socket, refusal: SluiceError): void {
    if (!dropRest(socket)) return
    const { newest, before } = pipelines.get(socket) ?? {}
    const isInBody = newest?.req.complete === false
    const last = isInBody ? before : newest
    const refuse = () => (isInBody && newest.headersSent ? closeGently(socket) : closeWith(socket, refusal))
    if (last && !last.writableFinished) last.once('close', refuse)
    else refuse()
  }

  server.on('connect', ({ socket }: IncomingMessage) => refuseRest(socket, noProxy))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const refusal = refusalOf(error.code ?? '')
    // Other errors are of the connection, such as a failed handshake: nobody reads an answer.
    if (refusal) refuseRest(socket, refusal)
    else socket.destroy()
  })

  return (request, response) => {
    const { socket } = request
    if (isEnding(socket)) return
    const pipeline = pipelines.get(socket)
    if (pipeline) {
      pipeline.before = pipeline.newest.writableFinished ? undefined : pipeline.newest
      pipeline.newest = response
    } else pipelines.set(socket, { newest: response, before: undefined })
    if (hasHost(request)) answer(request, response)
    else refuseRequest(request, response, wrongHost)
  }
}

/** RFC 9112, section 3.2: one, and exactly one. */
function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1 || (count === 0 && httpVersion === '1.0')
}

function answerOf(refusal: SluiceError) {
  const requestId = randomUUID()
  const { http, body } = errorBody(refusal, requestId)
  const json = JSON.stringify(body)
  return { status: http, headers: { ...jsonHeaders(requestId, json), Connection: 'close' }, json }
}

/** Answers where there is no request to answer. */
function closeWith(socket: Socket, refusal: SluiceError): void {
  if (!socket.writable) return void socket.destroy()
  const { status, headers, json } = answerOf(refusal)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${json}`)
  closeGently(socket)
}

const unexpected = new SluiceError(
  'INCOMPLETE_PARAMS',
  'The header Expect asks for something that this server does not support; leave it out.',
  {
    http: 417,
  },
)
const noProxy = new SluiceError('INCOMPLETE_PARAMS', 'This server is no proxy: it does not support the method CONNECT.', { http: 405 })
const wrongHost = new SluiceError('INCOMPLETE_PARAMS', 'A request of HTTP/1.1 has the header Host exactly once.')

function refusalOf(code: string): SluiceError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new SluiceError(
      'INCOMPLETE_PARAMS',
      `The URL and headers are over ${maxHeaderBytes} bytes together; send long lists as a JSON body by POST.`,
      { http: 431 },
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SluiceError('TIMEOUT', 'The request did not arrive in full in time; nothing was done. Send it again.', { http: 408 })
  if (code.startsWith('HPE_')) return new SluiceError('INCOMPLETE_PARAMS', 'This is not a valid HTTP/1.1 request.')
  return undefined
}
