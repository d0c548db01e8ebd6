import { fileURLToPath } from 'node:url'
import { connectorContract } from '../../../testkit/index.ts'
import { startSite } from './site.ts'

connectorContract({ folder: fileURLToPath(new URL('../../../plugins/hyperliquid', import.meta.url)), site: startSite })
