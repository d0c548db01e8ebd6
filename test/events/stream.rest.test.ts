import { expect } from 'chai'
import type { IncomingMessage } from 'node:http'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { follow, type Door } from './client.ts'
import { outcome } from '../http/shared-server.ts'

/** What was told until the stream ended, and how it ended. */
async function readToEnd(response: IncomingMessage): Promise<{ text: string; complete: boolean }> {
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => {})
  await new Promise((resolve) => response.once('close', resolve))
  return { text, complete: response.complete }
}

describe('a stream of events', () => {
  let server: TestServer
  const door = (name = 'client'): Door => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name })
  const clients: Client[] = []
  const ask = (name = 'client'): Promise<IncomingMessage> => {
    const client = createClient(server.kernel.url, server.settings.ssl.certsDir, name)
    clients.push(client)
    return client.open('/events')
  }
  const told = (response: IncomingMessage) => new Promise<string>((resolve) => response.once('data', (chunk) => resolve(String(chunk))))
  before(async () => {
    server = await startServer({ settings: { 'limits.inFlight': 2, 'server.requestTimeoutSeconds': 4 } })
  })
  after(async () => {
    for (const client of clients) client.close()
    await server?.stop()
  })

  it('does not count as a request in flight, and outlives the request deadline', async () => {
    const followers = await Promise.all([1, 2, 3, 4].map(() => follow(door(), { topics: 'blocks', network: 'local' })))
    expect(outcome(await server.client.get('/'))).to.equal('200')
    await new Promise((resolve) => setTimeout(resolve, 4_300))
    // The node itself is asked: a request to the server has four seconds only.
    const number = Number(await rpcTo(server.rpcUrl)('eth_blockNumber'))
    for (const follower of followers) {
      await follower.hears('a later block', ({ data }) => data.number >= number)
      expect(follower.opened).to.equal(1)
      await follower.close()
    }
  })

  it('ends when its certificate is revoked', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'leaver')
    const response = await ask('leaver')
    await told(response)
    const ended = readToEnd(response)
    await revoke(certsDir, 'leaver')
    expect((await ended).complete).to.equal(false)
    expect((await ask()).statusCode).to.equal(200)
  })

  it('does not open beyond the maximum of its certificate; another certificate still has room', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'greedy')
    const greedy = createClient(server.kernel.url, certsDir, 'greedy')
    const open: IncomingMessage[] = []
    try {
      for (let i = 0; i < 100; i++) {
        const response = await ask('greedy')
        open.push(response)
        if (response.statusCode !== 200) break
      }
      expect(open.length).to.equal(65)
      const refused = await greedy.get('/events')
      expect(outcome(refused)).to.equal('503 OVERLOADED')
      expect(Number(refused.headers['retry-after'])).to.be.at.least(1)
      const other = await ask()
      expect(other.statusCode).to.equal(200)
      other.destroy()
    } finally {
      for (const response of open) response.destroy()
      greedy.close()
    }
    for (let tries = 0; tries < 1_000; tries++) {
      const response = await ask('greedy')
      response.destroy()
      if (response.statusCode === 200) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('The places of closed streams were not given back.')
  })

  it('ends when the server stops, even if its client reads nothing', async () => {
    const [reading, silent] = await Promise.all([ask(), ask()])
    await told(reading)
    silent.pause()
    const ended = readToEnd(reading)
    await server.stop()
    expect((await ended).complete).to.equal(true)
    silent.destroy()
  })
})
