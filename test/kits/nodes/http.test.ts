import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { AnswerTooLongError, ConnectionClosedError, createHttp } from '../../../kits/nodes/http.ts'
import { until } from '../../live-state/recorder.ts'

describe('the HTTP client of a node', () => {
  let server: Server
  let url: string
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const sockets = new Set<Socket>()
  let connected = 0

  before(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => answer(request, response))
    })
    server.on('connection', (socket) => {
      connected += 1
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?key=value`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const waits = () => {}
  const never = () => new AbortController().signal
  const limits = { timeoutMs: 5_000, connections: 2, maxResponseBytes: 1_000 }
  /** What a promise is rejected with. */
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('keeps a connection for the next request, and tells when the last of them is closed', async () => {
    let closed = 0
    const http = createHttp(url, limits, () => (closed += 1))
    const asked: (string | undefined)[] = []
    answer = ({ method, url: path }, response) => {
      asked.push(`${method} ${path}`)
      response.writeHead(429, { 'retry-after': '7' }).end('{"é":1}')
    }
    connected = 0
    for (let count = 0; count < 3; count += 1)
      expect(await http.post('[]', never())).to.deep.equal({ status: 429, retryAfterSeconds: 7, body: '{"é":1}' })
    expect(connected).to.equal(1)
    expect(asked).to.deep.equal(Array(3).fill('POST /path?key=value'))
    expect(closed).to.equal(0)
    for (const socket of sockets) socket.destroy()
    await until(() => closed === 1, 'the end of the connection')
    http.close()
  })

  it('has no more connections than it may, and a request that waits for one ends with its signal at once', async () => {
    const http = createHttp(url, limits, () => {})
    answer = waits
    connected = 0
    const caller = new AbortController()
    const held = [http.post('1', never()), http.post('2', never())].map(failureOf)
    const waiting = failureOf(http.post('3', caller.signal))
    await until(() => connected === 2, 'two connections')
    const reason = new Error('Nobody waits any more.')
    caller.abort(reason)
    expect(await waiting).to.equal(reason)
    expect(connected).to.equal(2)
    http.close()
    for (const failure of await Promise.all(held)) expect(failure).to.have.property('message', 'is not asked any more')
  })

  it('fails what is asked after its end, and makes no connection for it', async () => {
    const http = createHttp(url, limits, () => {})
    answer = (_request, response) => response.end('1')
    await http.post('1', never())
    connected = 0
    http.close()
    expect(await failureOf(http.post('2', never()))).to.have.property('message', 'is not asked any more')
    await until(() => sockets.size === 0, 'no connection')
    expect(connected).to.equal(0)
  })

  it('gives up after its time, and asks on over another connection', async () => {
    const http = createHttp(url, { ...limits, timeoutMs: 200, connections: 1 }, () => {})
    answer = waits
    expect(await failureOf(http.post('1', never()))).to.have.property('message', 'did not answer within 0.2 s')
    answer = (_request, response) => response.end('1')
    expect(await http.post('2', never())).to.have.property('body', '1')
    http.close()
  })

  it('reads no more of an answer than it may', async () => {
    const http = createHttp(url, limits, () => {})
    let written = 0
    answer = (_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(500))) written += 500
        if (!response.destroyed) response.once('drain', write)
      }
      write()
    }
    expect(await failureOf(http.post('1', never()))).to.be.instanceOf(AnswerTooLongError)
    await until(() => sockets.size === 0, 'the end of the connection')
    expect(written).to.be.below(20_000_000)
    http.close()
  })

  it('reads no answer of more lists, objects and fields than a node means, whose parsing would keep everybody waiting', async () => {
    const http = createHttp(url, { ...limits, maxResponseBytes: 8 * 2 ** 20 }, () => {})
    const answered = (text: string) => {
      answer = (_request, response) => response.end(text)
      return http.post('1', never())
    }
    const listOf = (each: string) => `[${Array.from({ length: Math.ceil(3_500_000 / each.length) }, () => each).join()}]`
    for (const each of ['[]', '{}', '{"":0}', '"\\\\",[]'])
      expect(await answered(listOf(each)).catch((error: unknown) => error), each).to.be.instanceOf(AnswerTooLongError)
    const log = JSON.stringify({ address: '0x', topics: ['0x', '0x'], data: '0x', blockNumber: '0x1', logIndex: '0x', removed: false })
    for (const each of [log, '"[[[{:\\"[[["']) expect(await answered(listOf(each)), each).to.have.property('status', 200)
    http.close()
  })

  it('repeats over a new connection what it lost with those that were closed', async () => {
    const http = createHttp(url, limits, () => {})
    answer = (_request, response) => setTimeout(() => response.end('1'), 50)
    await Promise.all([http.post('1', never()), http.post('2', never())])
    expect(sockets.size).to.equal(2)
    // The node has closed both, and this process has not read that yet.
    for (const socket of sockets) {
      socket.removeAllListeners('data').on('data', () => socket.destroy())
      socket.unref()
    }
    expect(await failureOf(http.post('3', never()))).to.be.instanceOf(ConnectionClosedError)
    expect(await http.post('3', never())).to.have.property('body', '1')
    http.close()
  })

  it('says that the connection was closed, also in the middle of an answer', async () => {
    const http = createHttp(url, limits, () => {})
    answer = ({ socket }) => void socket.destroy()
    expect(await failureOf(http.post('1', never()))).to.be.instanceOf(ConnectionClosedError)
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await failureOf(http.post('2', never()))).to.be.instanceOf(ConnectionClosedError)
    http.close()
  })
})
