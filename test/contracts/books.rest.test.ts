import { fileURLToPath } from 'node:url'
import { connectorContract } from '../../testkit/index.ts'

const plugin = (name: string) => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))

// Each with a server of its own: the last cards of oasis close a market for good.
for (const exchange of ['oasis', 'perp']) connectorContract({ folder: plugin(exchange) })
