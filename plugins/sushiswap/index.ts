import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'

// SUSHISWAP_V2_INIT_CODE_HASH and SUSHISWAP_V2_FACTORY_ADDRESS of npm sushi 7.3.15.
const initCodeHash = '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303'

export const v2Deployments = {
  'ethereum/mainnet': { factory: '0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac', initCodeHash },
  'ethereum/sepolia': { factory: '0x734583f62Bb6ACe3c9bA9bd5A53143CA2Ce8C55A', initCodeHash },
  'arbitrum/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash },
  'avalanche/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash },
  'base/mainnet': { factory: '0x71524B4f93c58fcbF659783284E38825f0622859', initCodeHash },
  'binance-smart-chain/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash },
  'gnosis/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash },
  'linea/mainnet': { factory: '0xFbc12984689e5f15626Bad03Ad60160Fe98B303C', initCodeHash },
  'optimism/mainnet': { factory: '0xFbc12984689e5f15626Bad03Ad60160Fe98B303C', initCodeHash },
  'polygon/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash },
  // This folder's devnet.ts, which deploys pairs of npm @uniswap/v2-core 1.0.1, so their hash is another one.
  'ethereum/local': {
    factory: '0x9df5eDEa5Fb63903baDe271018D44A4239984680',
    initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  },
}

// SUSHISWAP_V3_INIT_CODE_HASH and SUSHISWAP_V3_FACTORY_ADDRESS of npm sushi 7.3.15. The hash is that of npm @uniswap/v3-core
// 1.0.1: the pools are Uniswap's to the letter, so this folder's devnet.ts has the exchange's own.
const poolInitCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

export const v3Deployments = {
  'ethereum/mainnet': { factory: '0xbACEB8eC6b9355Dfc0269C18bac9d6E2Bdc29C4F', initCodeHash: poolInitCodeHash },
  'ethereum/sepolia': { factory: '0x1f2FCf1d036b375b384012e61D3AA33F8C256bbE', initCodeHash: poolInitCodeHash },
  'arbitrum/mainnet': { factory: '0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e', initCodeHash: poolInitCodeHash },
  'avalanche/mainnet': { factory: '0x3e603C14aF37EBdaD31709C4f848Fc6aD5BEc715', initCodeHash: poolInitCodeHash },
  'base/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash: poolInitCodeHash },
  'binance-smart-chain/mainnet': { factory: '0x126555dd55a39328F69400d6aE4F782Bd4C34ABb', initCodeHash: poolInitCodeHash },
  'gnosis/mainnet': { factory: '0xf78031CBCA409F2FB6876BDFDBc1b2df24cF9bEf', initCodeHash: poolInitCodeHash },
  'linea/mainnet': { factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4', initCodeHash: poolInitCodeHash },
  'optimism/mainnet': { factory: '0x9c6522117e2ed1fE5bdb72bb0eD5E3f2bdE7DBe0', initCodeHash: poolInitCodeHash },
  'polygon/mainnet': { factory: '0x917933899c6a5F8E37F31E19f92CdBFF7e8FF0e2', initCodeHash: poolInitCodeHash },
  'ethereum/local': { factory: '0xa0f51D209d24Bd46B1cfA0888B453D2287849444', initCodeHash: poolInitCodeHash },
}

export default defineConnector({
  family: evm,
  manifest: {
    name: 'sushiswap',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_RANGE', 'AMM_SHARES'],
    available_networks: networksIn(v2Deployments),
    schema: versionedSchema({ v2: ['v2RouterAddress'], v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    const v2 = uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments })
    const v3 = uniswapV3(venue, { deployments: v3Deployments, router: 'SwapRouter' })
    const AMM = poolAMM(venue, v2, v3)
    const spenders = { ...AMM.spenders, positions: v3.range.positionManager }
    return { AMM, AMM_RANGE: v3.range, AMM_SHARES: v2.shares, spenders, events: v3Events }
  },
})
