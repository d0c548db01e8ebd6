import { fileURLToPath } from 'node:url'
import { chainContract, connectorContract } from '../../testkit/index.ts'

const plugin = (name: string) => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))

chainContract({ folder: plugin('ethereum'), network: 'local' })
for (const exchange of [
  'uniswap',
  'sushiswap',
  'pancakeswap',
  'quickswap',
  'traderjoe',
  'pangolin',
  'balancer',
  'curve',
  'perp',
  'oasis',
]) {
  connectorContract({ folder: plugin(exchange) })
}
