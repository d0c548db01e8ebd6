// One server and devnet for the files that hold trades against the market of its pools. Each has clients of its own.
import { parseUnits, toQuantity } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import type { HoldingsReader } from '../../core/limits/holdings.ts'
import { openHoldings, openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { callOf, callTogether, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { admins, freshAddress, oneChain, traders } from '../http/shared-server.ts'
import { approveAll } from './direct-approvals.ts'
import { sharedByFiles } from './shared-by-files.ts'

/** Two pools of WETH and USDC have it. By their fees, what moves their prices from 3000 to 2590, and from there to 3390. */
const marketDepth = 650_000
/** Ten minutes are less than half of it, also where the server reads by itself meanwhile. */
export const windowSeconds = 24 * 60
/** Of the market's time, in seconds: so much between two readings counts as a whole. */
const readingSeconds = 60

export interface MarketServer {
  readonly server: TestServer
  readonly rpc: Rpc
  readonly holdings: HoldingsReader
  /** A client of `conf/clients.yml`. */
  as(name: string): Client
  /** Seconds of the market's time, which has seen nothing before. */
  pass(seconds: number): Promise<void>
}

const shared = sharedByFiles<MarketServer>({
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  start,
  end: async (started) => started?.server.stop(),
})
const { clients, opened } = shared
export const marketServer = shared.use

async function start(): Promise<MarketServer> {
  let nowMs = 0
  let holdings: HoldingsReader | undefined
  const server = await startServer(
    {
      settings: {
        ...oneChain.settings,
        'limits.onLocalNetworks': true,
        'limits.marketMinutes': windowSeconds / 60,
        'limits.marketDepth': marketDepth,
        'limits.maxFeePercent': 1,
      },
      conf: { ...oneChain.conf, 'clients.yml': { clients } },
    },
    undefined,
    {
      market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() },
      holdings: { open: (parts) => (holdings = openHoldings(parts, () => nowMs)), stop: (each) => each.stop() },
    },
  )
  if (holdings === undefined) throw new Error('The server has not opened its reader of holdings.')
  const rpc = rpcTo(server.rpcUrl)
  await fund(rpc)
  await approveAll(server, [admins, traders], ['uniswap', 'oasis', 'balancer'])
  const names = Object.keys(clients).slice(1)
  await newClients(server.certsDir, names)
  for (const name of names) opened.set(name, createClient(server.url, server.certsDir, name))
  return {
    server,
    rpc,
    holdings,
    as: (name) => opened.get(name) ?? server.client,
    async pass(seconds) {
      for (let left = seconds; left > 0; left -= readingSeconds) {
        nowMs += Math.min(left, readingSeconds) * 1000
        await server.kernel.services.market.read()
      }
    },
  }
}

/** Who pushes prices has as much as it likes. */
async function fund(rpc: Rpc): Promise<void> {
  const { WETH, USDC, USDT } = addresses.tokens
  const minter = freshAddress()
  await takeAccount(rpc, minter, parseUnits('1000000', 18))
  await rpc('anvil_setBalance', admins, toQuantity(parseUnits('1000000', 18)))
  await callTogether(
    rpc,
    minter,
    [minter],
    [
      callOf(WETH.address, 'deposit()', [], parseUnits('300000', 18)),
      callOf(WETH.address, 'transfer(address,uint256)', [admins, parseUnits('300000', 18)]),
      ...[USDC, USDT].map(({ address }) => callOf(address, 'mint(address,uint256)', [admins, parseUnits('1000000000', 6)])),
      callOf(USDT.address, 'mint(address,uint256)', [traders, parseUnits('10000000', 6)]),
    ],
  )
}
