// Swaps by the routers of exchanges with pools of concentrated liquidity: the call that is planned, and what its receipt shows of it.
import { type Interface, concat, parseUnits, solidityPacked, id } from 'ethers'
import type { Hop, Need, Plan, Quote, SwapTerms, Fill, Json } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isSameAddress, isAddressTopic, toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import type { CallResult, Evm, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { addressIn, requireAddresses } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { pairMemoOf, priceSumsGas, readFill as readPairFill } from '../v2/router.ts'
import { boundsOf, partsOf, tokensAlong, type RoutePart } from '../../pools/route-parts.ts'
import { swapPlan } from '../swap-plan.ts'

/** What the router has to know of an exchange on one network. */
interface RouterOptions {
  /** The label of this protocol version: "v3". */
  readonly version: string
  readonly factory: string
  /** Its address. */
  readonly router: string
  readonly routerKind: RouterKind
  /** The exchange's constant-product pools, if routes may pass both kinds. */
  readonly mixedWith: { readonly version: string; readonly factory: string } | undefined
  /** The addresses of the network's token list. */
  readonly listed: ReadonlySet<string>
}

/** SwapRouter, SwapRouter02 and those of Algebra: `RouterKind` has their packages. */
const slippageReasons = ['Too little received', 'Too much requested']
/** `pay` of PeripheryPayments takes the wrapped coin of the wallet where a purchase costs more than the coin that came with the call. */
const coinSlippageReasons = ['STF']

/** Takes routes through pools of concentrated liquidity. With an exact input also mixed routes, and several of both kinds at once. */
export function v3Router({ version, factory, router, routerKind, mixedWith, listed }: RouterOptions, wrapped: string): Router {
  const { functions, coin } = routerKinds[routerKind]
  const contract = `The configured router ${router}`
  const expected = [
    { contract, view: 'factory()', address: factory },
    { contract, view: `${coin.wrapped}()`, address: wrapped },
  ]
  const views = ['factory', coin.wrapped, ...(mixedWith ? ['factoryV2'] : [])]
  let mixes = mixedWith !== undefined

  const kindOf = (hop: { readonly version: string }): PoolKind => (hop.version === version ? 'range' : 'constant-product')
  const passes = (versions: readonly string[], exact: 'in' | 'out') => {
    const others = versions.filter((each) => each !== version)
    return others.length === 0 || (exact === 'in' && mixes && others.every((each) => each === mixedWith?.version))
  }
  return {
    address: router,
    name: version,
    slippageReasons,
    coinSlippageReasons,
    // Routes of constant-product pools alone are for their own router.
    carries: (versions, exact) => versions.includes(version) && passes(versions, exact),
    // Only of an exact input: of an output it has pairs give all that a whole unit of the input is worth, as `_swap` of its V2SwapRouter does.
    alsoCarries: (versions, exact) => exact === 'in' && mixes && versions.every((each) => each === mixedWith?.version),
    // Not with the native coin: the router would hold it while tokens move. At most one part that begins with a constant-product pool: the
    // fills of two could not be distinguished.
    splits: (parts, { tokenIn, tokenOut, exact }) =>
      !tokenIn.native &&
      !tokenOut.native &&
      parts.every((versions) => passes(versions, exact)) &&
      parts.filter(([first]) => first !== version).length <= 1,
    plan: (quote, terms) => planSwap(quote, terms, { router, routerKind, kindOf, listed }),
    fill: (receipt, memo) => readFill(receipt, memo) ?? readPairFill(receipt, memo),
    check: {
      get calls() {
        return views.map((view) => ({ to: router, data: functions.encodeFunctionData(view) }))
      },
      // Another factory of constant-product pools is not an error: on some networks the router was deployed before the exchange had such
      // pools.
      // Then routes are not mixed.
      verify(answers: readonly CallResult[]) {
        requireAddresses(expected, answers)
        const factoryV2 = addressIn(answers[expected.length])
        mixes = mixedWith !== undefined && factoryV2 !== undefined && isSameAddress(factoryV2, mixedWith.factory)
      },
    },
  }
}

/**
 * SwapRouter is of @uniswap/v3-periphery@1.4.4, SwapRouter02 of @uniswap/swap-router-contracts@1.3.1, AlgebraRouter the SwapRouter of
 * @cryptoalgebra/integral-periphery@1.2.4, AlgebraV1Router that of @cryptoalgebra/periphery@1.0.0.
 */
export type RouterKind = 'SwapRouter' | 'SwapRouter02' | 'AlgebraRouter' | 'AlgebraV1Router'

/** What differs between the routers. */
interface RouterDialect {
  readonly functions: Interface
  /** Stands for the router itself as a recipient. */
  readonly selfAddress: string
  /** Each swap has the deadline among its arguments; otherwise it is given once, around all calls. */
  readonly deadlineInside: boolean
  /** Takes routes that pass constant-product pools, too. */
  readonly mixes: boolean
  /** Its names for what it does with the chain's coin. */
  readonly coin: { readonly wrapped: string; readonly unwrap: string; readonly refund: string }
  /** What tells a pool from others of the same two tokens; absent where there is one pool for two tokens. */
  readonly poolMark?: PoolMark
  /** What a pool may use beyond an estimate at a block in which it was swapped already. */
  readonly spareGasPerPool?: bigint
}

interface PoolMark {
  readonly type: 'uint24' | 'address'
  of(hop: Hop): bigint | string
}

const uniswapCoin = { wrapped: 'WETH9', unwrap: 'unwrapWETH9', refund: 'refundETH' }
const algebraCoin = { wrapped: 'WNativeToken', unwrap: 'unwrapWNativeToken', refund: 'refundNativeToken' }
/** The deployer of custom pools; the zero address stands for the factory's own. */
const ownDeployer = { type: 'address', of: () => '0x0000000000000000000000000000000000000000' } as const

/**
 * The first swap of a block writes down the price, and looks for that of a day before: DataStorage of @cryptoalgebra/v1-core@1.0.0, VolatilityOracle of
 * @cryptoalgebra/integral-base-plugin@1.2.1. 77,000 on anvil, where little is written down; a search among 65,536 reads 16 more of them, at 4,200 each.
 */
const timepointGas = 160_000n
/** Plans of plugins in hosts may have no more: core/handlers/plan-limits.ts. */
const mostSpareGas = 500_000n

const functionsOf = (deadline: string, { wrapped, unwrap, refund } = uniswapCoin, mark = 'uint24 fee', limit = 'sqrtPriceLimitX96') => [
  `function exactInputSingle((address tokenIn, address tokenOut, ${mark}, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum, uint160 ${limit}) params) payable returns (uint256 amountOut)`,
  `function exactInput((bytes path, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)`,
  `function exactOutputSingle((address tokenIn, address tokenOut, ${mark}, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum, uint160 ${limit}) params) payable returns (uint256 amountIn)`,
  `function exactOutput((bytes path, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)`,
  `function ${unwrap}(uint256 amountMinimum, address recipient) payable`,
  `function ${refund}() payable`,
  'function factory() view returns (address)',
  `function ${wrapped}() view returns (address)`,
]

const multicall = 'function multicall(bytes[] data) payable returns (bytes[] results)'

export const routerKinds: Readonly<Record<RouterKind, RouterDialect>> = {
  SwapRouter: {
    functions: abiOf([...functionsOf('uint256 deadline, '), multicall]),
    selfAddress: '0x0000000000000000000000000000000000000000',
    deadlineInside: true,
    mixes: false,
    coin: uniswapCoin,
    poolMark: { type: 'uint24', of: feePipsOf },
  },
  AlgebraRouter: {
    functions: abiOf([...functionsOf('uint256 deadline, ', algebraCoin, 'address deployer', 'limitSqrtPrice'), multicall]),
    selfAddress: '0x0000000000000000000000000000000000000000',
    deadlineInside: true,
    mixes: false,
    coin: algebraCoin,
    poolMark: ownDeployer,
    spareGasPerPool: timepointGas,
  },
  AlgebraV1Router: {
    functions: abiOf([...functionsOf('uint256 deadline, ', algebraCoin).filter((each) => !each.includes('Single')), multicall]),
    selfAddress: '0x0000000000000000000000000000000000000000',
    deadlineInside: true,
    mixes: false,
    coin: algebraCoin,
    spareGasPerPool: timepointGas,
  },
  SwapRouter02: {
    functions: abiOf([
      ...functionsOf(''),
      'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
      'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to) payable returns (uint256 amountOut)',
      'function factoryV2() view returns (address)',
    ]),
    // ADDRESS_THIS of its library Constants.
    selfAddress: '0x0000000000000000000000000000000000000002',
    deadlineInside: false,
    mixes: true,
    coin: uniswapCoin,
    poolMark: { type: 'uint24', of: feePipsOf },
  },
}

/** What a plan has to know of the router. */
interface RouterContext extends Pick<RouterOptions, 'router' | 'routerKind' | 'listed'> {
  readonly kindOf: (hop: { readonly version: string }) => PoolKind
}

/** One call to the router, which enforces the bound and the deadline. */
function planSwap(quote: Quote, terms: SwapTerms, context: RouterContext): Plan<Evm> {
  const { router, routerKind, kindOf } = context
  const parts = inCallOrder(partsOf(quote), kindOf)
  const { spareGasPerPool = 0n } = routerKinds[routerKind]
  const spareGas = quote.route.reduce((sum, hop) => sum + (kindOf(hop) === 'constant-product' ? priceSumsGas : spareGasPerPool), 0n)
  return swapPlan(quote, terms, {
    router,
    ...(spareGas > 0n && { spareGas: spareGas < mostSpareGas ? spareGas : mostSpareGas }),
    data: routerCall(quote, parts, terms, context),
    memo: isOfPairs(parts, kindOf) ? pairMemoOf(quote, terms.recipient) : swapMemoOf(quote, parts, terms.recipient, { router, kindOf }),
    needs: quote.swap.tokenIn.native ? needsOfCoin(quote, context) : [],
  })
}

/** One route through constant-product pools alone: it is paid for, and logged, as by their own router. */
const isOfPairs = ([only, ...others]: readonly RoutePart[], kindOf: RouterContext['kindOf']): boolean =>
  only !== undefined && others.length === 0 && only.route.every((hop) => kindOf(hop) === 'constant-product')

/** A part that begins with a constant-product pool is last: only there its swaps can be distinguished from those of a token's own code. */
const inCallOrder = (parts: readonly RoutePart[], kindOf: RouterContext['kindOf']): readonly RoutePart[] => {
  const beginningWith = (kind: PoolKind) => parts.filter(({ route: [first] }) => first && kindOf(first) === kind)
  return [...beginningWith('range'), ...beginningWith('constant-product')]
}

/**
 * The router pays a first pool of concentrated liquidity when the pool calls back. By then the pool's output has moved, and with an exact
 * output everything that comes after it.
 */
function needsOfCoin({ swap, route }: Quote, { router, kindOf, listed }: RouterContext): readonly Need[] {
  const [first] = route
  if (!first || kindOf(first) !== 'range') return []
  const moved = swap.exact === 'in' ? [first] : route
  return needsAgainstDoublePayment({ wrapped: first.tokenIn, tokens: moved.map(({ tokenOut }) => tokenOut), spender: router, listed })
}

/** A payment in the native coin. */
interface CoinPayment {
  readonly wrapped: string
  /** The tokens that move in the same call. */
  readonly tokens: readonly string[]
  readonly spender: string
  /** The addresses of the network's token list. */
  readonly listed: ReadonlySet<string>
}

/**
 * Keeps a contract from taking a payment twice. A token's code runs while it moves, and anybody may make the contract return the coin that it
 * holds (PeripheryPayments.refundETH of @uniswap/v3-periphery@1.4.4). To pay a pool then, the contract takes the wrapped coin from the wallet
 * if it has an allowance. Tokens on the network's list are trusted not to do this.
 */
export function needsAgainstDoublePayment({ wrapped, tokens, spender, listed }: CoinPayment): readonly Need[] {
  const hasUntrusted = tokens.some((token) => token !== wrapped && !listed.has(token))
  return hasUntrusted ? [{ is: 'allowance-at-most', token: wrapped, spender, amountRaw: 0n }] : []
}

// CONTRACT_BALANCE of SwapRouter02's library Constants: the whole output of the leg before, which the router holds.
const wholeBalance = 0n

function routerCall(
  { swap }: Quote,
  parts: readonly RoutePart[],
  { boundRaw, recipient, deadline }: SwapTerms,
  { routerKind, kindOf }: RouterContext,
): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const dialect = routerKinds[routerKind]
  const { functions, selfAddress, deadlineInside, coin } = dialect

  const bounds = boundsOf(parts, boundRaw)
  const legs = parts.map(({ route }) => legsOf(route, kindOf))
  const calls = parts.flatMap(({ exactRaw }, part) => {
    const ofPart = legs[part] ?? []
    return ofPart.map((leg, index) => {
      const isLast = index === ofPart.length - 1
      const terms: LegTerms = {
        exact,
        deadline,
        amountRaw: index === 0 ? exactRaw : wholeBalance,
        boundRaw: isLast ? (bounds[part] ?? 0n) : 0n,
        recipient: isLast && !tokenOut.native ? recipient : selfAddress,
      }
      return legCall(leg, terms, dialect)
    })
  })
  if (tokenOut.native) calls.push(functions.encodeFunctionData(coin.unwrap, [exact === 'in' ? boundRaw : amountRaw, recipient]))
  // Returns the rest of the value: what the bound leaves, or what the pool's liquidity could not take of an exact input.
  if (tokenIn.native && (exact === 'out' || legs[0]?.[0]?.kind === 'range')) calls.push(functions.encodeFunctionData(coin.refund))

  if (!deadlineInside) return functions.encodeFunctionData('multicall', [deadline, calls])
  const [only, ...others] = calls
  return only !== undefined && others.length === 0 ? only : functions.encodeFunctionData('multicall', [calls])
}

