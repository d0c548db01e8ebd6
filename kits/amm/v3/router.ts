import { parseUnits, solidityPacked, Interface, AbiCoder, dataLength } from 'ethers'
import { type Need, type Plan, type Quote, type SwapTerms, type Hop, SluiceError } from '../../../core/contracts/index.ts'
import type { Evm, CallResult } from '../../evm/types.ts'
import { type Router, boundsOf, partsOf, swapPlan, type RoutePart } from '../index.ts'
import type { Exchange } from './exchange.ts'
import { readFill, memoOf } from './fill.ts'

/** Takes routes through pools of concentrated liquidity, mixed ones where an exact amount goes in, and several of both at once. */
export function v3Router(exchange: Exchange, wrapped: string): Router {
  const { version, router, routerKind, mixedWith, listed } = exchange
  const check = routerCheck(exchange, wrapped)
  const kindOf = (hop: { readonly version: string }): PoolKind => (hop.version === version ? 'range' : 'constant-product')
  const passes = (versions: readonly string[], exact: 'in' | 'out') => {
    const others = versions.filter((each) => each !== version)
    return others.length === 0 || (exact === 'in' && check.mixes() && others.every((each) => each === mixedWith?.version))
  }
  return {
    address: router,
    name: version,
    // Of constant-product pools alone: their own router takes those.
    carries: (versions, exact) => versions.includes(version) && passes(versions, exact),
    // The coin would lie with the router while tokens move. Of two parts that begin with a constant-product pool the fill could not be told.
    splits: (parts, { tokenIn, tokenOut, exact }) =>
      !tokenIn.native &&
      !tokenOut.native &&
      parts.every((versions) => passes(versions, exact)) &&
      parts.filter(([first]) => first !== version).length <= 1,
    plan: (quote, terms) => planSwap(quote, terms, { router, routerKind, kindOf, listed }),
    fill: readFill,
    check: { calls: check.calls, verify: check.verify },
  }
}

/** The router that a plan calls. */
interface RouterContext {
  readonly router: string
  readonly routerKind: RouterKind
  readonly kindOf: (hop: { readonly version: string }) => PoolKind
  readonly listed: ReadonlySet<string>
}

// CONTRACT_BALANCE of SwapRouter02's library Constants: what the leg before has left with the router.
const allThatCame = 0n

/** One call to the router, with the bound and the deadline enforced by it. */
function planSwap(quote: Quote, terms: SwapTerms, by: RouterContext): Plan<Evm> {
  const parts = inCallOrder(partsOf(quote), by)
  return swapPlan(quote, terms, {
    router: by.router,
    data: routerCall(quote, parts, terms, by),
    memo: memoOf(quote, parts, terms.recipient, by),
    needs: quote.swap.tokenIn.native ? takenOnce(quote, by) : [],
  })
}

/** One that begins with a constant-product pool comes last: only there the fill can be told from what a token's own code trades. */
const inCallOrder = (parts: readonly RoutePart[], { kindOf }: RouterContext): readonly RoutePart[] => {
  const beginsWith = (kind: PoolKind) => parts.filter(({ route: [first] }) => first && kindOf(first) === kind)
  return [...beginsWith('range'), ...beginsWith('constant-product')]
}

/**
 * The router pays a first pool of concentrated liquidity when that calls back. By then what it sells has moved, and where the
 * amount out is exact, all that comes after it.
 */
function takenOnce({ swap, route }: Quote, { router, kindOf, listed }: RouterContext): readonly Need[] {
  const [first] = route
  if (!first || kindOf(first) !== 'range') return []
  const moved = swap.exact === 'in' ? [first] : route
  return needsAgainstDoublePayment({ wrapped: first.tokenIn, tokens: moved.map(({ tokenOut }) => tokenOut), spender: router, listed })
}

