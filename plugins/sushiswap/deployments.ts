// SUSHISWAP_V2_INIT_CODE_HASH of npm sushi 7.3.15.
const initCodeHash = '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303'

// mainnet and sepolia: SUSHISWAP_V2_FACTORY_ADDRESS of npm sushi 7.3.15. local: this folder's devnet.ts, which deploys
// pairs of npm @uniswap/v2-core 1.0.1, so their hash is another one.
export const deployments = {
  'ethereum/mainnet': { factory: '0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac', initCodeHash },
  'ethereum/sepolia': { factory: '0x734583f62Bb6ACe3c9bA9bd5A53143CA2Ce8C55A', initCodeHash },
  'ethereum/local': {
    factory: '0x9df5eDEa5Fb63903baDe271018D44A4239984680',
    initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  },
}