/** Consecutive hops that one call to the router carries out. */
interface Leg {
  readonly kind: PoolKind
  readonly hops: readonly Hop[]
}

/** Cuts a route where the kind of pool changes. */
function legsOf(route: readonly Hop[], kindOf: (hop: Hop) => PoolKind): readonly Leg[] {
  const legs: { kind: PoolKind; hops: Hop[] }[] = []
  for (const hop of route) {
    const kind = kindOf(hop)
    const last = legs.at(-1)
    if (last?.kind === kind) last.hops.push(hop)
    else legs.push({ kind, hops: [hop] })
  }
  return legs
}

interface LegTerms {
  readonly exact: 'in' | 'out'
  /** Input or output, as `exact` says; an exact input of `wholeBalance` is everything that the router has. */
  readonly amountRaw: bigint
  /** The least output, or the most input. */
  readonly boundRaw: bigint
  readonly recipient: string
  readonly deadline: number
}

// The price may go as far as the amounts lead: the bounds are on amounts.
const noPriceLimit = 0n

function legCall({ kind, hops }: Leg, terms: LegTerms, { functions, deadlineInside, poolMark }: RouterDialect): string {
  const { exact, amountRaw, boundRaw, recipient, deadline } = terms
  if (kind === 'constant-product')
    return functions.encodeFunctionData('swapExactTokensForTokens', [amountRaw, boundRaw, tokensAlong(hops), recipient])
  const method = exact === 'in' ? 'exactInput' : 'exactOutput'
  const rest = [recipient, ...(deadlineInside ? [deadline] : []), amountRaw, boundRaw]
  const [first, ...others] = hops
  // Without a mark a path is as short, and the functions for one pool differ in their arguments.
  if (poolMark && first && others.length === 0) {
    const { tokenIn, tokenOut } = first
    return functions.encodeFunctionData(`${method}Single`, [[tokenIn, tokenOut, poolMark.of(first), ...rest, noPriceLimit]])
  }
  return functions.encodeFunctionData(method, [[encodedPath(hops, exact, poolMark), ...rest]])
}

