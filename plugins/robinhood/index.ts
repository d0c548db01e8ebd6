import { evmChainPlugin } from 'sluice/evm'
import { networks } from './networks.ts'
import list from './tokens.json' with { type: 'json' }

export default evmChainPlugin({ name: 'robinhood', apiVersion: '1.0', networks, list })
