import { Interface } from 'ethers'

const clearingHouse = new Interface([
  'function openPosition((address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode))',
])

/** What a transaction shows of the request that it is for: its value, or of a perpetual position its size. */
export function shownValue({ value, data }: { value: bigint; data: string }): bigint {
  if (value > 0n || !data.startsWith(clearingHouse.getFunction('openPosition')?.selector ?? '')) return value
  const [order] = clearingHouse.decodeFunctionData('openPosition', data)
  return BigInt(order.amount)
}
