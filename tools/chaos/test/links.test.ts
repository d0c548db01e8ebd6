import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import tls, { type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { madeCertificates, removeFolders } from '../../../test/tls/certificates.ts'
import { until } from '../../../test/transactions/site.ts'
import { startLinks, type Link, type LinkFiles, type Links } from '../hummingbot/links.ts'

const request = 'POST / HTTP/1.1\r\nx-request-id: first\r\ncontent-length: 0\r\n\r\n'
const answer = (body: string) => `HTTP/1.1 200 OK\r\nx-request-id: first\r\ncontent-length: ${body.length}\r\n\r\n${body}`

describe('the lines of Hummingbot’s bots', function () {
  this.timeout(120_000)
  let files: LinkFiles
  let server: tls.Server
  let links: Links
  let client: TLSSocket | undefined

  before(async () => {
    const certsDir = await madeCertificates()
    const read = (name: string) => readFileSync(path.join(certsDir, name))
    const pair = (name: string) => ({ cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) })
    files = { ca: read('ca_cert.pem'), client: pair('client'), server: pair('server') }
    // It may write after its client has ended.
    server = tls.createServer({ allowHalfOpen: true, ca: files.ca, requestCert: true, ...files.server }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    links = await startLinks(() => (server.address() as AddressInfo).port, files)
  })
  afterEach(() => void client?.destroy())
  after(async () => {
    links.stop()
    server.close()
    await removeFolders()
  })

  /** A request that has reached the server, whose socket it is. */
  async function asked(): Promise<{ link: Link; socket: TLSSocket }> {
    const connected = once(server, 'secureConnection')
    const own = tls.connect({ port: links.port, host: '127.0.0.1', servername: 'localhost', ca: files.ca, ...files.client })
    client = own.on('error', () => {})
    own.write(request)
    const [socket] = (await connected) as [TLSSocket]
    socket.on('error', () => {})
    await once(socket, 'data')
    const link = links.of(own.localPort ?? 0)
    return { link: link ?? expect.fail('no link'), socket }
  }

  it('keep what the server wrote before it could have read that its client was gone', async () => {
    const { link, socket } = await asked()
    let isRead = false
    void link.endRead.then(() => (isRead = true))
    // As of a process that has no time: `pause` reads on, into its own memory.
    const handle: { readStop(): void; readStart(): void } = Reflect.get(socket, '_handle')
    handle.readStop()
    link.cut()
    // Some looks at what it has read.
    await sleep(150)
    socket.write(answer('"unread"'))
    await until('it is kept', async () => links.answerTo('first') === '"unread"')
    expect(isRead).to.equal(false)
    handle.readStart()
    socket.resume()
    await link.endRead
  })

  it('do not keep what the server wrote after it had read that its client was gone', async () => {
    const { link, socket } = await asked()
    socket.resume()
    link.cut()
    await link.endRead
    const closed = once(socket, 'close')
    socket.end(answer('"late"'))
    await closed
    expect(links.answerTo('first')).not.to.equal('"late"')
  })
})
