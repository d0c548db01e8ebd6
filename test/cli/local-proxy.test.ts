import { expect } from 'chai'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startLocalProxy, type LocalProxy, type ProxyOptions } from '../../core/cli/local-proxy.ts'
import { createSocketTable, type Ends } from '../../core/base/socket-table.ts'
import { createUnreadAnswers } from '../../core/cli/unread-answers.ts'
import { answerIdHeader, reportPath } from '../../core/http/answer-reports.ts'
import { createTlsServer } from '../../core/tls/tls-server.ts'
import { until } from '../transactions/site.ts'
import { madeCertificates, removeFolders } from '../tls/certificates.ts'

const own = process.getuid?.() ?? 0
const silent = { info: () => {}, warn: () => {} }

describe('a local proxy', () => {
  let upstream: Server
  let options: ProxyOptions
  let answer: RequestListener
  let connections = 0
  let proxies: LocalProxy[] = []
  const said: string[] = []

  before(async () => {
    const certsDir = await madeCertificates()
    upstream = await createTlsServer({ certsDir, log: silent }, (request, response) => answer(request, response))
    upstream.on('secureConnection', () => void (connections += 1))
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const [ca, cert, key] = await Promise.all(
      ['ca_cert.pem', 'client_cert.pem', 'client_key.pem'].map((name) => readFile(path.join(certsDir, name))),
    )
    if (!ca || !cert || !key) throw new Error('no certificates')
    const { port } = upstream.address() as AddressInfo
    options = { port: 0, upstream: { host: '127.0.0.1', port, servername: 'localhost', ca, cert, key }, log: (line) => said.push(line) }
  })
  after(async () => {
    upstream.closeAllConnections()
    upstream.close()
    await removeFolders()
  })
  beforeEach(() => {
    connections = 0
    said.length = 0
    answer = echo
  })
  afterEach(async () => {
    await Promise.all(proxies.map((each) => each.stop(0)))
    proxies = []
  })

  async function proxy(more: Partial<ProxyOptions> = {}): Promise<LocalProxy> {
    const started = await startLocalProxy({ ...options, only: { users: new Set([own]), owners: createSocketTable() }, ...more })
    proxies.push(started)
    return started
  }

  it('sends on method, path, query and body, and gives status and body back', async () => {
    const { port } = await proxy()
    const { status, text } = await ask(port, { method: 'POST', path: '/trade?a=1%20', body: '{"amount":1e-7}' })
    expect(status).to.equal(201)
    expect(JSON.parse(text)).to.deep.include({ method: 'POST', url: '/trade?a=1%20', body: '{"amount":1e-7}' })
    expect((await ask(port, { method: 'DELETE', path: '/tokens/0x1', body: '{"chain":"x"}' })).text).to.include('DELETE')
  })

  it('keeps its connections to the server', async () => {
    const { port } = await proxy()
    for (let index = 0; index < 20; index++) await ask(port, { path: `/${index}` })
    expect(connections).to.equal(1)
  })

  it('serves both loopback addresses, where the machine has both', async () => {
    const { port } = await proxy()
    expect((await ask(port, { path: '/' })).status).to.equal(201)
    const hasV6 = await new Promise((resolve) => {
      const probe = net.createServer().once('error', () => resolve(false))
      probe.listen(0, '::1', () => probe.close(() => resolve(true)))
    })
    if (hasV6) expect((await ask(port, { path: '/', host: '::1' })).status).to.equal(201)
  })

  for (const [what, headers] of Object.entries({
    'an Origin': { origin: 'http://localhost' },
    "a browser's mark": { 'sec-fetch-site': 'cross-site' },
    'a foreign Host': { host: 'evil.example:15888' },
    'a Host that only begins as its own': { host: 'localhost.evil.example' },
  }))
    it(`refuses ${what}, and asks the server nothing`, async () => {
      const { port } = await proxy()
      const { status, text } = await ask(port, { method: 'POST', path: '/trade', headers, body: '{}' })
      expect(status).to.equal(403)
      expect(JSON.parse(text)).to.include({ statusCode: 403, error: 'Forbidden' })
      expect(connections).to.equal(0)
    })

  it('refuses the request of a forward proxy, and CONNECT', async () => {
    const { port } = await proxy()
    for (const line of ['GET http://evil.example/ HTTP/1.1', 'OPTIONS * HTTP/1.1'])
      expect(await raw(port, `${line}\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).to.match(/^HTTP\/1\.1 403/)
    expect(await raw(port, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n')).not.to.match(/ 200 /)
    expect(connections).to.equal(0)
  })

  it('refuses other users of the machine, and holds no connection of theirs', async () => {
    const { port } = await proxy({ only: { users: new Set([own + 1]), owners: createSocketTable() } })
    const socket = net.connect(port, '127.0.0.1')
    await once(socket.resume(), 'close')
    expect((await ask(port, { path: '/' })).status).to.equal(403)
    expect(connections).to.equal(0)
    expect(said[0]).to.include(`the user ${own}`)
  })

  it('refuses whom the system does not tell', async () => {
    const { port } = await proxy({ only: { users: new Set([own]), owners: createSocketTable(['/nowhere']) } })
    expect((await ask(port, { path: '/' })).status).to.equal(403)
    expect(connections).to.equal(0)
  })

  it('asks the table again for a connection that came while it was read', async () => {
    const seen: Ends[] = []
    const owners = createSocketTable()
    const { port } = await proxy({
      only: { users: new Set([own]), owners: { ...owners, ownerOf: (ends) => (seen.push(ends), owners.ownerOf(ends)) } },
    })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(port, { path: `/${index}` })))
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 201))
    expect(seen).to.have.length(50)
  })

  it('sends nothing on of a connection that was gone as its owner was looked up: another user may have its port then', async () => {
    const urls: (string | undefined)[] = []
    answer = (request, response) => (urls.push(request.url), echo(request, response))
    let lookUp = async () => own
    const { port } = await proxy({ only: { users: new Set([own]), owners: { ...createSocketTable(), ownerOf: () => lookUp() } } })
    // The server is connected: what is sent on arrives at once.
    await ask(port, { path: '/before' })
    const gone = net.connect(port, '127.0.0.1').on('error', () => {})
    lookUp = async () => {
      gone.write('POST /trade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}')
      await sleep(100)
      gone.resetAndDestroy()
      return own
    }
    await once(gone, 'close')
    lookUp = async () => own
    await ask(port, { path: '/after' })
    expect(urls).to.deep.equal(['/before', '/after'])
  })

  it('serves its user whatever number of connections others open', async () => {
    let lookUps = 0
    const ownerOf = () => ((lookUps += 1) <= 300 ? new Promise<undefined>(() => {}) : Promise.resolve(own))
    const { port } = await proxy({ only: { users: new Set([own]), owners: { ...createSocketTable(), ownerOf } } })
    const others = await opened(port, 300)
    const status = await ask(port, { path: '/' }).then(
      (answered) => answered.status,
      (error: NodeJS.ErrnoException) => error.code,
    )
    for (const socket of others) socket.destroy()
    expect(status).to.equal(201)
  })

  it('answers 503 on a connection that is one too many, until another one is closed', async () => {
    const { port } = await proxy({ only: { users: new Set([own]), owners: { ...createSocketTable(), ownerOf: async () => own } } })
    const sockets = await opened(port, 256)
    expect(await raw(port, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).to.match(/^HTTP\/1\.1 503/)
    expect(connections).to.equal(0)
    sockets[0]?.destroy()
    await until('its place is free', async () => (await ask(port, { path: '/' })).status === 201)
    for (const socket of sockets) socket.destroy()
  })

  it('ends the request at the server when the client is gone', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => (answer = (request) => resolve(request.resume())))
    const { port } = await proxy()
    const call = send(port, { method: 'POST', path: '/trade', body: '{}' }).on('error', () => {})
    const { socket } = await arrived
    const ended = once(socket, 'close')
    call.destroy()
    await ended
  })

  it('ends what waits behind another request of the same connection, too', async () => {
    const sockets: net.Socket[] = []
    const both = new Promise<void>((resolve) => {
      answer = (request) => {
        request.resume()
        if (sockets.push(request.socket) === 2) resolve()
      }
    })
    const { port } = await proxy()
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    const one = 'POST /trade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
    client.write(one + one)
    await both
    const ended = sockets.map((socket) => once(socket, 'close'))
    client.destroy()
    await Promise.all(ended)
  })

  describe('whose client gets an answer to a POST', () => {
    const one = 'POST /trade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
    /** Reports as they came, each with the path of its request; and requests. */
    let told: string[] = []
    let sockets: IncomingMessage['socket'][] = []
    let takesReports = true
    beforeEach(() => {
      told = []
      sockets = []
      takesReports = true
      const paths = new Map<unknown, string | undefined>()
      answer = (request, response) => {
        const { url, headers } = request
        let body = ''
        request.setEncoding('utf8').on('data', (part: string) => (body += part))
        request.on('end', () => {
          if (url === reportPath) {
            if (!takesReports) return response.writeHead(503).end()
            for (const { id, read } of JSON.parse(body).answers) told.push(`${paths.get(id)} ${read ? 'read' : 'unread'}`)
            return response.end('{}')
          }
          sockets.push(request.socket)
          paths.set(headers[answerIdHeader], url)
          told.push(`${url}`)
          if (url === '/slow') return
          response.setHeader(answerIdHeader, headers[answerIdHeader] ?? '')
          response.end('{}')
        })
      }
    })

    const tells = (...all: string[]) => until(`it tells ${all.join(', ')}`, async () => JSON.stringify(told) === JSON.stringify(all))

    /** A client that has not read the answer to its request, which its system has. */
    async function answered(port: number, request = one): Promise<net.Socket> {
      // Before it is connected: later it would have begun to read.
      const client = net
        .connect(port, '127.0.0.1')
        .on('error', () => {})
        .pause()
      await once(client, 'connect')
      const before = told.filter((each) => each === '/trade read').length
      client.write(request)
      await until('it is written', async () => told.filter((each) => each === '/trade read').length > before)
      return client
    }

    for (const [how, request] of Object.entries({
      'is kept': one,
      'ends with the answer': one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
      'is of HTTP/1.0': one.replace('1.1', '1.0'),
    }))
      it(`tells the server where the connection, which ${how}, breaks before the client has read it, whoever else asks meanwhile`, async () => {
        const { port } = await proxy()
        const client = await answered(port, request)
        expect((await ask(port, { path: '/other' })).status).to.equal(200)
        expect((await ask(port, { method: 'POST', path: '/other', body: '{}' })).status).to.equal(200)
        const before = ['/trade', '/trade read', '/other', '/other', '/other read']
        await tells(...before)
        client.resetAndDestroy()
        await tells(...before, '/trade unread')
        const [own, ...others] = sockets
        expect(others).not.to.include(own)
      })

    it('tells the server of an answer that never came to its client', async () => {
      const { port } = await proxy()
      const gone = send(port, { method: 'POST', path: '/slow', body: '{}' }).on('error', () => {})
      await tells('/slow')
      gone.destroy()
      await tells('/slow', '/slow unread')
      const lost = ask(port, { method: 'POST', path: '/slow', body: '{}' }).catch((error: NodeJS.ErrnoException) => error.code)
      await tells('/slow', '/slow unread', '/slow')
      sockets.at(-1)?.destroy()
      expect(await lost).to.equal('ECONNRESET')
      await tells('/slow', '/slow unread', '/slow', '/slow unread')
    })

    it('sends on what may act only once the server knows of the answers before', async () => {
      const { port } = await proxy()
      takesReports = false
      expect((await ask(port, { method: 'POST', path: '/trade', body: '{}' })).status).to.equal(200)
      const refused = await ask(port, { method: 'POST', path: '/trade', body: '{}' })
      expect(refused.status).to.equal(503)
      expect((await ask(port, { path: '/' })).status).to.equal(200)
      expect(told).to.deep.equal(['/trade', '/'])
      takesReports = true
      expect((await ask(port, { method: 'POST', path: '/trade', body: '{}' })).status).to.equal(200)
      await tells('/trade', '/', '/trade read', '/trade', '/trade read')
    })

    it('says nothing to a server that waits for no report', async () => {
      const { port } = await proxy()
      answer = (request, response) => (told.push(`${request.url}`), echo(request, response))
      for (let index = 0; index < 3; index++) await ask(port, { method: 'POST', path: '/quote', body: '{}' })
      expect(told).to.deep.equal(['/quote', '/quote', '/quote'])
      expect(connections).to.equal(1)
    })

    it('uses the connection to the server again once the client asks more, or has ended its own', async () => {
      const { port } = await proxy()
      for (let index = 0; index < 3; index++) {
        const client = await answered(port)
        client.resume().write(one)
        await until('two are read', async () => told.filter((each) => each === '/trade read').length === 2)
        client.end()
        await once(client, 'close')
        told = []
      }
      expect(new Set(sockets).size).to.equal(1)
    })

    it('holds few connections of those whose clients ask nothing more', async () => {
      const { port } = await proxy()
      const clients: net.Socket[] = []
      for (let index = 0; index < 50; index++) clients.push(await answered(port))
      await until('the others are closed', async () => sockets.filter((socket) => !socket.destroyed).length <= 32)
      // What they have not read is known all the same.
      clients[0]?.resetAndDestroy()
      await until('it is told', async () => told.includes('/trade unread'))
      for (const client of clients) client.destroy()
    })

    it('reports an answer as unread that was written to an end which was closed in that moment', async () => {
      const reported: boolean[] = []
      const ended: string[] = []
      const unread = createUnreadAnswers({ add: async ({ read }) => void reported.push(read) })
      const server = http.createServer((_request, response) => {
        const connection = { options: {}, isOpen: true, release: () => ended.push('released'), end: () => ended.push('ended') }
        const followed = unread.follow(response, connection)
        followed.sent()
        followed.answered(true)
        // The system has closed it when this returns, and this process reads of it later.
        client.destroy()
        response.end('{}')
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
      client.write(one)
      await until('it is reported', async () => reported.length > 0)
      server.closeAllConnections()
      server.close()
      expect({ reported, ended }).to.deep.equal({ reported: [false], ended: ['ended'] })
    })
  })

  it('sends nothing on of a request whose client is gone before its body', async () => {
    const { port } = await proxy()
    const client = net.connect(port, '127.0.0.1')
    client.end('POST /trade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"amount"')
    await once(client.resume(), 'close')
    expect((await ask(port, { path: '/' })).status).to.equal(201)
    expect(connections).to.equal(1)
  })

  it('makes few connections, however many clients leave, and serves the others', async () => {
    const { port } = await proxy({ pace: { burst: 5, perSecond: 20 } })
    answer = (request, response) => (request.url === '/slow' ? void request.resume() : echo(request, response))
    const leave = async () => {
      const client = net.connect(port, '127.0.0.1').on('error', () => {})
      client.write('POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}')
      await once(client, 'connect')
      client.resetAndDestroy()
    }
    const begun = performance.now()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 50 }, leave))
      expect((await ask(port, { path: '/' })).status).to.equal(201)
    }
    const seconds = (performance.now() - begun) / 1_000
    expect(connections).to.be.at.most(5 + Math.ceil(seconds * 20))
  })

  it('keeps no memory and no connection of thousands that leave, and answers the next', async () => {
    const { port } = await proxy()
    answer = (request, response) => (request.url === '/slow' ? void request.resume() : echo(request, response))
    const leave = async (round: number) => {
      const client = net.connect(port, '127.0.0.1').on('error', () => {})
      await once(client, 'connect')
      const whole = `POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`
      // Some leave in the middle of their request, some with two under way, some by a reset.
      client.write(round % 3 === 0 ? whole.slice(0, 60) : round % 3 === 1 ? whole + whole : whole)
      await new Promise((resolve) => setImmediate(resolve))
      if (round % 2 === 0) client.resetAndDestroy()
      else client.destroy()
      await once(client, 'close')
    }
    const aborts = async (count: number) => {
      for (let round = 0; round < count / 100; round++) {
        await Promise.all(Array.from({ length: 100 }, async (_, each) => leave(each)))
        expect((await ask(port, { path: '/' })).status).to.equal(201)
      }
    }
    const sockets = () => process.getActiveResourcesInfo().filter((each) => each.includes('TCP') || each.includes('TLS')).length
    const before = sockets()
    /** Both ends of those that the proxy keeps to its server are left. */
    const settled = async (): Promise<void> => {
      while (sockets() > before + 2 * 32) await sleep(10)
    }
    await aborts(300)
    await settled()
    const heap = heapAfterCollection()
    await aborts(2_000)
    await settled()
    // A kilobyte of each would be more than that.
    expect(heapAfterCollection() - heap).to.be.below(2_000_000)
    expect((await ask(port, { path: '/' })).status).to.equal(201)
  })

  it('answers 503 where the server cannot be reached, since nothing was sent', async () => {
    const { port } = await proxy({ upstream: { ...options.upstream, port: 1 } })
    const { status, text } = await ask(port, { method: 'POST', path: '/trade', body: '{}' })
    expect(status).to.equal(503)
    expect(JSON.parse(text)).to.include({ statusCode: 503, error: 'Service Unavailable' })
    expect(await (await proxy({ upstream: { ...options.upstream, port: 1 } })).probe()).to.include('ECONNREFUSED')
  })

  it('loses the connection where the server loses it, and sends nothing again', async () => {
    let count = 0
    answer = (request) => {
      count += 1
      request.socket.destroy()
    }
    const { port } = await proxy()
    const error = await ask(port, { method: 'POST', path: '/trade', body: '{}' }).catch((lost: NodeJS.ErrnoException) => lost.code)
    expect(error).to.equal('ECONNRESET')
    expect(count).to.equal(1)
  })

  it('breaks off an answer that the server breaks off', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{"half":', () => response.socket?.destroy())
    }
    const { port } = await proxy()
    expect(await ask(port, { path: '/' }).catch((lost: NodeJS.ErrnoException) => lost.code)).to.equal('ECONNRESET')
  })

  it('refuses a body that is too large', async () => {
    const { port } = await proxy()
    const outcome = await ask(port, { method: 'POST', path: '/', body: 'x'.repeat(200_000) }).then(
      ({ status }) => status,
      (lost: NodeJS.ErrnoException) => lost.code,
    )
    expect(outcome).to.be.oneOf([413, 'ECONNRESET', 'EPIPE'])
    expect(connections).to.equal(0)
  })

  it('lets requests under way end when it stops', async () => {
    let finish = () => {}
    const arrived = new Promise<void>((resolve) => {
      answer = (request, response) => {
        finish = () => echo(request, response)
        resolve()
      }
    })
    const started = await proxy()
    const asked = ask(started.port, { method: 'POST', path: '/trade', body: '{}' })
    await arrived
    const stopped = started.stop(30_000)
    finish()
    expect((await asked).status).to.equal(201)
    await stopped
  })
})

function echo(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.setEncoding('utf8').on('data', (part: string) => (body += part))
  request.on('end', () => {
    const text = JSON.stringify({ method: request.method, url: request.url, body })
    response.writeHead(201, { 'content-type': 'application/json' }).end(text)
  })
}

interface Question {
  method?: string
  path: string
  host?: string
  headers?: http.OutgoingHttpHeaders
  body?: string
}

const send = (port: number, { body, host = '127.0.0.1', ...rest }: Question): http.ClientRequest =>
  http
    .request({ port, host, agent: false, ...rest, headers: { ...(body && { 'content-length': body.length }), ...rest.headers } })
    .end(body)

function ask(port: number, question: Question): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    send(port, question)
      .on('error', reject)
      .on('response', (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (part: string) => (text += part))
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode, text }))
      })
  })
}

/** Of the whole process: client, proxy and server. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('Node has no gc')
  collect()
  return process.memoryUsage().heapUsed
}

const opened = (port: number, count: number): Promise<net.Socket[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      return socket
    }),
  )

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    socket
      .setEncoding('latin1')
      .on('data', (part: string) => (got += part))
      .on('error', () => {})
      .on('close', () => resolve(got))
  })
}