/** Tokens and what tells their pools apart in turn, from the last to the first for an exact output: library Path of @uniswap/v3-periphery. */
function encodedPath(hops: readonly Hop[], exact: 'in' | 'out', mark: PoolMark | undefined): string {
  const tokens = tokensAlong(hops)
  if (!mark) return concat(exact === 'in' ? tokens : tokens.toReversed())
  const { type, of } = mark
  const marks = hops.map(of)
  const [inOrder, marksInOrder] = exact === 'in' ? [tokens, marks] : [tokens.toReversed(), marks.toReversed()]
  return solidityPacked(
    ['address', ...marks.flatMap(() => [type, 'address'])],
    inOrder.flatMap((token, index) => (index === 0 ? [token] : [marksInOrder[index - 1], token])),
  )
}

/** "0.003" → 3000: hundredths of a basis point. */
function feePipsOf({ pool, fee }: Hop): bigint {
  if (fee === undefined) throw new Error(`The route passes ${pool} without its fee.`)
  return parseUnits(fee, 6)
}

/** What a swap really moved, from the logs of its pools. Undefined where the receipt shows no such swap. */
export function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  const swap = parseMemo(memo)
  if (!swap || swap.parts.length === 0 || status !== 1) return undefined
  let [amountInRaw, amountOutRaw, from] = [0n, 0n, 0]
  for (const part of swap.parts) {
    const found = findSwaps(logs.slice(from), swap, part)
    const [first, last] = [found?.at(0), found?.at(-1)]
    if (!first || !last) return undefined
    // A constant-product pool counts what anybody sent to it before as input; the router pays it the exact amount.
    amountInRaw += part.hops[0]?.kind === 'constant-product' ? BigInt(part.amountRaw) : first.amountInRaw
    amountOutRaw += last.amountOutRaw
    // The pool of the last hop logs last, and the next part begins right after it.
    from += last.index + 1
  }
  return { amountInRaw, amountOutRaw }
}

