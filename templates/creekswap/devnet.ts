import { defineDevnet } from 'sluice/devnet'
import { programQuoter } from 'sluice/solana-pools'
import { constantProduct } from './pools.ts'

const program = '3o5sXnqjQpGtwcHJxVDYsaw44VybrwJgNtufVpz2jBPx'

// What quotes are compared with: the program itself, on solana/local.
export default defineDevnet({
  name: 'creekswap',
  clusterQuoter: (site) => programQuoter(site, constantProduct(program, [])),
})
