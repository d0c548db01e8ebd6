// keccak256 of UniswapV2Pair's creation code, npm @uniswap/v2-core 1.0.1; also INIT_CODE_HASH of npm @uniswap/v2-sdk 4.21.4.
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

// mainnet and sepolia: V2_FACTORY_ADDRESSES of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
export const v2Deployments = {
  'ethereum/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/sepolia': { factory: '0xF62c03E08ada871A0bEb309762E260a7a6a880E6', initCodeHash },
  'ethereum/local': { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', initCodeHash },
}
