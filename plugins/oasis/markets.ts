// Base and quote. ethereum: pairs of tokens that the exchange was used for, as in the `pairs` of Oasis Trade; the contract takes any two.
// Their addresses are those of the network's token list. local: addresses follow from how the devnet deploys its tokens.
const weth = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
const dai = '0x6B175474E89094C44Da98b954EedeAC495271d0F'
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const wbtc = '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'
const mkr = '0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2'

const local = {
  weth: '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348',
  usdc: '0x009829c5C756656bbD423fF6b5F8D61B722ce18F',
  dai: '0x2459b5a628dBF27fb068B28084288fc5b12D219A',
  wbtc: '0xBBC20E04E25e9525d7BBa24bDF68457D8f84D8D8',
}

export const markets: Readonly<Record<string, readonly (readonly [base: string, quote: string])[]>> = {
  'ethereum/mainnet': [
    [weth, dai],
    [weth, usdc],
    [wbtc, dai],
    [wbtc, usdc],
    [mkr, dai],
    [mkr, weth],
    [dai, usdc],
  ],
  'ethereum/local': [
    [local.weth, local.dai],
    [local.weth, local.usdc],
    [local.wbtc, local.usdc],
  ],
}