/** Stored in the memos of swaps, so the words must not change. */
const poolKind = json.literal('range', 'constant-product')
type PoolKind = json.Infer<typeof poolKind>

const memoHop = json.object({
  kind: poolKind,
  pool: json.string,
  tokenIn: json.string,
  tokenOut: json.string,
  /** The address that the pool pays. */
  to: json.string,
})
type MemoHop = json.Infer<typeof memoHop>

/** `amountRaw` is the exact amount, input or output. */
const memoPart = json.object({ amountRaw: json.digits, hops: json.array(memoHop) })
type MemoPart = json.Infer<typeof memoPart>

const memoHead = json.object({ router: json.string, exact: json.literal('in', 'out') })
const memoParts = json.object({ parts: json.array(memoPart) })

/** What `readFill` needs to find a swap in a receipt. */
interface SwapMemo extends json.Infer<typeof memoHead> {
  /** In the order in which they are called. */
  readonly parts: readonly MemoPart[]
}

/** Undefined where it is not the memo of such a swap. */
export function parseMemo(memo: Json): SwapMemo | undefined {
  if (!json.is(memoHead, memo)) return undefined
  const parts = json.is(memoParts, memo) ? memo.parts : json.is(memoPart, memo) ? [memo] : undefined
  return parts && { router: memo.router, exact: memo.exact, parts }
}