function routerCall(
  { swap }: Quote,
  parts: readonly RoutePart[],
  { boundRaw, recipient, deadline }: SwapTerms,
  { routerKind, kindOf }: RouterContext,
): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const dialect = routerKinds[routerKind]
  const { functions, selfAddress: itself, deadlineInside } = dialect

  const bounds = boundsOf(parts, boundRaw)
  const legs = parts.map(({ route }) => legsOf(route, kindOf))
  const calls = parts.flatMap(({ exactRaw }, part) => {
    const own = legs[part] ?? []
    return own.map((leg, index) => {
      const isLast = index === own.length - 1
      return legCall(
        leg,
        {
          exact,
          deadline,
          amountRaw: index === 0 ? exactRaw : allThatCame,
          boundRaw: isLast ? (bounds[part] ?? 0n) : 0n,
          recipient: isLast && !tokenOut.native ? recipient : itself,
        },
        dialect,
      )
    })
  })
  if (tokenOut.native) calls.push(functions.encodeFunctionData('unwrapWETH9', [exact === 'in' ? boundRaw : amountRaw, recipient]))
  // What is left of the value: of the most in, or of an exact amount that was more than the pool's liquidity could take.
  if (tokenIn.native && (exact === 'out' || legs[0]?.[0]?.kind === 'range')) calls.push(functions.encodeFunctionData('refundETH'))

  if (!deadlineInside) return functions.encodeFunctionData('multicall', [deadline, calls])
  const [only, ...others] = calls
  return only !== undefined && others.length === 0 ? only : functions.encodeFunctionData('multicall', [calls])
}

interface CoinPayment {
  readonly wrapped: string
  /** That move in the same call. */
  readonly tokens: readonly string[]
  readonly spender: string
  readonly listed: ReadonlySet<string>
}

/**
 * What keeps a contract from taking the coin twice. A token's code runs while it is moved, and anybody may have the
 * contract give back what coin it holds (PeripheryPayments.refundETH of @uniswap/v3-periphery@1.4.4): to pay a pool then, it
 * takes the wrapped coin from the wallet, if it may. Tokens on the network's list are trusted not to.
 */
export function needsAgainstDoublePayment({ wrapped, tokens, spender, listed }: CoinPayment): readonly Need[] {
  const strange = tokens.some((token) => token !== wrapped && !listed.has(token))
  return strange ? [{ is: 'allowance-at-most', token: wrapped, spender, amountRaw: 0n }] : []
}

export type PoolKind = 'range' | 'constant-product'

/** Hops in a row that one call to the router carries out. */
interface Leg {
  readonly kind: PoolKind
  readonly hops: readonly Hop[]
}

/** A route cut where the kind of pool changes. */
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

function tokensAlong(hops: readonly Hop[]): readonly string[] {
  return [...hops.slice(0, 1).map(({ tokenIn }) => tokenIn), ...hops.map(({ tokenOut }) => tokenOut)]
}

/** What a leg is to do. */
interface LegTerms {
  readonly exact: 'in' | 'out'
  /** In or out, as `exact` says; 0 of an exact amount in stands for all that the router has. */
  readonly amountRaw: bigint
  /** The least out, or the most in. */
  readonly boundRaw: bigint
  readonly recipient: string
  readonly deadline: number
}

// The price may go wherever the amounts lead: bounds are on amounts.
const noPriceLimit = 0n

/** The router's call for a leg. */
function legCall({ kind, hops }: Leg, terms: LegTerms, { functions, deadlineInside }: RouterDialect): string {
  const { exact, amountRaw, boundRaw, recipient, deadline } = terms
  if (kind === 'constant-product')
    return functions.encodeFunctionData('swapExactTokensForTokens', [amountRaw, boundRaw, tokensAlong(hops), recipient])
  const method = exact === 'in' ? 'exactInput' : 'exactOutput'
  const rest = [recipient, ...(deadlineInside ? [deadline] : []), amountRaw, boundRaw]
  const [first, ...others] = hops
  if (first && others.length === 0) {
    const { tokenIn, tokenOut } = first
    return functions.encodeFunctionData(`${method}Single`, [[tokenIn, tokenOut, feeOf(first), ...rest, noPriceLimit]])
  }
  return functions.encodeFunctionData(method, [[pathOf(hops, exact), ...rest]])
}

