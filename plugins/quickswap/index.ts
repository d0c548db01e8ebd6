import { sharesConnector } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

// FACTORY_ADDRESS and INIT_CODE_HASH of npm quickswap-sdk 3.0.43. The hash is that of npm @uniswap/v2-core 1.0.1: the pairs
// are Uniswap's to the letter, so this folder's devnet.ts has the exchange's own.
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

export const deployments = {
  'polygon/mainnet': { factory: '0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32', initCodeHash },
  'ethereum/local': { factory: '0xddD4898c288849C4c401E7b12dC454C68ea32b00', initCodeHash },
}

export default sharesConnector({ name: 'quickswap', apiVersion: '1.0', deployments }, (venue) =>
  uniswapV2(venue, { fee: [3n, 1000n], deployments }),
)
