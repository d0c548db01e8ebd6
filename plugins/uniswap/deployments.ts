// keccak256 of UniswapV2Pair's creation code, npm @uniswap/v2-core 1.0.1; also INIT_CODE_HASH of npm @uniswap/v2-sdk 4.21.4.
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

// V2_FACTORY_ADDRESSES of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
export const v2Deployments = {
  'ethereum/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/sepolia': { factory: '0xF62c03E08ada871A0bEb309762E260a7a6a880E6', initCodeHash },
  'arbitrum/mainnet': { factory: '0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9', initCodeHash },
  'avalanche/mainnet': { factory: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', initCodeHash },
  'base/mainnet': { factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', initCodeHash },
  'binance-smart-chain/mainnet': { factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', initCodeHash },
  'linea/mainnet': { factory: '0x114A43DF6C5f54EBB8A9d70Cd1951D3dD68004c7', initCodeHash },
  'monad/mainnet': { factory: '0x182a927119D56008d921126764bF884221b10f59', initCodeHash },
  'optimism/mainnet': { factory: '0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf', initCodeHash },
  'polygon/mainnet': { factory: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', initCodeHash },
  'unichain/mainnet': { factory: '0x1F98400000000000000000000000000000000002', initCodeHash },
  'worldchain/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/local': { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', initCodeHash },
}

// POOL_INIT_CODE_HASH of npm @uniswap/v3-sdk 3.31.5.
const poolInitCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

// CHAIN_TO_ADDRESSES_MAP of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
export const v3Deployments = {
  'ethereum/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'ethereum/sepolia': { factory: '0x0227628f3F023bb0B980b67D528571c95c6DaC1c', initCodeHash: poolInitCodeHash },
  'arbitrum/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'avalanche/mainnet': { factory: '0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD', initCodeHash: poolInitCodeHash },
  'base/mainnet': { factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD', initCodeHash: poolInitCodeHash },
  'binance-smart-chain/mainnet': { factory: '0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7', initCodeHash: poolInitCodeHash },
  'linea/mainnet': { factory: '0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9', initCodeHash: poolInitCodeHash },
  'monad/mainnet': { factory: '0x204FAca1764B154221e35c0d20aBb3c525710498', initCodeHash: poolInitCodeHash },
  'optimism/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'polygon/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'unichain/mainnet': { factory: '0x1F98400000000000000000000000000000000003', initCodeHash: poolInitCodeHash },
  'worldchain/mainnet': { factory: '0x7a5028BDa40e7B173C278C5342087826455ea25a', initCodeHash: poolInitCodeHash },
  'ethereum/local': { factory: '0xCe64C1EA873e4b10d46e26EBbD94A531a15cD41C', initCodeHash: poolInitCodeHash },
}
