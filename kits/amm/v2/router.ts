import { id, Interface, AbiCoder, dataLength } from 'ethers'
import { type Plan, type Quote, type SwapTerms, type Fill, type Json, SluiceError } from '../../../core/contracts/index.ts'
import type { EvmReader, Evm, EvmLog, EvmReceipt, Call, CallResult } from '../../evm/types.ts'
import { type Router, swapPlan } from '../index.ts'
import type { Exchange } from './exchange.ts'

/** UniswapV2Router02, and those that forks made of it. */
export function v2Router(exchange: Exchange, reader: EvmReader): Router {
  const { version, router, abi } = exchange
  return {
    address: router,
    name: version,
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, abi),
    fill: readFill,
    check: routerCheck(exchange, reader),
  }
}

/** One call to the router, with the bound and the deadline enforced by it. */
const planSwap = (quote: Quote, terms: SwapTerms, abi: RouterAbi): Plan<Evm> =>
  swapPlan(quote, terms, { router: quote.spender, data: routerCall(quote, terms, abi), memo: memoOf(quote, terms.recipient) })

function routerCall({ swap, route }: Quote, { boundRaw, recipient, deadline }: SwapTerms, { functions, coin }: RouterAbi): string {
  const path = [...route.slice(0, 1).map((hop) => hop.tokenIn), ...route.map((hop) => hop.tokenOut)]
  const rest = [path, recipient, deadline]
  const from = swap.tokenIn.native ? coin : 'Tokens'
  const to = swap.tokenOut.native ? coin : 'Tokens'
  const amounts = [swap.amountRaw, boundRaw]
  if (swap.exact === 'in') {
    // The value is the exact amount, so it is not passed.
    return functions.encodeFunctionData(`swapExact${from}For${to}`, [...(swap.tokenIn.native ? [boundRaw] : amounts), ...rest])
  }
  // The value is the bound, and the router gives back what it does not use.
  return functions.encodeFunctionData(`swap${from}ForExact${to}`, [...(swap.tokenIn.native ? [swap.amountRaw] : amounts), ...rest])
}

const transferTopic = id('Transfer(address,address,uint256)')
const swapTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/**
 * What a swap really moved, from the receipt's logs: what the trader paid to the first pool and what the last pool paid
 * out. Undefined where the receipt shows no such swap.
 */
export function readFill(receipt: EvmReceipt, memo: Json): Fill | undefined {
  const swap = parseMemo(memo)
  if (!swap || receipt.status !== 1) return undefined
  const { logs, from } = receipt
  const { router, recipient, nativeIn, nativeOut, hops } = swap
  const [first, last] = [hops.at(0), hops.at(-1)]
  if (!first || !last) return undefined

  const payee = nativeOut ? router : recipient
  // Pairs log a swap when it is done, so one that a token's own code makes in between stands before ours: hence from the
  // end, and from a hop to the one before it.
  let before = logs.length
  let lastSwap: number | undefined
  for (const [index, { pool }] of [...hops.entries()].toReversed()) {
    const to = hops[index + 1]?.pool ?? payee
    before = lastIndexBefore(logs, before, (log) => isSwap(log, pool, router, to))
    if (before < 0) return undefined
    lastSwap ??= before
  }

  const paid = lastIndexBefore(logs, before, (log) => isTransfer(log, first.tokenIn, nativeIn ? router : from, first.pool))
  const got = lastIndexBefore(logs, lastSwap ?? 0, (log) => isTransfer(log, last.tokenOut, last.pool, payee))
  const [amountInRaw, amountOutRaw] = [amountOf(logs[paid]), amountOf(logs[got])]
  return amountInRaw !== undefined && amountOutRaw !== undefined ? { amountInRaw, amountOutRaw } : undefined
}

function lastIndexBefore(logs: readonly EvmLog[], end: number, matches: (log: EvmLog) => boolean): number {
  return logs.slice(0, end).findLastIndex(matches)
}

function isSwap({ address, topics: [topic, sender, to] }: EvmLog, pool: string, router: string, payee: string): boolean {
  return topic === swapTopic && same(address, pool) && isTopic(sender, router) && isTopic(to, payee)
}

