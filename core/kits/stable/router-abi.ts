import { Interface } from 'ethers'

const terms = '(address tokenIn, address recipient, bool unwrap, uint256 deadline) terms'
const hop = '(address pool, int128 i, int128 j, address tokenOut)'

/** contracts/StableRouter.sol. */
export const routerAbi = new Interface([
  `function sell(${terms}, uint256 amountIn, uint256 leastOut, ${hop}[] hops) payable returns (uint256 amountOut)`,
  `function buy(${terms}, uint256 leastOut, uint256 likelyIn, uint256 mostIn, ${hop}[] hops) payable returns (uint256 amountIn, uint256 amountOut)`,
  'function stableRouter() view returns (uint256)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
])
