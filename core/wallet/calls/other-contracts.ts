// Contracts with few methods: Balancer's Vault, routers and pools of the StableSwap invariant, the matching market, Perpetual Protocol, Permit2.
import {
  amount,
  argumentsOf,
  createTally,
  list,
  methodsOf,
  requireWallet,
  text,
  Unreadable,
  zeroAddress,
  type Amounts,
  type CallReader,
} from './reading.ts'

const none: Amounts = new Map()
const only = (token: unknown, amountRaw: unknown): Amounts => new Map([[text(token), amount(amountRaw)]])

const vaultMethod = methodsOf([
  'function batchSwap(uint8 kind, (bytes32 poolId, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes userData)[] swaps, address[] assets, (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance) funds, int256[] limits, uint256 deadline)',
  'function joinPool(bytes32 poolId, address sender, address recipient, (address[] assets, uint256[] maxAmountsIn, bytes userData, bool fromInternalBalance) request)',
  'function exitPool(bytes32 poolId, address sender, address recipient, (address[] assets, uint256[] minAmountsOut, bytes userData, bool toInternalBalance) request)',
])
/** ExitKind of WeightedPoolUserDataHelpers: an amount of shares for all tokens in proportion. */
const exactSharesIn = 1n
const exitIn = argumentsOf(['uint256', 'uint256'])

/** The Vault enforces the most of each asset. It takes from its caller alone where nobody else is its relayer, and no such call is signed. */
export const readVault: CallReader = (call) => {
  const { name, args } = vaultMethod(call.data)
  const tally = createTally({ call, self: [] })
  const takeEach = (assets: unknown, most: unknown) => {
    const limits = list(most).map(amount)
    for (const [index, asset] of list(assets).map(text).entries()) {
      const limit = limits[index] ?? 0n
      // The coin itself comes with the call.
      if (asset !== zeroAddress && limit > 0n) tally.take(asset, limit)
    }
  }
  if (name === 'batchSwap') {
    const [, , assets, funds, limits] = args
    const [sender, fromInternal, recipient, toInternal] = list(funds)
    requireOwnBalance(fromInternal, toInternal)
    for (const each of [sender, recipient]) requireWallet(text(each), call)
    takeEach(assets, limits)
    return tally.finish()
  }
  const [, sender, recipient, request] = args
  for (const each of [sender, recipient]) requireWallet(text(each), call)
  const [assets, amounts, userData, isInternal] = list(request)
  requireOwnBalance(isInternal)
  if (name === 'joinPool') takeEach(assets, amounts)
  else {
    const [kind] = exitIn(userData)
    if (kind !== exactSharesIn) throw new Unreadable('it gives shares for other tokens than all of the pool in proportion')
  }
  return tally.finish()
}

function requireOwnBalance(...flags: readonly unknown[]): void {
  if (flags.some((each) => each !== false)) throw new Unreadable('it uses balances within the Vault')
}

const terms = '(address tokenIn, address recipient, bool unwrap, uint256 deadline) terms'
const hops = '(address pool, int128 i, int128 j, address tokenOut)[] hops'
const stableMethod = methodsOf([
  `function sell(${terms}, uint256 amountIn, uint256 leastOut, ${hops})`,
  `function buy(${terms}, uint256 leastOut, uint256 likelyIn, uint256 mostIn, ${hops})`,
])

/** contracts/StableRouter.sol: with the coin it takes no token. */
export const readStableRouter: CallReader = (call) => {
  const { name, args } = stableMethod(call.data)
  const [tokenIn, recipient] = list(args[0])
  requireWallet(text(recipient), call)
  return call.valueRaw > 0n ? none : only(tokenIn, name === 'sell' ? args[1] : args[3])
}

const curveMethod = methodsOf(['function exchange(address[11] route, uint256[5][5] swapParams, uint256 amount, uint256 expected)'])
/** As Curve's contracts call the coin itself. */
const curveCoin = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** It pays its caller. */
export const readCurveRouter: CallReader = ({ data }) => {
  const [route, , amountRaw] = curveMethod(data).args
  const token = text(list(route)[0])
  return token === curveCoin ? none : only(token, amountRaw)
}

const poolMethod = methodsOf(
  [2, 3, 4].flatMap((coins) => [
    `function add_liquidity(uint256[${coins}] amounts, uint256 min_mint_amount)`,
    `function remove_liquidity(uint256 amount, uint256[${coins}] min_amounts)`,
  ]),
)

/** Shares are given back in proportion, to the caller. */
export const readStablePool: CallReader = ({ data }) => {
  if (poolMethod(data).name === 'add_liquidity') throw new Unreadable('it does not name the tokens of the pool')
  return none
}

const marketMethod = methodsOf([
  'function offer(uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, uint256 pos, bool rounding)',
  'function sellAllAmount(address pay_gem, uint256 pay_amt, address buy_gem, uint256 min_fill_amount)',
  'function buyAllAmount(address buy_gem, uint256 buy_amt, address pay_gem, uint256 max_fill_amount)',
  'function cancel(uint256 id)',
])

/** It takes from its caller, whom offers belong to. */
export const readMatchingMarket: CallReader = ({ data }) => {
  const { name, args } = marketMethod(data)
  if (name === 'cancel') return none
  if (name === 'sellAllAmount') return only(args[0], args[1])
  if (name === 'buyAllAmount') return only(args[2], args[3])
  // `_matcho`: with rounding the last unit that is bought may cost anything.
  if (args[5] !== false) throw new Unreadable('an offer that may be matched with rounding can cost more than it says')
  return only(args[1], args[0])
}

const params = 'uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode'
const houseMethod = methodsOf([
  `function openPosition((address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, ${params}) params)`,
  'function closePosition((address baseToken, uint160 sqrtPriceLimitX96, uint256 oppositeAmountBound, uint256 deadline, bytes32 referralCode) params)',
  'function quitMarket(address trader, address baseToken)',
])
/** Positions take nothing from the wallet: what they lose is collateral, which counted when it was deposited. */
export const readPerpHouse: CallReader = ({ data }) => {
  houseMethod(data)
  return none
}

const collateralMethod = methodsOf(['function deposit(address token, uint256 amount)', 'function withdraw(address token, uint256 amount)'])
export const readPerpVault: CallReader = ({ data }) => {
  const { name, args } = collateralMethod(data)
  return name === 'deposit' ? only(args[0], args[1]) : none
}

const permit2Method = methodsOf(['function approve(address token, address spender, uint160 amount, uint48 expiration)'])
/** For whom: the policy says. */
export const readPermit2 =
  (isBound: (right: { token: string; spender: string }) => boolean): CallReader =>
  ({ data }) => {
    const [token, spender, amountRaw] = permit2Method(data).args
    return isBound({ token: text(token), spender: text(spender) }) ? none : only(token, amountRaw)
  }
