import { Interface } from 'ethers'

// IVault of npm @balancer-labs/v2-deployments 3.2.0 (tasks/20210418-vault/abi/Vault.json).
const swapEvent =
  'event Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)'

/** What the Vault emits. */
export const weightedEvents = [
  swapEvent,
  'event PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts)',
  'event InternalBalanceChanged(address indexed user, address indexed token, int256 delta)',
  'event FlashLoan(address indexed recipient, address indexed token, uint256 amount, uint256 feeAmount)',
] as const

export const vaultAbi = new Interface([
  `function batchSwap(
    uint8 kind,
    (bytes32 poolId, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes userData)[] swaps,
    address[] assets,
    (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance) funds,
    int256[] limits,
    uint256 deadline
  ) payable returns (int256[] assetDeltas)`,
  'function getPool(bytes32 poolId) view returns (address, uint8)',
  'function WETH() view returns (address)',
  swapEvent,
])

/** SwapKind of IVault. */
export const swapKind = { in: 0, out: 1 } as const
