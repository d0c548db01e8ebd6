// SwapRouter, SwapRouter02 and those of Algebra: they take from their caller alone, and enforce what each swap may take.
import {
  amount,
  countCoin,
  createTally,
  first,
  last,
  list,
  methodsOf,
  parts,
  text,
  Unreadable,
  zeroAddress,
  type CallReader,
  type ContractCall,
  type Method,
  type Tally,
} from './reading.ts'

interface Dialect {
  /** Each swap has the deadline among its arguments. */
  readonly deadline: string
  /** What tells pools of the same tokens apart, in the functions for one pool; absent where none is called. */
  readonly mark?: string
  /** How many bytes of it stand between two tokens of a path. */
  readonly markBytes: number
  readonly unwrap: string
  readonly refund: string
  readonly further: readonly string[]
  readonly self: string
  readonly caller?: string
  /** An exact input of 0 is all that the router has, and nothing of the wallet's. */
  readonly hasWholeBalance: boolean
}

const uniswap = { unwrap: 'unwrapWETH9', refund: 'refundETH' }
const algebra = { unwrap: 'unwrapWNativeToken', refund: 'refundNativeToken' }
const multicall = 'function multicall(bytes[] data)'
const own = { deadline: 'uint256 deadline, ', further: [multicall], self: zeroAddress, hasWholeBalance: false }

function readerOf(dialect: Dialect): CallReader {
  const { deadline, mark, unwrap, refund, further } = dialect
  const single = (ofAmounts: string) =>
    `(address tokenIn, address tokenOut, ${mark}, address recipient, ${deadline}${ofAmounts}, uint160 limitSqrtPrice) params`
  const [amountsIn, amountsOut] = ['uint256 amountIn, uint256 amountOutMinimum', 'uint256 amountOut, uint256 amountInMaximum']
  const methodOf = methodsOf([
    ...(mark === undefined ? [] : [`function exactInputSingle(${single(amountsIn)})`, `function exactOutputSingle(${single(amountsOut)})`]),
    `function exactInput((bytes path, address recipient, ${deadline}${amountsIn}) params)`,
    `function exactOutput((bytes path, address recipient, ${deadline}${amountsOut}) params)`,
    `function ${unwrap}(uint256 amountMinimum, address recipient)`,
    `function ${refund}()`,
    ...further,
  ])
  return (call) => {
    const outer = methodOf(call.data)
    const calls = outer.name === 'multicall' ? parts(outer.args.at(-1)).map((each) => methodOf(text(each))) : [outer]
    const tally = createTally({ call, self: [dialect.self], ...(dialect.caller !== undefined && { caller: dialect.caller }) })
    const swaps = calls.flatMap((each) => readPart(each, { call, dialect, tally }) ?? [])
    const amounts = new Map(tally.finish())
    const firstReturn = calls.findIndex(({ name }) => name === refund)
    const lastSwap = calls.findLastIndex(({ name }) => name !== unwrap && name !== refund)
    const isCoinKept = (firstReturn < 0 || firstReturn > lastSwap) && !swaps.some((swap) => mayUseCoin(swap, call))
    countCoin(amounts, call, { tokens: swaps.flatMap(({ path }) => path), isCoinKept })
    return amounts
  }
}

interface Reading {
  readonly call: ContractCall
  readonly dialect: Dialect
  readonly tally: Tally
}

/** @returns the swap, where it is one */
function readPart({ name, args }: Method, { call, dialect, tally }: Reading): Swap | undefined {
  if (name === dialect.refund) return undefined
  if (name === dialect.unwrap) {
    if (call.wrapped === undefined) throw new Unreadable('the network has no wrapped coin')
    tally.payOut(call.wrapped, text(args[1]))
    return undefined
  }
  if (name === 'multicall') throw new Unreadable('it has calls within calls')
  const swap = swapOf({ name, args }, dialect)
  const [tokenIn, tokenOut] = [first(swap.path), last(swap.path)]
  if (swap.mostInRaw === 0n && dialect.hasWholeBalance) tally.use(tokenIn)
  else tally.take(tokenIn, swap.mostInRaw)
  tally.give(tokenOut, swap.recipient)
  return swap
}

/** The router pays with the coin first, also where it pays with what it has of the wrapped coin. Pools of deployers run code of theirs. */
const mayUseCoin = ({ path, mostInRaw, hasDeployer }: Swap, { wrapped = '' }: ContractCall): boolean =>
  hasDeployer || path.slice(1).includes(wrapped) || (mostInRaw === 0n && path[0] === wrapped)

interface Swap {
  /** From the token that it takes to the one that it gives. */
  readonly path: readonly string[]
  readonly recipient: string
  readonly mostInRaw: bigint
  /** A pool on its path has another deployer than the factory. */
  readonly hasDeployer: boolean
}

function swapOf({ name, args }: Method, { markBytes }: Dialect): Swap {
  if (name === 'swapExactTokensForTokens')
    return { path: list(args[2]).map(text), recipient: text(args[3]), mostInRaw: amount(args[0]), hasDeployer: false }
  const params = list(args[0])
  const isExactOut = name.startsWith('exactOutput')
  const isDeployer = (mark: unknown) => markBytes === deployerBytes && mark !== zeroAddress
  if (name.endsWith('Single')) {
    const [tokenIn, tokenOut, mark, recipient] = params
    return {
      path: [text(tokenIn), text(tokenOut)],
      recipient: text(recipient),
      mostInRaw: amount(params.at(isExactOut ? -2 : -3)),
      hasDeployer: isDeployer(mark),
    }
  }
  const path = tokensIn(params[0], markBytes)
  return {
    path: isExactOut ? path.toReversed() : path,
    recipient: text(params[1]),
    mostInRaw: amount(params.at(isExactOut ? -1 : -2)),
    hasDeployer: marksIn(params[0], markBytes).some(isDeployer),
  }
}

const deployerBytes = 20

/** Tokens with what tells their pools apart in between. */
export const tokensIn = (path: unknown, markBytes: number): readonly string[] => pathParts(path, markBytes).map(({ token }) => token)

const marksIn = (path: unknown, markBytes: number): readonly string[] =>
  pathParts(path, markBytes)
    .slice(0, -1)
    .map(({ mark }) => mark)

function pathParts(path: unknown, markBytes: number): readonly { readonly token: string; readonly mark: string }[] {
  const digits = text(path).slice(2)
  const step = 2 * (20 + markBytes)
  if (digits.length < step + 40 || (digits.length - 40) % step !== 0) throw new Unreadable('its path is malformed')
  return Array.from({ length: (digits.length - 40) / step + 1 }, (_, index) => {
    const start = index * step
    return { token: `0x${digits.slice(start, start + 40)}`, mark: `0x${digits.slice(start + 40, start + step)}` }
  })
}

export const readSwapRouter: CallReader = readerOf({ ...own, ...uniswap, mark: 'uint24 fee', markBytes: 3 })
export const readAlgebraRouter: CallReader = readerOf({ ...own, ...algebra, mark: 'address deployer', markBytes: 20 })
export const readAlgebraV1Router: CallReader = readerOf({ ...own, ...algebra, markBytes: 0 })
export const readSwapRouter02: CallReader = readerOf({
  ...uniswap,
  deadline: '',
  mark: 'uint24 fee',
  markBytes: 3,
  further: [
    'function multicall(uint256 deadline, bytes[] data)',
    'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)',
  ],
  // MSG_SENDER and ADDRESS_THIS of its library Constants.
  caller: '0x0000000000000000000000000000000000000001',
  self: '0x0000000000000000000000000000000000000002',
  hasWholeBalance: true,
})
