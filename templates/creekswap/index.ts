import { addressesSchema, defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import { accountsAMM, programRefusals } from 'sluice/solana-pools'
import { pools } from './deployments.ts'
import { constantProduct } from './pools.ts'

export default defineConnector({
  family: solana,
  manifest: {
    name: 'creekswap',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'solana', networks: ['local'] }],
    schema: addressesSchema('programAddress'),
  },
  create({ contracts, network, reader }) {
    const { programAddress = '' } = contracts
    const protocol = constantProduct(programAddress, pools[network] ?? [])
    return { AMM: accountsAMM(reader, { protocols: [protocol] }), refusals: programRefusals(programAddress, refusals) }
  },
})

/** What the program refuses a trade by: the numbers of its errors. */
const refusals = {
  6005: 'the price has moved past the limit',
  6006: 'the amount is more than the pool can trade',
  6007: 'the amount is too small to be traded',
}
