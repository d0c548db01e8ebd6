import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { sharedServer, type SharedServer } from './shared-server.ts'
import { scrape } from './scrape.ts'

describe('malformed HTTP', () => {
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  /** All that the server says to bytes over mutual TLS. */
  function say(bytes: string, then: 'and listen' | 'and leave' = 'and listen'): Promise<string> {
    const read = (file: string) => readFileSync(path.join(server.settings.ssl.certsDir, file))
    const { hostname, port } = new URL(server.kernel.url)
    return new Promise((resolve, reject) => {
      const socket = connect(
        { host: hostname, port: Number(port), ca: read('ca_cert.pem'), cert: read('client_cert.pem'), key: read('client_key.pem') },
        () => {
          socket.write(bytes, 'latin1', () => {
            if (then === 'and leave') socket.destroy()
          })
        },
      )
      let said = ''
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(said))
    })
  }

  for (const [what, bytes] of [
    ['words', 'hello\r\n\r\n'],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a line break in a URL', 'GET /\n HTTP/1.1\r\n\r\n'],
    ['two lengths', 'POST /network/status HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['length and chunks', 'POST /network/status HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['an unknown method', 'BUY / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ] as const) {
    it(`answers 400 to ${what}, with a body like every error, and closes`, async () => {
      const said = await say(bytes)
      expect(said).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
      const body: unknown = JSON.parse(said.slice(said.indexOf('\r\n\r\n') + 4))
      expect(body)
        .to.include({ errorCode: 1014, name: 'INCOMPLETE_PARAMS', httpErrorCode: 400 })
        .and.to.have.keys('errorCode', 'name', 'message', 'httpErrorCode', 'requestId')
    })
  }

  it('does not report a caller that disconnects during a body as a defect', async () => {
    for (const body of ['', '{"chain":', '{"chain":"ethereum"}'])
      await say(
        `POST /network/chain_config HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n${body}`,
        'and leave',
      )
    expect((await scrape(server.client)).text).not.to.contain('code="1099"')
  })

  it('refuses compressed bodies, whole, broken or cut off, with 415', async () => {
    const request = (body: Buffer, length = body.length) =>
      `POST /network/chain_config HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${length}\r\n\r\n${body.toString('latin1')}`
    for (const size of [98_000, 105_000, 114_000, 180_000]) {
      const broken = gzipSync(Buffer.alloc(size, ' '))
      broken.writeUInt8(broken.readUInt8(broken.length - 6) ^ 0xff, broken.length - 6)
      expect(await say(request(broken))).to.match(/^HTTP\/1\.1 415 /)
    }
    for (let i = 0; i < 4; i++) await say(request(gzipSync('{"chain":"ethereum"}').subarray(0, 12), 100), 'and leave')
    expect((await server.client.get('/')).status).to.equal(200)
    expect((await scrape(server.client)).text).not.to.contain('code="1099"')
  })

  it('answers 400 to an invalid URL, and 417 to an unsupported expectation', async () => {
    expect(await say('GET http://[::1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))
      .to.match(/^HTTP\/1\.1 400 /)
      .and.to.contain('"errorCode":1014')
    expect(await say('GET / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n'))
      .to.match(/^HTTP\/1\.1 417 /)
      .and.to.contain('"errorCode":1014')
  })

  it('still answers afterwards', async () => {
    expect((await server.client.get('/')).status).to.equal(200)
    const head = await server.client.request('HEAD', '/')
    expect([head.status, head.text]).to.deep.equal([200, ''])
  })
})
