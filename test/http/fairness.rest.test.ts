import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import type { Settings } from '../../core/config/settings.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient } from '../../testkit/client.ts'
import { startServer } from '../../testkit/server.ts'
import { local, oneChain, sharedServer, swap, traders, type SharedServer } from './shared-server.ts'

const quote = (amount: string) => `GET /amm/price?${new URLSearchParams({ ...swap, amount }).toString()} HTTP/1.1\r\nHost: a\r\n\r\n`

describe('one certificate with many connections', () => {
  let server: SharedServer
  const sockets: TLSSocket[] = []
  let at: { settings: Settings; url: string }
  before(async () => {
    server = await sharedServer()
    at = { settings: server.settings, url: server.kernel.url }
  })
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))

  async function dial(name: string, { settings, url }: { settings: Settings; url: string } = at): Promise<TLSSocket> {
    const read = (file: string) => readFileSync(path.join(settings.ssl.certsDir, file))
    const { hostname, port } = new URL(url)
    const files = { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }
    const socket = connect({ host: hostname, port: Number(port), ...files }).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'secureConnect')
    return socket
  }

  it('does not keep another one waiting: one of its requests is answered before most of theirs', async () => {
    const count = 300
    const crowd: TLSSocket[] = []
    for (let each = 0; each < count; each += 1) crowd.push(await dial('reader'))
    const other = await dial('trader')
    const order: string[] = []
    const answered = [...crowd, other].map(async (socket, index) => {
      const [answer]: unknown[] = await once(socket, 'data')
      order.push(socket === other ? 'other' : 'crowd')
      expect(String(answer), `answer ${index}`).to.match(/^HTTP\/1\.1 200 /)
    })
    // The same turn of the event loop finds them all, that of the other last.
    for (const [index, socket] of [...crowd, other].entries()) socket.write(quote(`${200 + index / 1e6}`))
    await Promise.all(answered)
    expect(order.indexOf('other')).to.be.lessThan(count / 2)
  })

  it('cannot keep the nodes of a network from another one by tokens that are on no list', async () => {
    let last = 0xbad_0000
    const unknown = (count: number) => Array.from({ length: count }, () => `0x${(last += 1).toString(16).padStart(40, '0')}`).join(',')
    const ask = (count: number) => server.as.visitor.get('/network/tokens', { ...local, tokenSymbols: unknown(count) })
    const tooMany = await ask(1_000)
    expect(tooMany.status, tooMany.text).to.equal(400)
    expect(tooMany.body.message).to.contain('20 of them')
    const crowd = Array.from({ length: 64 }, () => ask(20))
    const others = await Promise.all(
      Array.from({ length: 8 }, () => server.as.reader.get('/network/balances', { ...local, address: traders, tokenSymbols: 'ETH,USDC' })),
    )
    expect(others.map(({ status }) => status)).to.deep.equal(others.map(() => 200))
    for (const { status, text } of await Promise.all(crowd)) expect(status, text).to.equal(404)
  })

  it('cannot hold more than its share of memory by bodies that do not end', async () => {
    const { bodyBytes, clientBodyBytes } = server.settings.limits
    const count = 2 * Math.ceil(clientBodyBytes / bodyBytes)
    const held = bodyBytes - 1_000
    const head = `POST /network/status HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`
    const answers: string[] = []
    for (let each = 0; each < count; each += 1) {
      const socket = await dial('reader')
      socket.on('data', (answer: Buffer) => answers.push(String(answer)))
      socket.write(`${head}{"chain":"${' '.repeat(held - 10)}`)
    }
    const fit = Math.floor(clientBodyBytes / held)
    while (answers.length < count - fit) await new Promise((resolve) => setTimeout(resolve, 20))
    for (const answer of answers)
      expect(answer)
        .to.match(/^HTTP\/1\.1 429 /)
        .and.match(/\r\nRetry-After: 1\r\n/)
        .and.contain('limits.clientBodyBytes')
    expect((await server.as.trader.post('/network/status', swap)).status).to.not.equal(429)
    for (const socket of sockets.splice(0)) socket.destroy()
    let status = 429
    while (status === 429) status = (await server.as.reader.post('/network/status', { padding: ' '.repeat(bodyBytes / 2) })).status
    expect(status).to.equal(400)
  })

  it('cannot hold more than its share of memory by answers that it does not read', async () => {
    const request = `GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n`
    const ask = async () => (await server.as.reader.get('/')).body
    let answer = await ask()
    // Each pipelines as many as begin together, and takes none of the answers.
    for (let each = 0; each < 500 && answer.errorCode !== 1002; each += 1) {
      const socket = await dial('reader')
      socket.pause()
      socket.write(request.repeat(server.settings.limits.connectionInFlight))
      answer = await ask()
    }
    expect(answer.message).to.contain('limits.clientUnsentBytes')
    expect((await server.as.trader.get('/')).status).to.equal(200)
    for (const socket of sockets.splice(0)) socket.destroy()
    while (answer.errorCode !== undefined) answer = await ask()
  })

  it('learns once that too many of its requests wait on a connection, which ends with that answer', async () => {
    const limited = await startServer({
      ...oneChain,
      settings: { ...oneChain.settings, 'limits.clientInFlight': 1, 'limits.connectionInFlight': 1 },
    })
    const socket = await dial('client', limited)
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    // One record of TLS, which is read as a whole, and one more: eight requests wait behind the first.
    socket.write(request.repeat(400))
    socket.write(request.repeat(400))
    let said = ''
    socket.setEncoding('latin1').on('data', (text: string) => (said += text))
    await once(socket, 'end')
    const statuses = [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    expect(statuses).to.deep.equal([...Array.from({ length: 9 }, () => 200), 429])
    expect(said.slice(said.indexOf('429')))
      .to.contain('limits.clientInFlight')
      .and.match(/\r\nConnection: close\r\n/i)
    const again = createClient(limited.url, limited.settings.ssl.certsDir)
    expect((await again.get('/')).status).to.equal(200)
    const { text } = await again.get('/metrics')
    expect(text.split('\n').filter((line) => line.startsWith('sluice_requests_refused_total'))).to.deep.equal([
      'sluice_requests_refused_total{bound="clientInFlight"} 1',
    ])
    again.close()
    await limited.stop()
  })

  it('has as many as it may, and one more is told so and closed', async () => {
    const limited = await startServer({
      ...oneChain,
      settings: { ...oneChain.settings, 'limits.clientConnections': 2 },
      conf: {
        ...oneChain.conf,
        'clients.yml': {
          clients: { client: { permissions: ['read'] }, wide: { permissions: ['read'], connections: 3 } },
          unlisted: { connections: 1 },
        },
      },
    })
    const { certsDir } = limited.settings.ssl
    for (const name of ['wide', 'other']) await newClient(certsDir, name)
    const clients = ['client', 'client', 'client', 'wide', 'wide', 'wide', 'other', 'other'].map((name) =>
      createClient(limited.url, certsDir, name),
    )
    const answers = []
    for (const client of clients) answers.push(await client.get('/'))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429, 200, 200, 200, 200, 429])
    expect(answers[2]?.body.message).to.contain('limits.clientConnections')
    expect(answers[2]?.headers).to.include({ connection: 'close', 'retry-after': '5' })
    clients[0]?.close()
    let status = 429
    while (status === 429) status = (await clients[2]?.get('/'))?.status ?? 0
    expect(status).to.equal(200)
    for (const client of clients) client.close()
    await limited.stop()
  })

  it('opens as many streams of events as it may, and the server no more than it may', async () => {
    const limited = await startServer({
      ...oneChain,
      settings: { ...oneChain.settings, 'limits.clientStreams': 2, 'limits.streams': 6 },
      conf: {
        ...oneChain.conf,
        'clients.yml': {
          clients: { client: { permissions: ['read'] }, wide: { permissions: ['read'], streams: 3 } },
          unlisted: { streams: 1 },
        },
      },
    })
    const { certsDir } = limited.settings.ssl
    for (const name of ['wide', 'other', 'another']) await newClient(certsDir, name)
    const answers: string[] = []
    for (const name of ['client', 'client', 'client', 'wide', 'wide', 'wide', 'wide', 'other', 'other', 'another']) {
      const socket = await dial(name, limited)
      socket.write('GET /events?topics=blocks HTTP/1.1\r\nHost: a\r\n\r\n')
      answers.push(String((await once(socket, 'data'))[0]))
    }
    const statuses = answers.map((answer) => Number(answer.slice('HTTP/1.1 '.length).slice(0, 3)))
    expect(statuses).to.deep.equal([200, 200, 503, 200, 200, 200, 503, 200, 503, 503])
    expect(answers[2])
      .to.contain('limits.clientStreams')
      .and.match(/\r\nRetry-After: 5\r\n/i)
    expect(answers[9]).to.contain('limits.streams')
    await limited.stop()
  })
})