/** Tokens and fees in turn; from the last to the first where the amount out is exact: library Path of @uniswap/v3-periphery. */
function pathOf(hops: readonly Hop[], exact: 'in' | 'out'): string {
  const inOrder = (tokens: readonly string[], fees: readonly bigint[]) =>
    solidityPacked(
      ['address', ...fees.flatMap(() => ['uint24', 'address'])],
      tokens.flatMap((token, index) => (index === 0 ? [token] : [fees[index - 1], token])),
    )
  const [tokens, fees] = [tokensAlong(hops), hops.map(feeOf)]
  return exact === 'in' ? inOrder(tokens, fees) : inOrder(tokens.toReversed(), fees.toReversed())
}

/** "0.003" → 3000: hundredths of a basis point. */
function feeOf({ pool, fee }: Hop): bigint {
  if (fee === undefined) throw new Error(`The route passes ${pool} without its fee.`)
  return parseUnits(fee, 6)
}

/** SwapRouter is of @uniswap/v3-periphery@1.4.4, SwapRouter02 of @uniswap/swap-router-contracts@1.3.1. */
export type RouterKind = 'SwapRouter' | 'SwapRouter02'

/** What differs between the routers. */
interface RouterDialect {
  readonly functions: Interface
  /** Stands for the router itself as a recipient. */
  readonly selfAddress: string
  /** A swap's arguments carry the deadline; else it is said once, around all calls. */
  readonly deadlineInside: boolean
  /** Takes routes that pass constant-product pools too. */
  readonly mixes: boolean
}

const functionsOf = (deadline: string) => [
  `function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)`,
  `function exactInput((bytes path, address recipient, ${deadline}uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)`,
  `function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountIn)`,
  `function exactOutput((bytes path, address recipient, ${deadline}uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)`,
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function refundETH() payable',
  'function factory() view returns (address)',
  'function WETH9() view returns (address)',
]

export const routerKinds: Readonly<Record<RouterKind, RouterDialect>> = {
  SwapRouter: {
    functions: new Interface([...functionsOf('uint256 deadline, '), 'function multicall(bytes[] data) payable returns (bytes[] results)']),
    selfAddress: '0x0000000000000000000000000000000000000000',
    deadlineInside: true,
    mixes: false,
  },
  SwapRouter02: {
    functions: new Interface([
      ...functionsOf(''),
      'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
      'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to) payable returns (uint256 amountOut)',
      'function factoryV2() view returns (address)',
    ]),
    // ADDRESS_THIS of its library Constants.
    selfAddress: '0x0000000000000000000000000000000000000002',
    deadlineInside: false,
    mixes: true,
  },
}

/**
 * Asks the configured router whose pools it trades with. An address of another exchange in the configuration would give the
 * prices of one and the trades of the other. Constant-product pools of another factory are no mistake: some networks had the
 * router before the exchange had such pools there. Then routes are not mixed.
 */
function routerCheck({ router, routerKind, factory, mixedWith }: Exchange, wrapped: string) {
  const { functions } = routerKinds[routerKind]
  const required = [
    { name: 'factory', expected: factory },
    { name: 'WETH9', expected: wrapped },
  ]
  const names = [...required.map(({ name }) => name), ...(mixedWith ? ['factoryV2'] : [])]
  let mixes = mixedWith !== undefined

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { name, expected }] of required.entries()) {
      const found = addressIn(answers[index])
      if (found && same(found, expected)) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured router ${router} is not this exchange's on this network: its ${name}() is ${found ?? 'nothing'}, not ${expected}. Correct contractAddresses in the connector's configuration.`,
      )
    }
    const factoryV2 = addressIn(answers[required.length])
    mixes = mixedWith !== undefined && factoryV2 !== undefined && same(factoryV2, mixedWith.factory)
  }
  return { calls: names.map((name) => ({ to: router, data: functions.encodeFunctionData(name) })), verify, mixes: () => mixes }
}

/** Undefined where it is no address: a call to an address without code succeeds and returns nothing. */
function addressIn(answer: CallResult | undefined): string | undefined {
  return answer?.ok && dataLength(answer.data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : undefined
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
