// One server and devnet for the files of this folder, which are played one after the other: no server waits meanwhile for the next of them. Each
// has clients of its own: what one has spent is not spent by another.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rpcTo, type Rpc } from '../../../core/devnet/anvil.ts'
import { openMarket } from '../../../core/parts/trading.ts'
import { newClients } from '../../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, atNode, listedSpender, mined, oneChain, others, traders } from '../../http/shared-server.ts'
import { approveAll } from '../direct-approvals.ts'
import { sharedByFiles } from '../shared-by-files.ts'

export interface LimitedServer {
  readonly server: TestServer
  readonly rpc: Rpc
  /** A client of `conf/clients.yml`. */
  as(name: string): Client
  /** Until a transaction is in a block, which is made for it: after `withoutBlocks` none comes with a transaction, and the next within a second. */
  mined(txHash: string): Promise<Answer>
  /** Minutes of the market's time: it knows no price before. */
  pass(minutes: number): Promise<void>
}

let home: string | undefined
const shared = sharedByFiles<LimitedServer>({
  client: { permissions: ['read', 'trade', 'thin', 'send', 'admin'], wallets: 'all' },
  start,
  async end(started) {
    await started?.server.stop()
    if (home !== undefined) await rm(home, { recursive: true, force: true })
    home = undefined
  },
})
const { clients, opened } = shared
export const limitedServer = shared.use

/** The server ends, and another begins with what it has stored: on a devnet that has nothing of before. */
export async function restarted(): Promise<LimitedServer> {
  const kept = home
  home = undefined
  await shared.stop()
  home = kept
  return shared.started()
}

async function start(): Promise<LimitedServer> {
  let nowMs = 0
  home ??= await mkdtemp(path.join(tmpdir(), 'sluice-limited-'))
  const server = await startServer(
    {
      settings: {
        ...oneChain.settings,
        'limits.onLocalNetworks': true,
        'limits.minDailyLoss': 100,
        'wallet.allowedSpenders': [listedSpender],
      },
      conf: { ...oneChain.conf, 'clients.yml': { clients } },
    },
    home,
    { market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() } },
  )
  const names = Object.keys(clients).slice(1)
  if (!existsSync(path.join(server.certsDir, `${names[0]}_cert.pem`))) await newClients(server.certsDir, names)
  for (const name of names) {
    opened.set(name, createClient(server.url, server.certsDir, name))
  }
  await approveAll(server, [admins, traders, others], ['uniswap', 'sushiswap', 'oasis', 'perp'])
  const rpc = rpcTo(server.rpcUrl)
  return {
    server,
    rpc,
    as: (name) => opened.get(name) ?? server.client,
    async mined(txHash) {
      await atNode(rpc, txHash)
      await rpc('anvil_mine', '0x1')
      return mined(server.client, txHash)
    },
    async pass(minutes) {
      for (let minute = 0; minute < minutes; minute += 1) {
        nowMs += 60_000
        await server.kernel.services.market.read()
      }
    },
  }
}
