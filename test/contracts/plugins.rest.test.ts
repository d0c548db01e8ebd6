import { fileURLToPath } from 'node:url'
import { connectorCards } from '../../testkit/connector-contract.ts'
import { chainContract } from '../../testkit/index.ts'
import { devnetConf, startServer } from '../../testkit/server.ts'

const plugin = (name: string) => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))

chainContract({ folder: plugin('ethereum'), network: 'local' })
const server = startServer({ conf: devnetConf, settings: { 'log.level': 'warn' } })
after(async () => (await server).stop())
for (const exchange of ['uniswap', 'balancer', 'curve']) connectorCards({ folder: plugin(exchange) }, server)
