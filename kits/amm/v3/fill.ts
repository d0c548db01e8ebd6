import { id } from 'ethers'
import type { Fill, Hop, Json, Quote } from '../../../core/contracts/index.ts'
import * as json from '../../../core/json.ts'
import { isAddressTopic, isSameAddress, toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import type { EvmLog, EvmReceipt } from '../../evm/types.ts'
import type { RoutePart } from '../swap-plan.ts'

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
export type PoolKind = json.Infer<typeof poolKind>

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
export function swapMemoOf(
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
interface SwapAmounts {
  readonly amountInRaw: bigint
  readonly amountOutRaw: bigint
}

interface FoundSwap extends SwapAmounts {
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

type SwapReader = (log: EvmLog) => SwapAmounts | undefined

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

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, and PancakeSwap's, which has two more fields at its end.
const rangeTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
]
// IUniswapV2Pair of @uniswap/v2-core@1.0.1.
const constantProductTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/** The pool's log of the router's swap at this hop; undefined for any other log. */
function readSwapLog({ address, topics: [topic, sender, to], data }: EvmLog, hop: MemoHop, router: string): SwapAmounts | undefined {
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
