// An exchange of signed actions and a server on it, for all files that try limits of its orders: each has clients of its own.
import type { TestServer } from '../../testkit/server.ts'
import { startServer, venuesReady } from '../../testkit/server.ts'
import { startSite, type Site } from '../plugins/hyperliquid/site.ts'

const all = { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }
const limited = (limits: object) => ({ permissions: ['read', 'trade', 'thin'], wallets: 'all', limits })
const clients = {
  client: all,
  notional: limited({ maxOpenNotional: '1000' }),
  leverage: limited({ maxLeverage: 0.02 }),
  loss: limited({ maxDailyLoss: '20', maxLeverage: 10 }),
  onlyLoss: limited({ maxDailyLoss: '2000000' }),
  fees: limited({ maxDailyLoss: '3' }),
  out: limited({ maxDailyLoss: '8.3', maxLeverage: 10 }),
  bot: { permissions: ['read', 'trade'], wallets: 'all' },
  spot: limited({ maxDailyGas: '10', tokens: { 'hyperliquid/testnet': { USDC: { perDay: '1000' } } } }),
}

export interface SignedExchange {
  readonly site: Site
  readonly server: TestServer
}

let started: SignedExchange | undefined

/** It ends after the last test. Where it does not start, the next file tries again. */
export const signedExchange = async (): Promise<SignedExchange> => (started ??= await start())

after(async () => {
  await started?.server.stop()
  await started?.site.stop()
})

async function start(): Promise<SignedExchange> {
  const site = await startSite()
  const server = await startServer({ ...site.server, conf: { ...site.server.conf, 'clients.yml': { clients } } })
  await venuesReady(server.kernel, site)
  return { site, server }
}
