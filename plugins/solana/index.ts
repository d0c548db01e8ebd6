import { solanaChainPlugin } from 'sluice/solana'
import { networks } from './networks.ts'

export default solanaChainPlugin({ name: 'solana', apiVersion: '1.0', networks })
