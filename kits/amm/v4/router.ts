// Swaps by Uniswap's Universal Router: routes through pools of v2, v3 and v4 in one call, what it sends, and what its receipt shows.
import { AbiCoder, concat, id, parseUnits, solidityPacked } from 'ethers'
import type { Fill, Hop, Json, Permit, Plan, Quote, SwapTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isAddressTopic, isSameAddress, toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import { customError } from '../../evm/reverts.ts'
import type { CallResult, Evm, EvmIntent, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { requireAddresses } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { boundsOf, partsOf, tokensAlong, type RoutePart } from '../../pools/route-parts.ts'
import { swapPlan } from '../swap-plan.ts'
import { pairMemoOf, readFill as readPairFill } from '../v2/router.ts'
import { zeroAddress, type PoolKey, type PoolsBetween } from './pools.ts'

interface UniversalRouterOptions {
  /** The label of v4 among the versions. */
  readonly version: string
  readonly router: string
  /** The contract by which the router takes tokens. */
  readonly permit2: string
  readonly manager: string
  readonly wrapped: string
  readonly poolsBetween: PoolsBetween
  /** The labels of the exchange's other pools, which routes may pass too. */
  readonly constantProduct?: string
  readonly range?: string
}

type Kind = 'constant-product' | 'range' | 'kept'

/** IV4Router of @uniswap/v4-periphery@1.0.3, V2SwapRouter, V3SwapRouter and Payments of @uniswap/universal-router@2.1.0. */
const slippageReasons = [
  'V4TooLittleReceived(uint256,uint256)',
  'V4TooMuchRequested(uint256,uint256)',
  'V3TooLittleReceived()',
  'V3TooMuchRequested()',
  'V2TooLittleReceived()',
  'V2TooMuchRequested()',
  'InsufficientToken()',
  'InsufficientETH()',
].map(customError)

/**
 * Takes routes through v4. With an exact input also those that pass v2 and v3; several routes at once may be of different versions. With an exact
 * output none passes v2: the router pays those pools a whole unit more than they need, and has them give all that this is worth, which is more
 * than was asked for (`V2SwapRouter` of @uniswap/universal-router@2.1.0, `_v2Swap`).
 */
export function universalRouter(options: UniversalRouterOptions): Router {
  const { version, router, permit2, manager, constantProduct, range } = options
  const known = [version, constantProduct, range].filter((each) => each !== undefined)
  const isOneVersion = (versions: readonly string[]) => new Set(versions).size === 1
  const passes = (versions: readonly string[], exact: 'in' | 'out') =>
    versions.every((each) => known.includes(each)) &&
    (exact === 'in' || (isOneVersion(versions) && !versions.some((each) => each === constantProduct)))
  return {
    address: router,
    name: version,
    slippageReasons,
    permit2,
    withPermit,
    // Routes without v4 are for their own routers.
    carries: (versions, exact) => versions.includes(version) && passes(versions, exact),
    alsoCarries: passes,
    splits: (parts, { exact }) => parts.every((versions) => passes(versions, exact)),
    plan: (quote, terms) => planSwap(quote, terms, options),
    fill: (receipt, memo) => readFill(receipt, memo) ?? readPairFill(receipt, memo),
    check: {
      get calls() {
        return [{ to: router, data: functions.encodeFunctionData('poolManager') }]
      },
      verify: (answers: readonly CallResult[]) =>
        requireAddresses([{ contract: `The configured router ${router}`, view: 'poolManager()', address: manager }], answers),
    },
  }
}

// IUniversalRouter and the library Commands of @uniswap/universal-router@2.1.0.
const functions = abiOf([
  'function execute(bytes commands, bytes[] inputs, uint256 deadline) payable',
  'function poolManager() view returns (address)',
])
const commands = {
  rangeExactIn: '0x00',
  rangeExactOut: '0x01',
  permit2TransferFrom: '0x02',
  sweep: '0x04',
  constantProductExactIn: '0x08',
  wrap: '0x0b',
  unwrap: '0x0c',
  keptSwap: '0x10',
} as const
// The library Actions of @uniswap/v4-periphery@1.0.3.
const actions = { swapExactIn: '0x07', swapExactOut: '0x09', settle: '0x0b', take: '0x0e' } as const
// ActionConstants of @uniswap/v4-periphery@1.0.3: the router as a recipient, all that it has of a token, and what the swaps before it left open.
const self = '0x0000000000000000000000000000000000000002'
const wholeBalance = 1n << 255n
const openDelta = 0n
const [payerIsUser, payerIsRouter] = [true, false]

/** `FLAG_ALLOW_REVERT`: the call goes on where the command fails. */
const mayFail = 0x80
const permit2Permit = 0x0a

/**
 * A swap's step with a signed permit before its commands. It may fail: whoever sees the transaction can have Permit2 take the permit first, and
 * then the router has what it gives. Where it has not, the command that takes the tokens fails, and with it the whole call.
 */
function withPermit(step: EvmIntent, { token, spender, amountRaw, expires, nonce }: Permit, signature: string): EvmIntent {
  const [ofSwap = '0x', inputs = [], deadline = 0n]: readonly unknown[] = functions.decodeFunctionData('execute', step.data)
  const permit = coder.encode(
    ['((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline)', 'bytes'],
    [[[token, amountRaw, expires, nonce], spender, expires], signature],
  )
  const withIt = [
    concat([new Uint8Array([permit2Permit | mayFail]), String(ofSwap)]),
    [permit, ...(Array.isArray(inputs) ? inputs : [])],
    deadline,
  ]
  return { ...step, data: functions.encodeFunctionData('execute', withIt) }
}

interface Command {
  readonly command: string
  readonly input: string
}

const coder = AbiCoder.defaultAbiCoder()
const command = (name: keyof typeof commands, types: readonly string[], values: readonly unknown[]): Command => ({
  command: commands[name],
  input: coder.encode(types, values),
})
// Since version 2.1.1 these end with a list of lowest prices for each hop, where none is wanted; 2.1.0 does not read it.
const swapTypes = (path: string) => ['address', 'uint256', 'uint256', path, 'bool', 'uint256[]']
const sweep = (token: string, recipient: string, minRaw: bigint) =>
  command('sweep', ['address', 'address', 'uint256'], [token, recipient, minRaw])
const wrap = (recipient: string, amountRaw: bigint) => command('wrap', ['address', 'uint256'], [recipient, amountRaw])
const unwrap = (recipient: string, minRaw: bigint) => command('unwrap', ['address', 'uint256'], [recipient, minRaw])

function planSwap(quote: Quote, terms: SwapTerms, options: UniversalRouterOptions): Plan<Evm> {
  const { tokenIn } = quote.swap
  const parts = partsOf(quote)
  const bounds = boundsOf(parts, terms.boundRaw)
  const calls = parts.flatMap((part, index) => partCommands(part, bounds[index] ?? 0n, quote, terms, options))
  // The rest of the coin: what the bound leaves, or what a pool could not take of an exact input.
  if (tokenIn.native) calls.push(sweep(zeroAddress, terms.recipient, 0n))
  return swapPlan(quote, terms, {
    router: options.router,
    data: functions.encodeFunctionData('execute', [
      concat(calls.map((each) => each.command)),
      calls.map(({ input }) => input),
      terms.deadline,
    ]),
    memo: isOfPairs(parts, options) ? pairMemoOf(quote, terms.recipient) : memoOf(quote, parts, options),
    permit2: options.permit2,
  })
}

/** One route through constant-product pools alone: it is paid for, and logged, as by their own router. */
const isOfPairs = ([only, ...others]: readonly RoutePart[], options: UniversalRouterOptions): boolean =>
  only !== undefined && others.length === 0 && only.route.every((hop) => kindOf(hop, options) === 'constant-product')

/** Consecutive hops that one command carries out. */
interface Leg {
  readonly kind: Kind
  readonly hops: readonly KeyedHop[]
}

interface KeyedHop {
  readonly hop: Hop
  /** Of a pool of v4, which may have the coin itself. */
  readonly key?: PoolKey
  /** The currencies that really move: the zero address is the native coin. */
  readonly currencyIn: string
  readonly currencyOut: string
}

const kindOf = ({ version }: { readonly version: string }, options: UniversalRouterOptions): Kind =>
  version === options.version ? 'kept' : version === options.constantProduct ? 'constant-product' : 'range'

function keyed(hop: Hop, { version, wrapped, poolsBetween }: UniversalRouterOptions): KeyedHop {
  const { tokenIn, tokenOut } = hop
  if (hop.version !== version) return { hop, currencyIn: tokenIn, currencyOut: tokenOut }
  const key = poolsBetween(tokenIn, tokenOut).find(({ address }) => address === hop.pool)?.key
  if (!key) throw new Error(`The route passes the pool ${hop.pool}, whose key is not known.`)
  const hasCoin = key.currency0 === zeroAddress
  const currencyOf = (token: string) => (hasCoin && token === wrapped ? zeroAddress : token)
  return { hop, key, currencyIn: currencyOf(tokenIn), currencyOut: currencyOf(tokenOut) }
}

/** Cuts a route where the kind of pool changes, and where the coin has to be wrapped or unwrapped in between. */
function legsOf(route: readonly Hop[], options: UniversalRouterOptions): readonly Leg[] {
  const legs: { kind: Kind; hops: KeyedHop[] }[] = []
  for (const hop of route) {
    const kind = kindOf(hop, options)
    const next = keyed(hop, options)
    const last = legs.at(-1)
    if (last?.kind === kind && last.hops.at(-1)?.currencyOut === next.currencyIn) last.hops.push(next)
    else legs.push({ kind, hops: [next] })
  }
  return legs
}

/** One route: its legs, and the coin wrapped or unwrapped before, between and after them. */
function partCommands(
  { route, exactRaw }: RoutePart,
  boundRaw: bigint,
  { swap: { tokenIn, tokenOut, exact } }: Quote,
  { recipient }: SwapTerms,
  options: UniversalRouterOptions,
): Command[] {
  const { wrapped, router } = options
  const legs = legsOf(route, options)
  const calls: Command[] = []
  const maxInRaw = exact === 'in' ? exactRaw : boundRaw
  const [first, last] = [legs[0]?.hops[0], legs.at(-1)?.hops.at(-1)]
  if (!first || !last) throw new Error('A route has at least one pool.')
  // The router gets the output first where it is in the other form of the coin.
  const changesOutput = tokenOut.native ? last.currencyOut !== zeroAddress : last.currencyOut === zeroAddress
  // A pool of v4 whose liquidity ends gives less than an exact output, and does not fail (`swap` of the library Pool of @uniswap/v4-core@1.0.2): the
  // router pays it out only where it is whole. Pools before the last one give all that is owed, or the PoolManager ends with a debt and reverts.
  const mayGiveLess = exact === 'out' && legs.at(-1)?.kind === 'kept'
  // The form in which the router has what it pays with; undefined while the wallet has it.
  let held = tokenIn.native ? zeroAddress : undefined
  if (held === undefined && first.currencyIn === zeroAddress) {
    calls.push(command('permit2TransferFrom', ['address', 'address', 'uint160'], [wrapped, router, maxInRaw]))
    held = wrapped
  }
  for (const [index, leg] of legs.entries()) {
    const isFirst = index === 0
    const isLast = index === legs.length - 1
    const { currencyIn } = leg.hops[0] ?? first
    const { currencyOut } = leg.hops.at(-1) ?? last
    if (held !== undefined && held !== currencyIn)
      calls.push(currencyIn === zeroAddress ? unwrap(self, 0n) : wrap(self, isFirst ? maxInRaw : wholeBalance))
    const to = isLast && !changesOutput && !mayGiveLess ? recipient : self
    const amounts = { exactRaw: isFirst ? exactRaw : undefined, boundRaw: isLast ? boundRaw : 0n }
    calls.push(legCommand(leg, exact, amounts, { to, payer: held === undefined ? payerIsUser : payerIsRouter }))
    held = currencyOut
  }
  if (changesOutput && tokenOut.native) calls.push(unwrap(recipient, exact === 'in' ? boundRaw : exactRaw))
  else {
    if (changesOutput) calls.push(wrap(mayGiveLess ? self : recipient, wholeBalance))
    if (mayGiveLess) calls.push(sweep(tokenOut.native ? zeroAddress : last.hop.tokenOut, recipient, exactRaw))
  }
  // What is left of an input that the router was given in the other form: an exact output needs less than the bound, and a pool may not have
  // the liquidity for all of an exact input.
  if (tokenIn.native && first.currencyIn !== zeroAddress) calls.push(unwrap(recipient, 0n))
  if (!tokenIn.native && first.currencyIn === zeroAddress) calls.push(wrap(recipient, wholeBalance))
  return calls
}

interface LegAmounts {
  /** The exact amount; undefined for an input that is all that the leg before gave. */
  readonly exactRaw: bigint | undefined
  /** The least output, or the most input. */
  readonly boundRaw: bigint
}

function legCommand(
  leg: Leg,
  exact: 'in' | 'out',
  { exactRaw, boundRaw }: LegAmounts,
  { to, payer }: { to: string; payer: boolean },
): Command {
  const amountRaw = exactRaw ?? wholeBalance
  const hops = leg.hops.map(({ hop }) => hop)
  switch (leg.kind) {
    case 'constant-product':
      return command('constantProductExactIn', swapTypes('address[]'), [to, amountRaw, boundRaw, tokensAlong(hops), payer, []])
    case 'range':
      return command(exact === 'in' ? 'rangeExactIn' : 'rangeExactOut', swapTypes('bytes'), [
        to,
        amountRaw,
        boundRaw,
        encodedPath(hops, exact),
        payer,
        [],
      ])
    case 'kept':
      return keptSwap(leg.hops, exact, { exactRaw, boundRaw }, { to, payer })
  }
}

// IV4Router, whose structs have the lowest prices for each hop since version 2.1.0 of the router: none is wanted.
const pathKey = '(address intermediateCurrency, uint24 fee, int24 tickSpacing, address hooks, bytes hookData)[]'
const swapStruct = `(address currency, ${pathKey} path, uint256[] minHopPrices, uint128 amount, uint128 bound)`

/** A swap within the PoolManager: the pools pay one another, and only the ends are settled. */
function keptSwap(
  hops: readonly KeyedHop[],
  exact: 'in' | 'out',
  { exactRaw, boundRaw }: LegAmounts,
  { to, payer }: { to: string; payer: boolean },
): Command {
  const [first, last] = [hops[0], hops.at(-1)]
  if (!first || !last) throw new Error('A leg has at least one pool.')
  const path = hops.map(({ key, currencyIn, currencyOut }) => {
    if (!key) throw new Error('A pool of v4 has a key.')
    return [exact === 'in' ? currencyOut : currencyIn, key.fee, key.tickSpacing, key.hooks, '0x']
  })
  const swap = coder.encode(
    [swapStruct],
    [[exact === 'in' ? first.currencyIn : last.currencyOut, path, [], exactRaw ?? openDelta, boundRaw]],
  )
  const settle = (amountRaw: bigint) => coder.encode(['address', 'uint256', 'bool'], [first.currencyIn, amountRaw, payer])
  const take = coder.encode(['address', 'address', 'uint256'], [last.currencyOut, to, openDelta])
  const swapAction = exact === 'in' ? actions.swapExactIn : actions.swapExactOut
  const [names, params] =
    exactRaw === undefined
      ? [
          [actions.settle, swapAction, actions.take],
          [settle(wholeBalance), swap, take],
        ]
      : [
          [swapAction, actions.settle, actions.take],
          [swap, settle(openDelta), take],
        ]
  return command('keptSwap', ['bytes', 'bytes[]'], [concat(names), params])
}

/** Tokens and fees in turn, from the last to the first for an exact output: V3Path of @uniswap/universal-router@2.1.0. */
function encodedPath(hops: readonly Hop[], exact: 'in' | 'out'): string {
  const fees = hops.map(({ pool, fee }) => {
    if (fee === undefined) throw new Error(`The route passes ${pool} without its fee.`)
    return parseUnits(fee, 6)
  })
  const tokens = tokensAlong(hops)
  const [inOrder, feesInOrder] = exact === 'in' ? [tokens, fees] : [tokens.toReversed(), fees.toReversed()]
  return solidityPacked(
    ['address', ...fees.flatMap(() => ['uint24', 'address'])],
    inOrder.flatMap((token, index) => (index === 0 ? [token] : [feesInOrder[index - 1], token])),
  )
}

/** Stored in the memos of swaps, so the words must not change. */
const memoSchema = json.object({
  universalRouter: json.string,
  exact: json.literal('in', 'out'),
  parts: json.array(
    json.object({
      /** The exact amount, input or output. */
      amountRaw: json.digits,
      hops: json.array(
        json.object({ kind: json.literal('constant-product', 'range', 'kept'), pool: json.string, isForward: json.boolean }),
      ),
    }),
  ),
})
type SwapMemo = json.Infer<typeof memoSchema>

function memoOf({ swap: { exact } }: Quote, parts: readonly RoutePart[], options: UniversalRouterOptions): Json {
  return {
    universalRouter: options.router,
    exact,
    parts: parts.map(({ route, exactRaw }) => ({
      amountRaw: exactRaw.toString(),
      hops: route.map((hop) => {
        const { currencyIn, currencyOut } = keyed(hop, options)
        return { kind: kindOf(hop, options), pool: hop.pool, isForward: currencyIn.toLowerCase() < currencyOut.toLowerCase() }
      }),
    })),
  }
}

/**
 * What a swap really moved, from the logs of its pools. The router is locked while it works, so every swap of the transaction that names it
 * as its sender is one of ours, in the order of the commands.
 */
function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (!json.is(memoSchema, memo) || memo.parts.length === 0 || status !== 1) return undefined
  let [amountInRaw, amountOutRaw, from] = [0n, 0n, 0]
  for (const { amountRaw, hops } of memo.parts) {
    // The pools of v4 are called from the last to the first for an exact output.
    const isReversed = memo.exact === 'out' && hops[0]?.kind === 'kept'
    const found: Fill[] = []
    for (const hop of isReversed ? hops.toReversed() : hops) {
      const index = logs.findIndex((log, at) => at >= from && swapIn(log, hop, memo.universalRouter) !== undefined)
      const log = logs[index]
      const amounts = log && swapIn(log, hop, memo.universalRouter)
      if (!amounts) return undefined
      found.push(amounts)
      from = index + 1
    }
    const [first, last] = isReversed ? [found.at(-1), found[0]] : [found[0], found.at(-1)]
    if (!first || !last) return undefined
    // A constant-product pool counts what anybody sent to it before as input; the router pays it the exact amount.
    const isPaidExactly = memo.exact === 'in' && hops[0]?.kind === 'constant-product'
    amountInRaw += isPaidExactly ? BigInt(amountRaw) : first.amountInRaw
    amountOutRaw += last.amountOutRaw
  }
  return { amountInRaw, amountOutRaw }
}

const swapTopics = {
  // IUniswapV2Pair of @uniswap/v2-core@1.0.1, IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, IPoolManager of @uniswap/v4-core@1.0.2.
  'constant-product': id('Swap(address,uint256,uint256,uint256,uint256,address)'),
  range: id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  kept: id('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)'),
} as const

/** What a pool took and gave, if the log is of its swap for the router. */
function swapIn(
  { address, topics, data }: EvmLog,
  { kind, pool, isForward }: SwapMemo['parts'][number]['hops'][number],
  router: string,
): Fill | undefined {
  if (topics[0] !== swapTopics[kind] || wordCount(data) < 4) return undefined
  if (kind === 'kept') {
    if (topics[1] !== pool || !isAddressTopic(topics[2], router)) return undefined
    // From the swapper's side: what it pays is below 0.
    const [amount0Raw, amount1Raw] = [toInt256(wordAt(data, 0)), toInt256(wordAt(data, 1))]
    return isForward ? { amountInRaw: -amount0Raw, amountOutRaw: amount1Raw } : { amountInRaw: -amount1Raw, amountOutRaw: amount0Raw }
  }
  if (!isSameAddress(address, pool) || !isAddressTopic(topics[1], router)) return undefined
  if (kind === 'range') {
    const [amount0Raw, amount1Raw] = [toInt256(wordAt(data, 0)), toInt256(wordAt(data, 1))]
    return isForward ? { amountInRaw: amount0Raw, amountOutRaw: -amount1Raw } : { amountInRaw: amount1Raw, amountOutRaw: -amount0Raw }
  }
  return isForward
    ? { amountInRaw: wordAt(data, 0), amountOutRaw: wordAt(data, 3) }
    : { amountInRaw: wordAt(data, 1), amountOutRaw: wordAt(data, 2) }
}
