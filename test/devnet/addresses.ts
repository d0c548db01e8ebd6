/** Constants for the configuration of plugins on network `local`: they follow from names and the order of deployment. */
export const addresses = {
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  tokens: {
    WETH: { address: '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348', decimals: 18 },
    USDC: { address: '0x009829c5C756656bbD423fF6b5F8D61B722ce18F', decimals: 6 },
    DAI: { address: '0x2459b5a628dBF27fb068B28084288fc5b12D219A', decimals: 18 },
    WBTC: { address: '0xBBC20E04E25e9525d7BBa24bDF68457D8f84D8D8', decimals: 8 },
    USDT: { address: '0xb79285e9C7943A805a2A85F3E2642e55A0F7301A', decimals: 6 },
  },
  exchanges: {
    uniswap: { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', router: '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01' },
    sushiswap: { factory: '0x9df5eDEa5Fb63903baDe271018D44A4239984680', router: '0x016F103Ba6dF278471d2112a7a1776B52314A694' },
  },
  rangeExchanges: {
    uniswap: {
      factory: '0xCe64C1EA873e4b10d46e26EBbD94A531a15cD41C',
      router: '0xf6B3BC42fbF2B22eBF009751A91Dca74A78397D2',
      positionManager: '0xD905B9bc268AFD8eD615CCed5644d6088d1DC7EF',
    },
  },
} as const
