// keccak256 of UniswapV2Pair's creation code, npm @uniswap/v2-core 1.0.1; also INIT_CODE_HASH of npm @uniswap/v2-sdk 4.21.4.
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

// mainnet and sepolia: V2_FACTORY_ADDRESSES of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
export const v2Deployments = {
  'ethereum/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/sepolia': { factory: '0xF62c03E08ada871A0bEb309762E260a7a6a880E6', initCodeHash },
  'ethereum/local': { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', initCodeHash },
}

// POOL_INIT_CODE_HASH of npm @uniswap/v3-sdk 3.31.5.
const poolInitCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

// mainnet and sepolia: CHAIN_TO_ADDRESSES_MAP of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
export const v3Deployments = {
  'ethereum/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'ethereum/sepolia': { factory: '0x0227628f3F023bb0B980b67D528571c95c6DaC1c', initCodeHash: poolInitCodeHash },
  'ethereum/local': { factory: '0xCe64C1EA873e4b10d46e26EBbD94A531a15cD41C', initCodeHash: poolInitCodeHash },
}
