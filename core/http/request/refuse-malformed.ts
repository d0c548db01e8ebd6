import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { SluiceError } from '../../api/index.ts'
import { errorBody } from '../error-body.ts'

/** What never becomes a request, since HTTP itself is broken, too large or asks for the impossible, gets a body like all other errors. */
export function refuseMalformed(server: Server, mostHeaderBytes: number): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { http, body } = errorBody(
      new SluiceError('INCOMPLETE_PARAMS', 'The header Expect asks for what this server does not do; leave it out.', { http: 417 }),
      randomUUID(),
    )
    response.writeHead(http, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(JSON.stringify(body))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = socket.writable ? refusalOf(error.code ?? '', mostHeaderBytes) : undefined
    // Anything else is of the connection, such as a refused handshake: nobody listens there.
    if (!refusal) return void socket.destroy()
    const { http, body } = errorBody(refusal, randomUUID())
    const json = JSON.stringify(body)
    socket.end(
      `HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(json)}\r\nConnection: close\r\n\r\n${json}`,
    )
  })
}

function refusalOf(code: string, mostHeaderBytes: number): SluiceError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new SluiceError(
      'INCOMPLETE_PARAMS',
      `The URL and headers are over ${mostHeaderBytes} bytes together; send long lists as a JSON body by POST.`,
      { http: 431 },
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SluiceError('TIMEOUT', 'The request did not arrive in full in time; nothing was done. Send it again.', { http: 408 })
  if (code.startsWith('HPE_')) return new SluiceError('INCOMPLETE_PARAMS', 'This is no request of HTTP/1.1.')
  return undefined
}
