// The simulated exchange, with a node of its chain, for a server in another process.
import type { ServerOptions } from '../../../testkit/server.ts'
import { startSite } from '../../../test/plugins/hyperliquid/site.ts'
import { serve } from '../child.ts'

const site = await startSite({ morePerpetuals: 200 })
const { exchange, wallets } = site
let requests = new Map<string, number>()
exchange.faults.add(
  () => {},
  // Counted, and none is held up.
  ({ type }) => {
    requests.set(type, (requests.get(type) ?? 0) + 1)
    return false
  },
)

export type HyperliquidProcess = typeof handlers
const handlers = serve(
  {
    where: () => ({ apiUrl: exchange.apiUrl, testnet: exchange.testnet, wallets: [...wallets] }),
    /** How a server is started there; with another websocket books come from that, and are not compared with the exchange's own. */
    server(wsUrl?: string): ServerOptions {
      const { settings, conf } = site.server
      const urls = { apiUrl: exchange.apiUrl, wsUrl: wsUrl ?? exchange.wsUrl }
      const connector = { ...Object(conf?.['connectors/hyperliquid.yml']), networks: { mainnet: urls, testnet: urls } }
      return {
        ...site.server,
        settings: { ...settings, 'market.checkSeconds': 3600 },
        conf: { ...conf, 'connectors/hyperliquid.yml': connector },
      }
    },
    credit: (addresses: readonly string[]) => addresses.forEach((address) => exchange.credit(address, 'USDC', '1000000000')),
    /** Takes away all orders of a market, so that no round finds those of another. */
    clear: (coin: string) => exchange.clear(coin),
    /** What was asked or done since it was asked for last, by type. */
    takeRequests() {
      const taken = requests
      requests = new Map()
      return taken
    },
  },
  () => site.stop(),
)
