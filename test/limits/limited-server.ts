// One server and devnet for files that try limits of clients. Each file has clients of its own: what one has spent is not spent by another.
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { listedSpender, local, mined, oneChain, outcome, traders } from '../http/shared-server.ts'

export interface LimitedServer {
  readonly server: TestServer
  readonly rpc: Rpc
  /** A client of `conf/clients.yml`. */
  as(name: string): Client
  /** Minutes of the market's time: it knows no price before. */
  pass(minutes: number): Promise<void>
}

const clients: Record<string, object> = { client: { permissions: ['read', 'trade', 'thin', 'send', 'admin'], wallets: 'all' } }
const opened = new Map<string, Client>()
let started: LimitedServer | undefined

let users = 0

/**
 * Called in a `describe`, so that the server has the clients of all files, and ends after the last of them.
 * @returns what starts it, where it has not started yet
 */
export function limitedServer(own: Readonly<Record<string, object>>): () => Promise<LimitedServer> {
  users += 1
  after(async () => {
    users -= 1
    if (users === 0) await stop()
  })
  for (const [name, client] of Object.entries(own)) {
    if (name in clients) throw new Error(`Another file has the client "${name}".`)
    clients[name] = client
  }
  return async () => (started ??= await start())
}

// Also where some of them have no test that is played.
after(stop)

async function stop(): Promise<void> {
  for (const client of opened.values()) client.close()
  await started?.server.stop()
  started = undefined
}

async function start(): Promise<LimitedServer> {
  let nowMs = 0
  const server = await startServer(
    {
      settings: { ...oneChain.settings, 'limits.onLocalNetworks': true, 'wallet.allowedSpenders': [listedSpender] },
      conf: { ...oneChain.conf, 'clients.yml': { clients } },
    },
    undefined,
    false,
    { market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() } },
  )
  const names = Object.keys(clients).slice(1)
  await newClients(server.certsDir, names)
  for (const name of names) {
    opened.set(name, createClient(server.url, server.certsDir, name))
  }
  let last = ''
  for (const spender of ['uniswap', 'uniswap/positions', 'uniswap/v2', 'sushiswap', 'oasis', 'perp'])
    for (const token of spender === 'perp' ? ['USDC'] : ['WETH', 'USDC', 'DAI']) {
      const approved = await server.client.post('/evm/approve', { ...local, address: traders, spender, token })
      expect(outcome(approved), approved.text).to.equal('200')
      last = approved.body.txHash
    }
  await mined(server.client, last)
  return {
    server,
    rpc: rpcTo(server.rpcUrl),
    as: (name) => opened.get(name) ?? server.client,
    async pass(minutes) {
      for (let minute = 0; minute < minutes; minute += 1) {
        nowMs += 60_000
        await server.kernel.services.market.read()
      }
    },
  }
}
