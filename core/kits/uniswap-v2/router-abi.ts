import { Interface } from 'ethers'

/**
 * The router's functions. Forks on chains with another coin call theirs after it: `swapExactAVAXForTokens`, `WAVAX`.
 * @param coin as it stands in the names of the router's functions
 */
export function routerAbi(coin: string) {
  const rest = 'address[] path, address to, uint256 deadline'
  const tokens = 'returns (uint256[] amounts)'
  return {
    coin,
    functions: new Interface([
      `function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, ${rest}) ${tokens}`,
      `function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, ${rest}) ${tokens}`,
      `function swapExact${coin}ForTokens(uint256 amountOutMin, ${rest}) payable ${tokens}`,
      `function swapTokensForExact${coin}(uint256 amountOut, uint256 amountInMax, ${rest}) ${tokens}`,
      `function swapExactTokensFor${coin}(uint256 amountIn, uint256 amountOutMin, ${rest}) ${tokens}`,
      `function swap${coin}ForExactTokens(uint256 amountOut, ${rest}) payable ${tokens}`,
      'function factory() view returns (address)',
      `function W${coin}() view returns (address)`,
    ]),
  }
}

export type RouterAbi = ReturnType<typeof routerAbi>
