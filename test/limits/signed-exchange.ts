// An exchange of signed actions and a server on it, for all files that try limits of its orders: each has clients of its own.
import type { TestServer } from '../../testkit/server.ts'
import { startServer, venuesReady } from '../../testkit/server.ts'
import { startSite, type Site } from '../plugins/hyperliquid/site.ts'

const all = { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume'], wallets: 'all' }
const limited = (limits: object) => ({ permissions: ['read', 'trade', 'thin'], wallets: 'all', limits })
/** Nothing may be touched, given, lost or traded. */
const tightest = {
  allowed: { connectors: [], networks: [], tokens: [], pools: [], recipients: [], actions: [], hours: ['00:00-00:00'] },
  maxSlippage: 0.0001,
  maxDailyLoss: '0',
  maxDailyGas: '1',
  maxOpenNotional: '0',
  maxLeverage: 0.01,
  transactionsPerHour: 0,
  tokens: {},
  value: { perDay: '0' },
  approveAbove: '0',
}
const clients = {
  client: all,
  notional: limited({ maxOpenNotional: '1000' }),
  leverage: limited({ maxLeverage: 0.02 }),
  loss: limited({ maxDailyLoss: '20', maxLeverage: 10 }),
  onlyLoss: limited({ maxDailyLoss: '2000000' }),
  fees: limited({ maxDailyLoss: '3' }),
  out: limited({ maxDailyLoss: '8.3', maxLeverage: 10 }),
  bot: { permissions: ['read', 'trade'], wallets: 'all' },
  tightest: limited(tightest),
  spot: limited({ maxDailyGas: '10', tokens: { 'hyperliquid/testnet': { USDC: { perDay: '1000' } } } }),
}

export interface SignedExchange {
  readonly site: Site
  readonly server: TestServer
}

let started: SignedExchange | undefined

let users = 0

/** Called in a `describe`: it ends after the last of them. @returns what starts it, where it has not started yet */
export function signedExchange(): () => Promise<SignedExchange> {
  users += 1
  after(async () => {
    users -= 1
    if (users === 0) await stop()
  })
  return async () => (started ??= await start())
}

// Also where some of them have no test that is played.
after(stop)

async function stop(): Promise<void> {
  await started?.server.stop()
  await started?.site.stop()
  started = undefined
}

async function start(): Promise<SignedExchange> {
  const site = await startSite()
  const server = await startServer({ ...site.server, conf: { ...site.server.conf, 'clients.yml': { clients } } })
  await venuesReady(server.kernel, site)
  return { site, server }
}
