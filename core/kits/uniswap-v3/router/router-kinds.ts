import { Interface } from 'ethers'

/** SwapRouter is of @uniswap/v3-periphery@1.4.4, SwapRouter02 of @uniswap/swap-router-contracts@1.3.1. */
export type RouterKind = 'SwapRouter' | 'SwapRouter02'

/** What differs between the routers. */
export interface RouterDialect {
  readonly functions: Interface
  /** Stands for the router itself as a recipient. */
  readonly itself: string
  /** A swap's arguments carry the deadline; else it is said once, around all calls. */
  readonly deadlineInside: boolean
  /** Takes routes that pass constant-product pools too. */
  readonly mixes: boolean
}

const functionsOf = (deadline: string) => [
  `function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)`,
  `function exactInput((bytes path, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)`,
  `function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountIn)`,
  `function exactOutput((bytes path, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)`,
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function refundETH() payable',
  'function factory() view returns (address)',
  'function WETH9() view returns (address)',
]

export const routerKinds: Readonly<Record<RouterKind, RouterDialect>> = {
  SwapRouter: {
    functions: new Interface([...functionsOf('uint256 deadline, '), 'function multicall(bytes[] data) payable returns (bytes[] results)']),
    itself: '0x0000000000000000000000000000000000000000',
    deadlineInside: true,
    mixes: false,
  },
  SwapRouter02: {
    functions: new Interface([
      ...functionsOf(''),
      'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
      'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to) payable returns (uint256 amountOut)',
      'function factoryV2() view returns (address)',
    ]),
    // ADDRESS_THIS of its library Constants.
    itself: '0x0000000000000000000000000000000000000002',
    deadlineInside: false,
    mixes: true,
  },
}