/** A swap of one part is written without `parts`, as before there were several. */
function swapMemoOf(
  { swap: { exact, tokenOut } }: Quote,
  parts: readonly RoutePart[],
  recipient: string,
  { router, kindOf }: { router: string; kindOf: (hop: Hop) => PoolKind },
): Json {
  const written = parts.map(({ route, exactRaw }) => ({
    amountRaw: exactRaw.toString(),
    hops: route.map((hop, index) => {
      const next = route[index + 1]
      // Constant-product pools pay the next pool. So do all pools with an exact output, because the last one is swapped first.
      const paysNext = exact === 'out' || (next && kindOf(hop) === 'constant-product' && kindOf(next) === 'constant-product')
      const to = next ? (paysNext ? next.pool : router) : tokenOut.native ? router : recipient
      return { kind: kindOf(hop), pool: hop.pool, tokenIn: hop.tokenIn, tokenOut: hop.tokenOut, to }
    }),
  }))
  const [only, ...others] = written
  return others.length === 0 ? { router, exact, ...only } : { router, exact, parts: written }
}

/** What a pool took and gave in one swap. */
interface FoundSwap extends Fill {
  /** Of the log. */
  readonly index: number
}

/**
 * The logs of our own swaps in one part, in the route's order; `logs` begin after the part before. A token's code runs while the token moves,
 * and may trade in the same pools through the same router. A pool is locked from before it moves anything until it has logged its swap, so no
 * other swap of it is logged in between. The order in which the router calls pools decides whether other swaps come before or after ours.
 */
