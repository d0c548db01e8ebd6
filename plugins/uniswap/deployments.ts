// keccak256 of UniswapV2Pair's creation code, npm @uniswap/v2-core 1.0.1; also INIT_CODE_HASH of npm @uniswap/v2-sdk 4.21.4.
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

// V2_FACTORY_ADDRESSES of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
// hyperliquid: deployments/json/999.json of github.com/Uniswap/contracts at 2198765d.
export const v2Deployments = {
  'ethereum/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/sepolia': { factory: '0xF62c03E08ada871A0bEb309762E260a7a6a880E6', initCodeHash },
  'arbitrum/mainnet': { factory: '0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9', initCodeHash },
  'avalanche/mainnet': { factory: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', initCodeHash },
  'base/mainnet': { factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', initCodeHash },
  'binance-smart-chain/mainnet': { factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', initCodeHash },
  'hyperliquid/mainnet': { factory: '0x89e5DB8B5aA49aA85AC63f691524311AEB649eba', initCodeHash },
  'linea/mainnet': { factory: '0x114A43DF6C5f54EBB8A9d70Cd1951D3dD68004c7', initCodeHash },
  'monad/mainnet': { factory: '0x182a927119D56008d921126764bF884221b10f59', initCodeHash },
  'optimism/mainnet': { factory: '0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf', initCodeHash },
  'polygon/mainnet': { factory: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', initCodeHash },
  'robinhood/mainnet': { factory: '0x8bcEaA40B9AcdfAedF85AdF4FF01F5Ad6517937f', initCodeHash },
  'unichain/mainnet': { factory: '0x1F98400000000000000000000000000000000002', initCodeHash },
  'worldchain/mainnet': { factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', initCodeHash },
  'ethereum/local': { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', initCodeHash },
}

// POOL_INIT_CODE_HASH of npm @uniswap/v3-sdk 3.31.5.
const poolInitCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

// CHAIN_TO_ADDRESSES_MAP of npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts. hyperliquid: as of v2, and
// content/protocols/v3/deployments/v3-hyperevm-deployments.mdx of github.com/Uniswap/docs at 5a6645e2.
export const v3Deployments = {
  'ethereum/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'ethereum/sepolia': { factory: '0x0227628f3F023bb0B980b67D528571c95c6DaC1c', initCodeHash: poolInitCodeHash },
  'arbitrum/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'avalanche/mainnet': { factory: '0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD', initCodeHash: poolInitCodeHash },
  'base/mainnet': { factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD', initCodeHash: poolInitCodeHash },
  'binance-smart-chain/mainnet': { factory: '0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7', initCodeHash: poolInitCodeHash },
  'hyperliquid/mainnet': { factory: '0xf0db7b58379503491d857dB50AC9ece64c653918', initCodeHash: poolInitCodeHash },
  'linea/mainnet': { factory: '0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9', initCodeHash: poolInitCodeHash },
  'monad/mainnet': { factory: '0x204FAca1764B154221e35c0d20aBb3c525710498', initCodeHash: poolInitCodeHash },
  'optimism/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'polygon/mainnet': { factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984', initCodeHash: poolInitCodeHash },
  'robinhood/mainnet': { factory: '0x1f7d7550B1b028f7571E69A784071F0205FD2EfA', initCodeHash: poolInitCodeHash },
  'unichain/mainnet': { factory: '0x1F98400000000000000000000000000000000003', initCodeHash: poolInitCodeHash },
  'worldchain/mainnet': { factory: '0x7a5028BDa40e7B173C278C5342087826455ea25a', initCodeHash: poolInitCodeHash },
  'ethereum/local': { factory: '0xCe64C1EA873e4b10d46e26EBbD94A531a15cD41C', initCodeHash: poolInitCodeHash },
}

// v4PoolManagerAddress of CHAIN_TO_ADDRESSES_MAP in npm @uniswap/sdk-core 7.19.4. local: this folder's devnet.ts.
// That of HyperEVM is left out: its Universal Routers are of versions that the others do not have.
export const v4Deployments = {
  'ethereum/mainnet': { poolManager: '0x000000000004444c5dc75cB358380D2e3dE08A90' },
  'ethereum/sepolia': { poolManager: '0xE03A1074c86CFeDd5C142C4F04F1a1536e203543' },
  'arbitrum/mainnet': { poolManager: '0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32' },
  'avalanche/mainnet': { poolManager: '0x06380C0e0912312B5150364B9DC4542BA0DbBc85' },
  'base/mainnet': { poolManager: '0x498581fF718922c3f8e6A244956aF099B2652b2b' },
  'binance-smart-chain/mainnet': { poolManager: '0x28e2Ea090877bF75740558f6BFB36A5ffeE9e9dF' },
  'linea/mainnet': { poolManager: '0x248083Fb965359d82b06C1F5322480Dcfc1AD857' },
  'monad/mainnet': { poolManager: '0x188d586Ddcf52439676Ca21A244753fA19F9Ea8e' },
  'optimism/mainnet': { poolManager: '0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3' },
  'polygon/mainnet': { poolManager: '0x67366782805870060151383F4BbFF9daB53e5cD6' },
  'robinhood/mainnet': { poolManager: '0x8366a39CC670B4001A1121B8F6A443A643e40951' },
  'unichain/mainnet': { poolManager: '0x1F98400000000000000000000000000000000004' },
  'worldchain/mainnet': { poolManager: '0xb1860D529182ac3BC1F51Fa2ABd56662b7D13f33' },
  'ethereum/local': { poolManager: '0x7708983A241aeAD0762825cfab962a1267c9B5ef' },
}
