import { fileURLToPath } from 'node:url'
import { connectorCards } from '../../testkit/connector-contract.ts'
import { devnetConf, startServer } from '../../testkit/server.ts'

const plugin = (name: string) => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))

// Forks of Uniswap v2 and v3, and exchanges of Algebra.
const server = startServer({ conf: devnetConf, settings: { 'log.level': 'warn' } })
after(async () => (await server).stop())
for (const exchange of ['sushiswap', 'pancakeswap', 'quickswap', 'quickswap-v3', 'quickswap-v4', 'camelot-v4', 'traderjoe', 'pangolin'])
  connectorCards({ folder: plugin(exchange) }, server)
