// Swaps through `sluice proxy`, which tells the server what its clients have read.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { expect } from 'chai'
import { startLocalProxy, type LocalProxy } from '../../../core/cli/local-proxy.ts'
import { answerIdHeader, maxReports, reportPath } from '../../../core/http/answer-reports.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { admins } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { tradingServer, type TradingServer } from './trading-server.ts'

const execute = '/trading/router/execute-swap'
const swap = { chainNetwork: 'ethereum-local', walletAddress: admins, baseToken: 'WETH', quoteToken: 'USDC', side: 'SELL', slippagePct: 1 }

describe('swaps through the local proxy', function () {
  this.timeout(300_000)
  let server: TradingServer
  let proxy: LocalProxy
  before(async () => {
    server = await tradingServer()
    const [ca, cert, key] = await Promise.all(
      ['ca_cert.pem', 'client_cert.pem', 'client_key.pem'].map((name) => readFile(path.join(server.certsDir, name))),
    )
    if (!ca || !cert || !key) throw new Error('no certificates')
    const port = Number(new URL(server.kernel.interfaceUrls['hummingbot'] ?? '').port)
    proxy = await startLocalProxy({ port: 0, upstream: { host: '127.0.0.1', port, servername: 'localhost', ca, cert, key }, log: () => {} })
  })
  after(async () => {
    await proxy?.stop(0)
  })

  const trades = async (): Promise<string[]> =>
    (await server.client.get('/transactions', { kind: 'trade', limit: '200' })).body.transactions.flatMap(
      ({ txHash }: { txHash: string | null }) => txHash ?? [],
    )

  /** A client with a connection of its own, which reads only when it is told to. */
  async function asking(amount: number, more = ''): Promise<net.Socket> {
    const body = JSON.stringify({ ...swap, amount })
    // Before it is connected: later it would have begun to read.
    const socket = net
      .connect(proxy.port, '127.0.0.1')
      .on('error', () => {})
      .pause()
    await once(socket, 'connect')
    socket.write(
      `POST ${execute} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`,
    )
    return socket
  }

  /** Reads the answer and leaves the connection open. */
  async function readOne(socket: net.Socket): Promise<string> {
    const parts: string[] = []
    const done = new Promise<string>((resolve, reject) => {
      socket.setEncoding('utf8').on('data', (part: string) => {
        parts.push(part)
        const [head = '', body = ''] = parts.join('').split('\r\n\r\n')
        if (body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity)) resolve(String(JSON.parse(body).signature))
      })
      socket.once('close', () => reject(new Error(`the connection ended after: ${parts.join('')}`)))
    })
    socket.resume()
    return done
  }

  const answered = (socket: net.Socket) => until('its answer is there', async () => (await unreadBytes(socket)) > 0)

  async function getRoot(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/`)
    expect(response.status).to.equal(200)
    await response.text()
  }

  it('are one where the client is reset before it has read the answer, whoever else asks meanwhile', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = await trades()
    for (const more of ['', 'Connection: close\r\n']) {
      const lost = await asking(0.41, more)
      await answered(lost)
      const [first] = await trades()
      await getRoot()
      lost.resetAndDestroy()
      const again = await asking(0.41)
      expect(await readOne(again)).to.equal(first)
      const third = await asking(0.41)
      expect(await readOne(third)).not.to.equal(first)
      for (const each of [again, third]) each.destroy()
    }
    expect((await trades()).length).to.equal(before.length + 4)
  })

  it('are answered whoever is reset meanwhile', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = await trades()
    for (let round = 0; round < 6; round++) {
      const lost = await asking(0.42)
      await answered(lost)
      const other = await asking(0.43)
      await until('it is signed', async () => (await trades()).length === before.length + 2 * (round + 1))
      lost.resetAndDestroy()
      expect(await readOne(other)).to.match(/^0x/)
      other.destroy()
      const again = await asking(0.42)
      await readOne(again)
      again.destroy()
    }
    expect((await trades()).length).to.equal(before.length + 12)
  })
})

describe('what a proxy reports of answers', function () {
  this.timeout(300_000)
  let server: TradingServer
  const clients: Client[] = []
  before(async () => {
    server = await tradingServer()
    await newClient(server.certsDir, 'another-proxy')
  })
  after(() => {
    for (const client of clients) client.close()
  })

  /** A proxy by itself: with a certificate and connections of its own. */
  function proxyOf(certificate?: string): Client {
    const client = createClient(server.kernel.interfaceUrls['hummingbot'] ?? '', server.certsDir, certificate)
    clients.push(client)
    return client
  }
  async function swapped(by: Client, amount: number, id: string): Promise<string> {
    const { status, headers, text, body } = await by.post(execute, { ...swap, amount }, { headers: { [answerIdHeader]: id } })
    expect([status, headers[answerIdHeader]], text).to.deep.equal([200, id])
    return body.signature
  }
  const report = async (by: Client, id: string, read: boolean) => {
    const { status, text } = await by.post(reportPath, { answers: [{ id, read }] })
    expect(status, text).to.equal(200)
  }

  it('counts for requests of its own certificate alone', async () => {
    const [own, other] = [proxyOf(), proxyOf('another-proxy')]
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const
    const first = await swapped(own, 0.44, ids[0])
    await report(other, ids[0], false)
    const second = await swapped(own, 0.44, ids[1])
    expect(second).not.to.equal(first)
    await report(own, ids[1], false)
    await report(other, ids[1], true)
    expect(await swapped(own, 0.44, ids[2])).to.equal(second)
  })

  it('is missing where it was killed before: an equal request of the next one is the same, until that reports', async () => {
    const [killed, next] = [proxyOf(), proxyOf()]
    const first = await swapped(killed, 0.45, randomUUID())
    killed.close()
    const id = randomUUID()
    expect(await swapped(next, 0.45, id)).to.equal(first)
    await report(next, id, true)
    expect(await swapped(next, 0.45, randomUUID())).not.to.equal(first)
  })

  it('is refused by its field where it is none, and none of it counts', async () => {
    const own = proxyOf()
    const id = randomUUID()
    const first = await swapped(own, 0.46, id)
    const lost = { id, read: false }
    for (const [body, field] of [
      [{}, 'answers'],
      [[lost], 'body'],
      [null, 'body'],
      [{ answers: lost }, 'answers'],
      [{ answers: [] }, 'answers'],
      [{ answers: Array.from({ length: maxReports + 1 }, () => lost) }, 'answers'],
      [{ answers: [lost], more: 1 }, 'more'],
      [{ answers: [lost, {}] }, 'id'],
      [{ answers: [lost, { ...lost, id: id.toUpperCase() }] }, 'answers'],
      [{ answers: [lost, { ...lost, id: 1 }] }, 'answers'],
      [{ answers: [lost, { ...lost, read: 'false' }] }, 'answers'],
      [{ answers: [lost, { ...lost, more: 1 }] }, 'more'],
    ] as const) {
      const { status, text } = await own.post(reportPath, body)
      expect(status, `${JSON.stringify(body).slice(0, 200)}: ${text}`).to.equal(400)
      expect(text).to.contain(field)
    }
    expect((await own.post(reportPath, {}, { raw: '{' })).status).to.equal(400)
    for (const bad of ['', 'x', id.toUpperCase(), `${id}, ${id}`]) {
      const { status, text } = await own.post(execute, { ...swap, amount: 0.47 }, { headers: { [answerIdHeader]: bad } })
      expect([status, text.includes(answerIdHeader)], text).to.deep.equal([400, true])
    }
    expect(await swapped(own, 0.46, randomUUID())).not.to.equal(first)
  })
})

/** Bytes that this machine's system has for a connection, and its process has not read. */
async function unreadBytes({ localPort = 0, remotePort = 0 }: net.Socket): Promise<number> {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  const row = new RegExp(`:${hex(localPort)} \\w+:${hex(remotePort)} \\w\\w \\w+:(\\w+) `)
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')))
  return Number.parseInt(row.exec(tables.join('\n'))?.[1] ?? '0', 16)
}