function isTransfer({ address, topics: [topic, from, to] }: EvmLog, token: string, payer: string, payee: string): boolean {
  return topic === transferTopic && same(address, token) && isTopic(from, payer) && isTopic(to, payee)
}

const word = /^0x[0-9a-f]{64}$/i
const amountOf = (log: EvmLog | undefined) => (log && word.test(log.data) ? BigInt(log.data) : undefined)

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** An address stands in a topic as a word. */
const isTopic = (topic: string | undefined, address: string) => topic !== undefined && same(`0x${topic.slice(-40)}`, address)

/** What `fill` needs to find a swap in a receipt. All are addresses. */
interface SwapMemo {
  readonly router: string
  readonly recipient: string
  /** The coin went in: the router, not the wallet, pays the first pool. */
  readonly nativeIn: boolean
  /** The coin came out: the last pool pays the router, which unwraps. */
  readonly nativeOut: boolean
  readonly hops: readonly MemoHop[]
}

interface MemoHop {
  readonly pool: string
  readonly tokenIn: string
  readonly tokenOut: string
}

function memoOf({ swap, route, spender }: Quote, recipient: string): Json {
  return {
    router: spender,
    recipient,
    nativeIn: swap.tokenIn.native === true,
    nativeOut: swap.tokenOut.native === true,
    hops: route.map(({ pool, tokenIn, tokenOut }) => ({ pool, tokenIn, tokenOut })),
  }
}

/** Undefined where it is no memo of a swap. */
function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { router, recipient, nativeIn, nativeOut, hops } = memo
  if (typeof router !== 'string' || typeof recipient !== 'string' || !Array.isArray(hops)) return undefined
  if (typeof nativeIn !== 'boolean' || typeof nativeOut !== 'boolean') return undefined
  const parsed = hops.map(parseHop)
  return parsed.every((hop) => hop !== undefined) ? { router, recipient, nativeIn, nativeOut, hops: parsed } : undefined
}

function parseHop(hop: Json): MemoHop | undefined {
  if (!isObject(hop)) return undefined
  const { pool, tokenIn, tokenOut } = hop
  return typeof pool === 'string' && typeof tokenIn === 'string' && typeof tokenOut === 'string' ? { pool, tokenIn, tokenOut } : undefined
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The router's functions. Forks on chains with another coin call theirs after it: `swapExactAVAXForTokens`, `WAVAX`.
 * @param coin as it stands in the names of the router's functions
 */
export function routerAbi(coin: string) {
  const rest = 'address[] path, address to, uint256 deadline'
  const tokens = 'returns (uint256[] amounts)'
  return {
    coin,
    functions: new Interface([
      `function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, ${rest}) ${tokens}`,
      `function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, ${rest}) ${tokens}`,
      `function swapExact${coin}ForTokens(uint256 amountOutMin, ${rest}) payable ${tokens}`,
      `function swapTokensForExact${coin}(uint256 amountOut, uint256 amountInMax, ${rest}) ${tokens}`,
      `function swapExactTokensFor${coin}(uint256 amountIn, uint256 amountOutMin, ${rest}) ${tokens}`,
      `function swap${coin}ForExactTokens(uint256 amountOut, ${rest}) payable ${tokens}`,
      'function factory() view returns (address)',
      `function W${coin}() view returns (address)`,
    ]),
  }
}

export type RouterAbi = ReturnType<typeof routerAbi>

/**
 * Asks the configured router which factory it trades with, and compares with the pairs that we would read: an address of
 * another exchange in the configuration would otherwise give the prices of one and the trades of the other.
 */
function routerCheck(exchange: Exchange, reader: EvmReader) {
  const { router, factory, abi } = exchange
  const questions = [
    { name: 'factory', expected: factory },
    { name: `W${abi.coin}`, expected: reader.wrapped.address },
  ]
  const calls: readonly Call[] = questions.map(({ name }) => ({ to: router, data: abi.functions.encodeFunctionData(name) }))

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { name, expected }] of questions.entries()) {
      const answer = answers[index]
      const found =
        answer?.ok && dataLength(answer.data) === 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : 'nothing'
      if (found.toLowerCase() === expected.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured router ${router} is not this exchange's on this network: its ${name}() is ${found}, not ${expected}. Correct contractAddresses in the connector's configuration.`,
      )
    }
  }
  return { calls, verify }
}