function findSwaps(logs: readonly EvmLog[], { router, exact }: SwapMemo, { hops }: MemoPart): readonly FoundSwap[] | undefined {
  const readers = hops.map((hop) => (log: EvmLog) => readSwapLog(log, hop, router))
  // The last pool is locked first, and the others log one after another right before it.
  if (exact === 'out') return backward(logs, readers, 'first')
  // The first pool is locked before anything moves, and each next one when the one before has logged.
  if (hops[0]?.kind === 'range') return forward(logs, readers)
  // The router pays the first pool before the pool is locked, so other swaps may come before ours. None comes after: such a part is the
  // last.
  return backward(logs, readers, 'last')
}

type SwapReader = (log: EvmLog) => Fill | undefined

/** From the first hop on: of each, the first match after the hop before. */
function forward(logs: readonly EvmLog[], readers: readonly SwapReader[]): readonly FoundSwap[] | undefined {
  let from = 0
  const found: FoundSwap[] = []
  for (const read of readers) {
    const index = logs.findIndex((log, at) => at >= from && read(log) !== undefined)
    const log = logs[index]
    const amounts = log && read(log)
    if (!amounts) return undefined
    found.push({ ...amounts, index })
    from = index + 1
  }
  return found
}

/** From the last hop on: of each, the last match before the hop after it; of the last hop, the first or the last match of all. */
function backward(logs: readonly EvmLog[], readers: readonly SwapReader[], lastHop: 'first' | 'last'): readonly FoundSwap[] | undefined {
  let before = logs.length
  const found: FoundSwap[] = []
  for (const [hop, read] of [...readers.entries()].toReversed()) {
    const matches = (log: EvmLog) => read(log) !== undefined
    const takesFirst = hop === readers.length - 1 && lastHop === 'first'
    before = takesFirst ? logs.findIndex(matches) : logs.slice(0, before).findLastIndex(matches)
    const log = logs[before]
    const amounts = log && read(log)
    if (!amounts) return undefined
    found.unshift({ ...amounts, index: before })
  }
  return found
}

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, which is Algebra's too, and those with two more fields at their end: PancakeSwap's, and
// Algebra's of @cryptoalgebra/integral-core@1.2.1.
const rangeTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)'),
]
// IUniswapV2Pair of @uniswap/v2-core@1.0.1.
const constantProductTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/** The pool's log of the router's swap at this hop; undefined for any other log. */
function readSwapLog({ address, topics: [topic, sender, to], data }: EvmLog, hop: MemoHop, router: string): Fill | undefined {
  if (!isSameAddress(address, hop.pool) || !isAddressTopic(sender, router) || !isAddressTopic(to, hop.to)) return undefined
  const isForward = hop.tokenIn.toLowerCase() < hop.tokenOut.toLowerCase()
  if (hop.kind === 'range') {
    if (topic === undefined || !rangeTopics.includes(topic) || wordCount(data) < 2) return undefined
    // From the pool's side: input is above 0, output below.
    const [amount0Raw, amount1Raw] = [toInt256(wordAt(data, 0)), toInt256(wordAt(data, 1))]
    return isForward ? { amountInRaw: amount0Raw, amountOutRaw: -amount1Raw } : { amountInRaw: amount1Raw, amountOutRaw: -amount0Raw }
  }
  if (topic !== constantProductTopic || wordCount(data) < 4) return undefined
  return isForward
    ? { amountInRaw: wordAt(data, 0), amountOutRaw: wordAt(data, 3) }
    : { amountInRaw: wordAt(data, 1), amountOutRaw: wordAt(data, 2) }
}
