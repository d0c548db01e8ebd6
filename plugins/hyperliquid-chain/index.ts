import { evmChainPlugin } from 'sluice/evm'
import { networks } from './networks.ts'
import list from './tokens.json' with { type: 'json' }

export default evmChainPlugin({ name: 'hyperliquid', apiVersion: '1.0', networks, list })

export { networks }
