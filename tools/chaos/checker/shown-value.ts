import { Interface } from 'ethers'

const exchanges = new Interface([
  'function openPosition((address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode))',
  'function deposit(address token, uint256 amount)',
  'function withdraw(address token, uint256 amount)',
  'function offer(uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, uint256 pos, bool rounding)',
  'function sellAllAmount(address pay_gem, uint256 pay_amt, address buy_gem, uint256 min_fill_amount)',
  'function buyAllAmount(address buy_gem, uint256 buy_amt, address pay_gem, uint256 max_fill_amount)',
])

/** What a transaction shows of the request that it is for: its value, of a position its size, of collateral its amount, of an order its base. */
export function shownValue({ value, data }: { value: bigint; data: string }): bigint {
  const call = value > 0n ? null : exchanges.parseTransaction({ data })
  if (!call) return value
  const { name, args } = call
  if (name === 'openPosition') return BigInt(args[0].amount)
  if (name === 'sellAllAmount') return BigInt(args.pay_amt)
  if (name === 'buyAllAmount') return BigInt(args.buy_amt)
  // A base of 18 decimals, a quote of 6.
  if (name === 'offer') return args.pay_amt > args.buy_amt ? BigInt(args.pay_amt) : BigInt(args.buy_amt)
  return BigInt(args.amount)
}
