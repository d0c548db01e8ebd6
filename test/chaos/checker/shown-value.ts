import { Interface } from 'ethers'

const perpetuals = new Interface([
  'function openPosition((address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode))',
  'function deposit(address token, uint256 amount)',
  'function withdraw(address token, uint256 amount)',
])

/** What a transaction shows of the request that it is for: its value, of a perpetual position its size, of collateral its amount. */
export function shownValue({ value, data }: { value: bigint; data: string }): bigint {
  const call = value > 0n ? null : perpetuals.parseTransaction({ data })
  if (!call) return value
  return BigInt(call.name === 'openPosition' ? call.args[0].amount : call.args.amount)
}
