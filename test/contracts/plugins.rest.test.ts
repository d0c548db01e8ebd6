import { fileURLToPath } from 'node:url'
import { connectorCards } from '../../testkit/connector-contract.ts'
import { chainContract, connectorContract } from '../../testkit/index.ts'
import { devnetConf, startServer } from '../../testkit/server.ts'

const plugin = (name: string) => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))

chainContract({ folder: plugin('ethereum'), network: 'local' })
// One server for all: only the cards of oasis close a market for good.
const server = startServer({ conf: devnetConf, settings: { 'log.level': 'warn' } })
after(async () => (await server).stop())
for (const exchange of [
  'uniswap',
  'sushiswap',
  'pancakeswap',
  'quickswap',
  'quickswap-v3',
  'quickswap-v4',
  'camelot-v4',
  'traderjoe',
  'pangolin',
  'balancer',
  'curve',
  'perp',
]) {
  connectorCards({ folder: plugin(exchange) }, server)
}
connectorContract({ folder: plugin('oasis') })
