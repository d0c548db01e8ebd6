import { sharesConnector } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

// By chain and network: the factory, and the keccak256 of the pairs' creation code. Both differ between networks.
const deployments = {
  'ethereum/local': {
    factory: '0x8f375dbE64A734Bf007388fADf2365cDFD368633',
    initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  },
}

// A pool keeps three thousandths of the input.
export default sharesConnector({ name: 'rillswap', apiVersion: '1.0', version: '0.1.0', deployments }, (venue) =>
  uniswapV2(venue, { fee: [3n, 1000n], deployments }),
)
