import { evm } from 'sluice/evm'
import { oasis, oasisEvents, oasisRefusals } from 'sluice/oasis'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'

// By network: base and quote of each market. Both must be in the network's token list.
const weth = '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348'
const dai = '0x2459b5a628dBF27fb068B28084288fc5b12D219A'
export const markets = { 'ethereum/local': [[weth, dai]] } as const

export default defineConnector({
  family: evm,
  manifest: {
    name: 'tidebook',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['CLOB'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: singleRouterSchema,
  },
  create(venue) {
    const CLOB = oasis(venue, { markets })
    return { CLOB, spenders: { market: CLOB.spender }, events: oasisEvents, refusals: oasisRefusals }
  },
})
