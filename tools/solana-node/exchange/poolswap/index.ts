import { addressesSchema, defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import { poolRefusals } from './pool-refusals.ts'
import { poolSwap } from './pool-swap.ts'
import { pools } from './pools.ts'

export default defineConnector({
  family: solana,
  manifest: {
    name: 'poolswap',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'solana', networks: ['local'] }],
    schema: addressesSchema('programAddress'),
  },
  create({ contracts, network, reader }) {
    const { programAddress: program = '' } = contracts
    const { AMM, start } = poolSwap({ program, pools: pools[network] ?? [], reader })
    return { AMM, start, refusals: poolRefusals(program) }
  },
})
