// What the contracts emit: StableSwapSUSD.vy and its successors in https://github.com/curvefi/curve-contract, contracts/pools,
// and contracts/StableRouter.sol.
export const stableEvents = [
  'event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
] as const
