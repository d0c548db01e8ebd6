import { type Interface, id } from 'ethers'
import type { Fill, Json, Plan, Quote, SwapTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isAddressTopic, isSameAddress, isTransfer, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { requireAddresses } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { tokensAlong } from '../../pools/route-parts.ts'
import { swapPlan } from '../swap-plan.ts'

interface RouterOptions {
  /** Of the pools that it trades with: "v2". */
  readonly version: string
  readonly address: string
  readonly factory: string
  /** The address of the wrapped coin. */
  readonly wrapped: string
  /** As it stands in the names of the router's functions: "ETH". */
  readonly coin: string
}

/** UniswapV2Router02. Forks name their routers after themselves: "PancakeRouter: …". */
const slippageReasons = ['Router: INSUFFICIENT_OUTPUT_AMOUNT', 'Router: EXCESSIVE_INPUT_AMOUNT']

/** UniswapV2Router02 and its forks. */
export function v2Router({ version, address, factory, wrapped, coin }: RouterOptions): Router {
  const abi = routerAbi(coin)
  const contract = `The configured router ${address}`
  const expected = [
    { contract, view: 'factory()', address: factory },
    { contract, view: `W${coin}()`, address: wrapped },
  ]
  return {
    address,
    name: version,
    slippageReasons,
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, { abi, coin }),
    fill: readFill,
    check: {
      get calls() {
        return ['factory', `W${coin}`].map((view) => ({ to: address, data: abi.encodeFunctionData(view) }))
      },
      verify: (answers) => requireAddresses(expected, answers),
    },
  }
}

/** By the coin: to parse one takes longer than the rest of a connector, and most networks have the same. */
const abis = new Map<string, Interface>()

/** The router's functions. Forks on chains with another coin name theirs after it: `swapExactAVAXForTokens`, `WAVAX`. */
function routerAbi(coin: string): Interface {
  const known = abis.get(coin)
  if (known) return known
  const rest = 'address[] path, address to, uint256 deadline'
  const amounts = 'returns (uint256[] amounts)'
  const abi = abiOf([
    `function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, ${rest}) ${amounts}`,
    `function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, ${rest}) ${amounts}`,
    `function swapExact${coin}ForTokens(uint256 amountOutMin, ${rest}) payable ${amounts}`,
    `function swapTokensForExact${coin}(uint256 amountOut, uint256 amountInMax, ${rest}) ${amounts}`,
    `function swapExactTokensFor${coin}(uint256 amountIn, uint256 amountOutMin, ${rest}) ${amounts}`,
    `function swap${coin}ForExactTokens(uint256 amountOut, ${rest}) payable ${amounts}`,
    'function factory() view returns (address)',
    `function W${coin}() view returns (address)`,
  ])
  abis.set(coin, abi)
  return abi
}

/**
 * Beyond an estimate that was made in the second of a pair's last change: the first change in a later one writes both of its sums of prices
 * (`_update` of UniswapV2Pair), into slots that are empty in a new pair. 22,100 each (https://eips.ethereum.org/EIPS/eip-2929).
 */
export const priceSumsGas = 44_200n

/** One call to the router, which enforces the bound and the deadline. */
function planSwap(quote: Quote, { boundRaw, recipient, deadline }: SwapTerms, { abi, coin }: { abi: Interface; coin: string }): Plan<Evm> {
  const { swap, route, spender } = quote
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const path = tokensAlong(route)
  const [from, to] = [tokenIn, tokenOut].map(({ native }) => (native ? coin : 'Tokens'))
  const method = exact === 'in' ? `swapExact${from}For${to}` : `swap${from}ForExact${to}`
  // A native coin goes in as the call's value: the exact amount, or the bound, of which the router returns the rest.
  const amounts = tokenIn.native ? [exact === 'in' ? boundRaw : amountRaw] : [amountRaw, boundRaw]
  const data = abi.encodeFunctionData(method, [...amounts, path, recipient, deadline])
  return swapPlan(
    quote,
    { boundRaw, recipient, deadline },
    { router: spender, data, memo: pairMemoOf(quote, recipient), spareGas: BigInt(route.length) * priceSumsGas },
  )
}

/** For a route through pairs alone, by any router that pays them as this one does: the first from the wallet, or what it wrapped itself. */
export function pairMemoOf({ spender, swap: { tokenIn, tokenOut }, route }: Quote, recipient: string): Json {
  const memo: SwapMemo = {
    router: spender,
    recipient,
    nativeIn: tokenIn.native === true,
    nativeOut: tokenOut.native === true,
    hops: route.map((hop) => ({ pool: hop.pool, tokenIn: hop.tokenIn, tokenOut: hop.tokenOut })),
  }
  return memo
}

/** What `fill` needs to find a swap in a receipt. All strings are addresses. */
const swapMemo = json.object({
  router: json.string,
  recipient: json.string,
  /** The coin went in: the router, not the wallet, pays the first pool. */
  nativeIn: json.boolean,
  /** The coin came out: the last pool pays the router, which unwraps. */
  nativeOut: json.boolean,
  hops: json.array(json.object({ pool: json.string, tokenIn: json.string, tokenOut: json.string })),
})
type SwapMemo = json.Infer<typeof swapMemo>

const swapTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/**
 * What a swap really moved, from the receipt's logs: what the trader paid to the first pool and what the last pool paid out. Undefined
 * where the receipt shows no such swap.
 */
export function readFill({ status, logs, from }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || !json.is(swapMemo, memo)) return undefined
  const { router, recipient, nativeIn, nativeOut, hops } = memo
  const [first, last] = [hops.at(0), hops.at(-1)]
  if (!first || !last) return undefined

  const payee = nativeOut ? router : recipient
  // Pairs log a swap when it is done, so a swap that a token's own code makes in between is logged before ours. So the search goes backward
  // from the last log, and from each hop to the one before it.
  let before = logs.length
  let lastSwap: number | undefined
  for (const [index, { pool }] of [...hops.entries()].toReversed()) {
    const to = hops[index + 1]?.pool ?? payee
    before = lastIndexBefore(logs, before, (log) => isSwap(log, pool, router, to))
    if (before < 0) return undefined
    lastSwap ??= before
  }

  const paid = lastIndexBefore(logs, before, (log) => isTransfer(log, first.tokenIn, nativeIn ? router : from, first.pool))
  const received = lastIndexBefore(logs, lastSwap ?? 0, (log) => isTransfer(log, last.tokenOut, last.pool, payee))
  const [amountInRaw, amountOutRaw] = [transferredRaw(logs[paid]), transferredRaw(logs[received])]
  return amountInRaw !== undefined && amountOutRaw !== undefined ? { amountInRaw, amountOutRaw } : undefined
}

function lastIndexBefore(logs: readonly EvmLog[], end: number, matches: (log: EvmLog) => boolean): number {
  return logs.slice(0, end).findLastIndex(matches)
}

function isSwap({ address, topics: [topic, sender, to] }: EvmLog, pool: string, router: string, payee: string): boolean {
  return topic === swapTopic && isSameAddress(address, pool) && isAddressTopic(sender, router) && isAddressTopic(to, payee)
}

const transferredRaw = (log: EvmLog | undefined) => (log && wordCount(log.data) === 1 ? wordAt(log.data, 0) : undefined)
