import { id } from 'ethers'
import type { Fill, Json, Hop, Quote } from '../../../core/contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../evm/types.ts'
import type { RoutePart } from '../index.ts'
import type { PoolKind } from './router.ts'

/** What a swap really moved, from the logs of its pools. Undefined where the receipt shows no such swap. */
export function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  const swap = parseMemo(memo)
  if (!swap || swap.parts.length === 0 || status !== 1) return undefined
  let [amountInRaw, amountOutRaw, from] = [0n, 0n, 0]
  for (const part of swap.parts) {
    const found = swapsOf(logs.slice(from), swap, part)
    const [first, last] = [found?.at(0), found?.at(-1)]
    if (!first || !last) return undefined
    // A constant-product pool counts in what somebody gave to it before; the router pays it the exact amount.
    amountInRaw += part.hops[0]?.kind === 'constant-product' ? part.amountRaw : first.amountInRaw
    amountOutRaw += last.amountOutRaw
    // The pool of the last hop is the last to log, and then the next part begins at once.
    from += last.index + 1
  }
  return { amountInRaw, amountOutRaw }
}

interface Found extends SwapAmounts {
  readonly index: number
}

/**
 * The logs of our own swaps in one part, in the route's order; `logs` are those behind the part before. A token's code runs while it is
 * moved, and may trade in the very same pools through the same router. A pool is locked from before it moves anything until it has logged
 * its swap, so no such log of it stands in between; how the router goes about it says on which side of ours others can stand.
 */
function swapsOf(logs: readonly EvmLog[], { router, exact }: SwapMemo, { hops }: MemoPart): readonly Found[] | undefined {
  const matches = (hop: MemoHop) => (log: EvmLog) => readSwapLog(log, hop, router)
  // The last pool is locked first, and the others log one after another right before it.
  if (exact === 'out') return backward(logs, hops.map(matches), 'first')
  // The first pool is locked before anything moves, each next one when the one before has logged.
  if (hops[0]?.kind === 'range') return forward(logs, hops.map(matches))
  // The router pays the first pool before it is locked: others may stand before. None stands behind: such a part is the last.
  return backward(logs, hops.map(matches), 'last')
}

type Read = (log: EvmLog) => SwapAmounts | undefined

/** From the first hop on, each the first match after the one before. */
function forward(logs: readonly EvmLog[], hops: readonly Read[]): readonly Found[] | undefined {
  let from = 0
  const found: Found[] = []
  for (const read of hops) {
    const index = logs.findIndex((log, place) => place >= from && read(log) !== undefined)
    const log = logs[index]
    const swapped = log && read(log)
    if (!swapped) return undefined
    found.push({ ...swapped, index })
    from = index + 1
  }
  return found
}

/** From the last hop on, each the last match before the one after it; of the last hop, the first or the last match of all. */
function backward(logs: readonly EvmLog[], hops: readonly Read[], which: 'first' | 'last'): readonly Found[] | undefined {
  let before = logs.length
  const found: Found[] = []
  for (const [place, read] of [...hops.entries()].toReversed()) {
    const isEnd = place === hops.length - 1
    const matches = (log: EvmLog) => read(log) !== undefined
    before = isEnd && which === 'first' ? logs.findIndex(matches) : logs.slice(0, before).findLastIndex(matches)
    const log = logs[before]
    const swapped = log && read(log)
    if (!swapped) return undefined
    found.unshift({ ...swapped, index: before })
  }
  return found
}

/** What `fill` needs to find a swap in a receipt. */
interface SwapMemo {
  readonly router: string
  readonly exact: 'in' | 'out'
  /** In the order in which they are called. */
  readonly parts: readonly MemoPart[]
}

interface MemoPart {
  /** The exact amount. */
  readonly amountRaw: bigint
  readonly hops: readonly MemoHop[]
}

/** All but `kind` are addresses. */
interface MemoHop {
  readonly kind: PoolKind
  readonly pool: string
  readonly tokenIn: string
  readonly tokenOut: string
  /** Whom the pool pays. */
  readonly to: string
}

