import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { oneChain, traders } from '../../http/shared-server.ts'
import { Bot } from './bot.ts'

/** A certificate for each way of being listed. What one sets for itself others do not see, so each test that sets has its own. */
const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
  setter: { permissions: ['read', 'trade'], wallets: 'all' },
  tuner: { permissions: ['read', 'trade'], wallets: 'all' },
  reader: { permissions: ['read'], wallets: 'all' },
  swapper: { permissions: ['trade'], wallets: [traders] },
  administrator: { permissions: ['admin'], wallets: [traders] },
  bounded: {
    permissions: ['read', 'trade'],
    wallets: [traders],
    limits: { maxDailyGas: '1', maxFee: '0.1', tokens: { 'ethereum/local': { WETH: { perTransaction: '0.1' } } } },
  },
  lister: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
  fuzzer: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
  idle: { permissions: [], wallets: 'all' },
}
export type ClientName = keyof typeof listed

export interface SharedServer extends TestServer {
  readonly bots: Readonly<Record<ClientName, Bot>>
  readonly https: Readonly<Record<ClientName, Client>>
}

let started: SharedServer | undefined

/** One server with the interface, for all tests of this folder that need no other; it ends after the last test. Where it does not start, the next file tries again. */
export const sharedServer = async (): Promise<SharedServer> => (started ??= await start())

after(async () => {
  for (const client of Object.values(started?.https ?? {})) client.close()
  await started?.stop()
})

async function start(): Promise<SharedServer> {
  const server = await startServer({
    ...oneChain,
    conf: { ...oneChain.conf, 'clients.yml': { clients: listed }, 'interfaces/hummingbot.yml': { port: 0 } },
  })
  const url = server.kernel.interfaceUrls['hummingbot'] ?? ''
  const names = Object.keys(listed) as ClientName[]
  for (const name of names) if (name !== 'client') await newClient(server.certsDir, name)
  const https = Object.fromEntries(names.map((name) => [name, createClient(url, server.certsDir, name === 'client' ? undefined : name)]))
  const bots = Object.fromEntries(Object.entries(https).map(([name, client]) => [name, new Bot(client)]))
  return Object.assign(server, { https: https as SharedServer['https'], bots: bots as SharedServer['bots'] })
}
