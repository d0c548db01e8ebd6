// An exchange on solana/local, whose program (tools/solana-node/programs/pool.c) swaps in pools of a constant product.
import { addressesSchema, defineConnector } from 'sluice/plugin'
import { solana } from 'sluice/solana'
import { accountsAMM, programRefusals } from 'sluice/solana-pools'
import { constantProduct } from './pool.ts'

/** The accounts of the program's pools, by network: solana/local starts with these. The last one has a token that the program cannot move. */
const pools: Readonly<Record<string, readonly string[]>> = {
  local: [
    '4CjDFQvKQuG8shQDVweGED8gfnRToFMViqGiwxtxP9LM',
    '68HaQ5GwBpW1WKvjuaGMQyig33nCMDVVdvFPxszv7Nmd',
    'DEuG5yhVxoHUs9NpE6deHVXFQw1Xt1XyskusEMmAadGH',
  ],
}

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
    const protocol = constantProduct(program, pools[network] ?? [])
    return { AMM: accountsAMM(reader, { protocols: [protocol] }), refusals: programRefusals(program, refusals) }
  },
})

/** What the program refuses by: the order of tools/solana-node/programs/pool.c, of those that a trade may meet. */
const refusals = {
  6005: 'the price has moved past the limit',
  6006: 'the amount is more than the pool can trade',
  6007: 'the amount is too small to be traded',
}
