import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect } from 'chai'
import { Connection } from '../../core/http/connections.ts'
import { ClientLoad } from '../../core/http/fair-queue.ts'

const caller = { id: 'a', fingerprint: 'a', permissions: new Set<'read'>(), wallets: 'all' as const }

describe('the requests of one connection', () => {
  it('begin a few at a time, in their order, and the others once those were answered', async () => {
    const client = new ClientLoad(256)
    const limits = { connectionInFlight: 4, clientInFlight: 256, clientUnsentBytes: 1_000_000 }
    const connection = new Connection(caller, client, limits)
    const [count, begun] = [100, [] as { url: string | undefined; response: ServerResponse }[]]
    let [refused, most, open] = [0, 0, 0]
    const server = createServer(({ url }, response) => {
      const begin = () => {
        open += 1
        most = Math.max(most, open)
        response.prependOnceListener('close', () => (open -= 1))
        begun.push({ url, response })
      }
      try {
        if (connection.takes(response)) begin()
        else connection.wait(response, begin)
      } catch {
        refused += 1
        response.end()
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let said = ''
    socket.on('data', (data: Buffer) => (said += String(data)))
    socket.write(Array.from({ length: count }, (_, each) => `GET /${each} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    for (let answered = 0; answered < count; answered += 1) {
      while (begun.length <= answered) await new Promise((resolve) => setImmediate(resolve))
      begun[answered]?.response.end()
    }
    while (said.split('HTTP/1.1 200').length <= count) await new Promise((resolve) => setImmediate(resolve))
    expect(begun.map(({ url }) => url)).to.deep.equal(Array.from({ length: count }, (_, each) => `/${each}`))
    expect(most).to.be.within(2, 4)
    expect([refused, client.behind]).to.deep.equal([0, 0])
    // What waits is counted for the certificate, and forgotten with the connection.
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(client.maxWaiting + 10))
    while (refused < 6) await new Promise((resolve) => setImmediate(resolve))
    expect(client.behind).to.equal(client.maxWaiting)
    connection.close()
    expect(client.behind).to.equal(0)
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
})
