import type { Fill, Json } from '../../../contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../evm/types.ts'
import { parseMemo, type MemoHop, type SwapMemo } from './memo.ts'
import { swapIn, type Swapped } from './swap-logs.ts'

/** What a swap really moved, from the logs of its pools. Undefined where the receipt shows no such swap. */
export function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  const swap = parseMemo(memo)
  if (!swap || status !== 1) return undefined
  const found = swapsOf(logs, swap)
  const [first, last] = [found?.at(0), found?.at(-1)]
  if (!first || !last) return undefined
  // A constant-product pool counts in what somebody gave to it before; the router pays it the exact amount.
  const amountInRaw = swap.hops[0]?.kind === 'constant-product' ? swap.amountRaw : first.amountInRaw
  return { amountInRaw, amountOutRaw: last.amountOutRaw }
}

/**
 * The logs of our own swaps, in the route's order. A token's code runs while it is moved, and may trade in the very same
 * pools through the same router. A pool is locked from before it moves anything until it has logged its swap, so no such
 * log of it stands in between; how the router goes about it says on which side of ours others can stand.
 */
function swapsOf(logs: readonly EvmLog[], { router, exact, hops }: SwapMemo): readonly Swapped[] | undefined {
  const matches = (hop: MemoHop) => (log: EvmLog) => swapIn(log, hop, router)
  // The last pool is locked first, and the others log one after another right before it.
  if (exact === 'out') return backward(logs, hops.map(matches), 'first')
  // The first pool is locked before anything moves, each next one when the one before has logged.
  if (hops[0]?.kind === 'range') return forward(logs, hops.map(matches))
  // The router pays the first pool before it is locked: others may stand before.
  return backward(logs, hops.map(matches), 'last')
}

type Read = (log: EvmLog) => Swapped | undefined

/** From the first hop on, each the first match after the one before. */
function forward(logs: readonly EvmLog[], hops: readonly Read[]): readonly Swapped[] | undefined {
  let from = 0
  const found: Swapped[] = []
  for (const read of hops) {
    const index = logs.findIndex((log, place) => place >= from && read(log) !== undefined)
    const log = logs[index]
    const swapped = log && read(log)
    if (!swapped) return undefined
    found.push(swapped)
    from = index + 1
  }
  return found
}

/** From the last hop on, each the last match before the one after it; of the last hop, the first or the last match of all. */
function backward(logs: readonly EvmLog[], hops: readonly Read[], which: 'first' | 'last'): readonly Swapped[] | undefined {
  let before = logs.length
  const found: Swapped[] = []
  for (const [index, read] of [...hops.entries()].toReversed()) {
    const isEnd = index === hops.length - 1
    const matches = (log: EvmLog) => read(log) !== undefined
    before = isEnd && which === 'first' ? logs.findIndex(matches) : logs.slice(0, before).findLastIndex(matches)
    const log = logs[before]
    const swapped = log && read(log)
    if (!swapped) return undefined
    found.unshift(swapped)
  }
  return found
}
