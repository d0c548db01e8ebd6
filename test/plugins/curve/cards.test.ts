import { fileURLToPath } from 'node:url'
import { connectorContract } from '../../../core/testing/index.ts'

connectorContract({ folder: fileURLToPath(new URL('../../../plugins/curve', import.meta.url)) })