/** A swap of one part is written without them, as it was before there were others. */
export function memoOf(
  { swap }: Quote,
  parts: readonly RoutePart[],
  recipient: string,
  { router, kindOf }: { router: string; kindOf: (hop: Hop) => PoolKind },
): Json {
  const { exact, tokenOut } = swap
  const written = parts.map(({ route, exactRaw }) => ({
    amountRaw: exactRaw.toString(),
    hops: route.map((hop, index) => {
      const { pool, tokenIn, tokenOut: token } = hop
      const next = route[index + 1]
      // Constant-product pools pay each other, and so do all where the amount out is exact: the last one is swapped first.
      const paysNext = exact === 'out' || (next && kindOf(hop) === 'constant-product' && kindOf(next) === 'constant-product')
      const to = next ? (paysNext ? next.pool : router) : tokenOut.native ? router : recipient
      return { kind: kindOf(hop), pool, tokenIn, tokenOut: token, to }
    }),
  }))
  const [only, ...others] = written
  return others.length === 0 ? { router, exact, ...only } : { router, exact, parts: written }
}

/** Undefined where it is no memo of such a swap. */
export function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { router, exact, parts = [memo] } = memo
  if (typeof router !== 'string' || (exact !== 'in' && exact !== 'out') || !Array.isArray(parts)) return undefined
  const parsed = parts.map(parsePart)
  return parsed.every((part) => part !== undefined) ? { router, exact, parts: parsed } : undefined
}

function parsePart(part: Json): MemoPart | undefined {
  if (!isObject(part)) return undefined
  const { amountRaw, hops } = part
  if (typeof amountRaw !== 'string' || !/^\d+$/.test(amountRaw) || !Array.isArray(hops)) return undefined
  const parsed = hops.map(parseHop)
  return parsed.every((hop) => hop !== undefined) ? { amountRaw: BigInt(amountRaw), hops: parsed } : undefined
}

function parseHop(hop: Json): MemoHop | undefined {
  if (!isObject(hop)) return undefined
  const { kind, pool, tokenIn, tokenOut, to } = hop
  if (kind !== 'range' && kind !== 'constant-product') return undefined
  if (typeof pool !== 'string' || typeof tokenIn !== 'string' || typeof tokenOut !== 'string' || typeof to !== 'string') return undefined
  return { kind, pool, tokenIn, tokenOut, to }
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a pool took and gave in one swap. */
interface SwapAmounts {
  readonly amountInRaw: bigint
  readonly amountOutRaw: bigint
}

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, and that of PancakeSwap, which has two more fields at its end.
const rangeTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
]
// IUniswapV2Pair of @uniswap/v2-core@1.0.1.
const constantProductTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/** The pool's log of a swap that the router made of it on the memo's way; undefined for any other log. */
function readSwapLog({ address, topics: [topic, sender, to], data }: EvmLog, hop: MemoHop, router: string): SwapAmounts | undefined {
  if (!same(address, hop.pool) || !isTopic(sender, router) || !isTopic(to, hop.to)) return undefined
  const forward = hop.tokenIn.toLowerCase() < hop.tokenOut.toLowerCase()
  if (hop.kind === 'range') {
    if (topic === undefined || !rangeTopics.includes(topic)) return undefined
    const [amount0Raw, amount1Raw] = [signed(word(data, 0)), signed(word(data, 1))]
    if (amount0Raw === undefined || amount1Raw === undefined) return undefined
    // As the pool sees it: more than 0 came in.
    return forward ? { amountInRaw: amount0Raw, amountOutRaw: -amount1Raw } : { amountInRaw: amount1Raw, amountOutRaw: -amount0Raw }
  }
  if (topic !== constantProductTopic) return undefined
  const [amountInRaw, amountOutRaw] = forward ? [word(data, 0), word(data, 3)] : [word(data, 1), word(data, 2)]
  return amountInRaw === undefined || amountOutRaw === undefined ? undefined : { amountInRaw, amountOutRaw }
}

function word(data: string, index: number): bigint | undefined {
  const digits = data.slice(2 + 64 * index, 66 + 64 * index)
  return /^[0-9a-f]{64}$/i.test(digits) ? BigInt(`0x${digits}`) : undefined
}

const signed = (value: bigint | undefined) => (value === undefined ? undefined : BigInt.asIntN(256, value))

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** An address stands in a topic as a word. */
const isTopic = (topic: string | undefined, address: string) => topic !== undefined && same(`0x${topic.slice(-40)}`, address)
