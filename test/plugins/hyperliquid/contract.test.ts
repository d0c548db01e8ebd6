import { fileURLToPath } from 'node:url'
import { connectorContract } from '../../../core/testing/index.ts'
import { startSite } from './site.ts'

connectorContract({ folder: fileURLToPath(new URL('../../../plugins/hyperliquid', import.meta.url)), site: startSite })
