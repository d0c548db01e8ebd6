import { expect } from 'chai'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { madeCertificates, pairOf, pem, removeFolders } from './certificates.ts'
import { call, connect, startServer, stopServers, until, type RunningServer } from './tls-server.ts'

/** Connects and says so much, without waiting for an answer. */
async function stranger({ port }: RunningServer, words = ''): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  strangers.push(socket)
  await once(socket, 'connect')
  if (words !== '') socket.write(words, 'latin1')
  return socket
}
const strangers: net.Socket[] = []
/** The start of a handshake that does not go on. */
const begun = '\x16\x03\x01\x02\x00\x01'

describe('the number of connections', () => {
  let certsDir: string
  before(async () => {
    certsDir = await madeCertificates()
  })
  afterEach(async () => {
    for (const socket of strangers.splice(0)) socket.destroy()
    await stopServers()
  })
  after(removeFolders)
  const asClient = async () => ({ pair: await pairOf(certsDir, 'client') })

  it('has a limit: connections beyond the limit are closed, and a client gets in as soon as one is free', async () => {
    const refused: string[] = []
    const server = await startServer(certsDir, { maxConnections: 2, onRefused: (reason) => refused.push(reason) })
    const open = [await connect(server, await asClient()), await connect(server, await asClient())]
    for (const { ask } of open) expect((await ask()).answer).to.equal('hello client')
    expect((await call(server, await asClient())).answer).to.equal('')
    expect(refused).to.deep.equal(['connections'])
    open[0]?.socket.destroy()
    await until(async () => (await call(server, await asClient())).answer === 'hello client', 'a client gets in')
  })

  for (const [who, words] of [
    ['say nothing', ''],
    ['begin a handshake and say no more', begun],
  ] as const) {
    it(`has room for a client while strangers who ${who} come and stay`, async () => {
      const refused: string[] = []
      const handshakes = { handshakes: 20, handshakesOfAddress: 0 }
      const server = await startServer(certsDir, { maxConnections: 30, handshakes, onRefused: (reason) => refused.push(reason) })
      for (let each = 0; each < 60; each += 1) await stranger(server, words)
      expect((await call(server, await asClient())).answer).to.equal('hello client')
      await until(() => strangers.filter((socket) => socket.closed).length >= 40, 'the others are closed')
      expect(refused).to.have.length.of.at.least(40)
      expect(new Set(refused)).to.deep.equal(new Set(['handshakes']))
    })
  }

  it('of one address that wait for their client is limited, unless that is turned off', async () => {
    for (const [handshakesOfAddress, open] of [
      [5, 5],
      [0, 12],
    ] as const) {
      const server = await startServer(certsDir, { handshakes: { handshakes: 100, handshakesOfAddress } })
      const all: net.Socket[] = []
      for (let each = 0; each < 12; each += 1) all.push(await stranger(server))
      await until(() => all.filter((socket) => !socket.closed).length === open, `${open} of them stay`)
      expect((await call(server, await asClient())).answer).to.equal('hello client')
    }
  })

  it('has room for a client that opens many at once and speaks on each a moment later', async () => {
    const server = await startServer(certsDir, { handshakes: { handshakes: 100, handshakesOfAddress: 10 } })
    const [ca, { certPem, keyPem }] = [await pem(certsDir, 'ca_cert.pem'), await pairOf(certsDir, 'client')]
    const sockets: net.Socket[] = []
    for (let each = 0; each < 40; each += 1) sockets.push(await stranger(server))
    const secured = sockets.map((socket) =>
      once(tls.connect({ socket, servername: 'localhost', ca, cert: certPem, key: keyPem }), 'secureConnect'),
    )
    expect(await Promise.all(secured)).to.have.length(40)
  })

  it('may be reached at once: all clients that do their handshake get in', async () => {
    const server = await startServer(certsDir, { handshakes: { handshakes: 100, handshakesOfAddress: 10 } })
    const how = await asClient()
    const answers = await Promise.all(Array.from({ length: 60 }, () => call(server, how)))
    expect(answers.filter(({ answer }) => answer === 'hello client')).to.have.length(60)
  })
})
