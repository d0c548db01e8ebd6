import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { expect } from 'chai'
import pino from 'pino'
import { loadSettings } from '../../core/config/settings.ts'
import { listen } from '../../core/http/server.ts'
import { madeCertificates, pairOf, pem, removeFolders } from '../tls/certificates.ts'

describe('what a client sends that is no request of HTTP/1.1', () => {
  let answer: RequestListener
  let seen: string[]
  let server: Awaited<ReturnType<typeof listen>>
  let say: (bytes: string) => Promise<string>
  let home: string

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-malformed-'))
    const certsDir = await madeCertificates()
    const settings = loadSettings({ confDir: home, env: {}, flags: { 'server.port': 0, 'ssl.certsDir': certsDir } })
    const listener: RequestListener = (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      answer(request, response)
    }
    server = await listen({ listener, connected: () => {}, connectionRefused: () => {}, refuseNew: () => {} }, settings.server, {
      settings,
      log: pino({ level: 'silent' }),
    })
    const [ca, { certPem, keyPem }] = [await pem(certsDir, 'ca_cert.pem'), await pairOf(certsDir, 'client')]
    say = (bytes) =>
      new Promise((resolve) => {
        const { port } = new URL(server.url)
        const socket = connect({ host: '127.0.0.1', servername: 'localhost', port: Number(port), ca, cert: certPem, key: keyPem })
        let said = ''
        socket.once('secureConnect', () => socket.write(bytes, 'latin1'))
        socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
        socket.on('error', ({ message }) => (said += message))
        socket.on('close', () => resolve(said))
      })
  })
  beforeEach(() => {
    seen = []
    answer = (_request, response) => void response.writeHead(200, { 'Content-Length': 4 }).end('done')
  })
  after(async () => {
    await server.stop(0)
    await removeFolders()
    await rm(home, { recursive: true })
  })

  const get = (target: string, ...headers: string[]) => `GET ${target} HTTP/1.1\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n`
  const statuses = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

  /** The one answer of the error table, and that the connection is closed after it. */
  function expectRefusal(said: string, status: number): void {
    const [head = '', body = ''] = said.split('\r\n\r\n')
    expect(head)
      .to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
      .and.match(/\r\nConnection: close\r\n|\r\nConnection: close$/)
    const { requestId, ...error } = JSON.parse(body)
    expect(head).to.contain(`X-Request-Id: ${requestId}`)
    expect(error).to.include({ errorCode: 1014, name: 'INCOMPLETE_PARAMS', httpErrorCode: status }).and.to.have.property('message')
  }

  it('nothing, in 280 kB of requests at once: each is answered', async () => {
    const count = 2_000
    const padding = `X-Padding: ${'x'.repeat(100)}`
    const said = await say(get('/', 'Host: a', padding).repeat(count - 1) + get('/', 'Host: a', padding, 'Connection: close'))
    expect(statuses(said)).to.deep.equal(Array.from({ length: count }, () => 200))
  })

  it('nothing, in a body that nobody reads: the request after it is answered', async () => {
    const body = 'x'.repeat(8_000_000)
    const said = await say(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}${get('/', 'Host: a', 'Connection: close')}`,
    )
    expect(statuses(said)).to.deep.equal([200, 200])
  })

  for (const [what, ...headers] of [['no Host'], ['two Hosts', 'Host: a', 'Host: b'], ['one Host twice', 'Host: a', 'hOST: a']] as const) {
    it(`a request with ${what} is refused, and nothing after it is carried out`, async () => {
      const said = await say(get('/first', 'Host: a') + get('/second', ...headers) + get('/third', 'Host: a'))
      expect(statuses(said)).to.deep.equal([200, 400])
      expectRefusal(said.slice(said.lastIndexOf('HTTP/1.1 400')), 400)
      expect(seen).to.deep.equal(['GET /first'])
    })
  }

  it('a request of HTTP/1.0 needs no Host', async () => {
    expect(await say('GET / HTTP/1.0\r\n\r\n')).to.match(/^HTTP\/1\.1 200 OK\r\n/)
    expectRefusal(await say('GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'), 400)
  })

  for (const [what, status, bytes] of [
    ['headers of 200 kB', 431, get('/', 'Host: a', `X: ${'x'.repeat(200_000)}`)],
    ['headers of 8 MB', 431, get('/', 'Host: a', `X: ${'x'.repeat(8_000_000)}`)],
    ['words before 8 MB', 400, `hello\r\n\r\n${'x'.repeat(8_000_000)}`],
    ['no Host before 8 MB', 400, `POST / HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n${'x'.repeat(8_000_000)}`],
    [
      'a wrong expectation before 8 MB',
      417,
      `POST / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nContent-Length: 8000000\r\n\r\n${'x'.repeat(8_000_000)}`,
    ],
    ['a request to a proxy', 405, 'CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ] as const) {
    it(`${what}: the client gets the answer ${status}`, async () => {
      expectRefusal(await say(bytes), status)
      expect(seen).to.deep.equal([])
    })
  }

  it('after a request that is being answered: that one has its answer first', async () => {
    for (const bytes of ['hello\r\n\r\n', 'CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n', get('/again')]) {
      let end: (() => void) | undefined
      answer = (_request, response) => void (end = () => response.writeHead(200, { 'Content-Length': 4 }).end('done'))
      const saying = say(get('/trade', 'Host: a') + bytes)
      while (!end) await new Promise((resolve) => setTimeout(resolve, 5))
      // What followed has been read by now, or comes later: the answers are the same.
      end()
      const said = await saying
      expect(said).to.match(/^HTTP\/1\.1 200 OK\r\n/)
      expectRefusal(said.slice(said.indexOf('done') + 4), bytes.startsWith('CONNECT') ? 405 : 400)
    }
    expect(seen).to.deep.equal(['GET /trade', 'GET /trade', 'GET /trade'])
  })

  it('in the middle of a body: the requests before it have their answers first', async () => {
    let end: (() => void) | undefined
    answer = ({ method }, response) => {
      // The other waits for its body.
      if (method === 'GET') end = () => response.writeHead(200, { 'Content-Length': 4 }).end('done')
    }
    const saying = say(`${get('/trade', 'Host: a')}POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n`)
    while (!end || seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    end()
    const said = await saying
    expect(statuses(said)).to.deep.equal([200, 400])
    expectRefusal(said.slice(said.indexOf('done') + 4), 400)
  })
})
