import path from 'node:path'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { oneChain } from './shared-server.ts'

const fixtures = path.join(import.meta.dirname, '..', 'fixtures', 'plugins')
const folders = ['interfaces', 'hostile-interfaces', 'once-interfaces'].map((name) => path.join(fixtures, name))
const pairPrices = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

const clients = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  reader: { permissions: ['read'], wallets: [] },
}

export interface ContainedServer extends TestServer {
  /** A client of an interface, the same one each time. */
  to(name: string, certificate?: string): Client
}

let started: Promise<ContainedServer> | undefined

/** One server with interfaces of third parties, each in a process of its own; it ends after the last test. */
export const containedServer = (): Promise<ContainedServer> => (started ??= start())

const opened = new Map<string, Client>()

after(async () => {
  for (const client of opened.values()) client.close()
  await (await started?.catch(() => undefined))?.stop()
})

async function start(): Promise<ContainedServer> {
  const server = await startServer({
    plugins: [...folders, pairPrices],
    // Networks outside would make it no sandbox, and these plugins part of the server.
    settings: { ...oneChain.settings, 'server.requestTimeoutSeconds': 5, 'limits.pluginStallSeconds': 2 },
    conf: {
      'clients.yml': { clients },
      'interfaces/pair-prices.yml': { port: 0 },
      'interfaces/hostile.yml': { port: 0 },
      'interfaces/once-desk.yml': { port: 0 },
      'interfaces/unruly.yml': { showErrors: true },
    },
  })
  await newClient(server.certsDir, 'reader')
  const to = (name: string, certificate = 'client'): Client => {
    const url = server.kernel.interfaceUrls[name]
    if (url === undefined) throw new Error(`${name} does not listen`)
    const key = `${name} ${certificate}`
    const client = opened.get(key) ?? createClient(url, server.certsDir, certificate)
    opened.set(key, client)
    return client
  }
  return Object.assign(server, { to })
}
