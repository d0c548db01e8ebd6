import type { Fill, Json } from '../../../core/contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../evm/types.ts'
import { parseMemo, type MemoHop, type MemoPart, type SwapMemo } from '../../../core/kits/uniswap-v3/router/memo.ts'
import { swapIn, type Swapped } from '../../../core/kits/uniswap-v3/router/swap-logs.ts'

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

interface Found extends Swapped {
  readonly index: number
}

/**
 * The logs of our own swaps in one part, in the route's order; `logs` are those behind the part before. A token's code runs while it is
 * moved, and may trade in the very same pools through the same router. A pool is locked from before it moves anything until it has logged
 * its swap, so no such log of it stands in between; how the router goes about it says on which side of ours others can stand.
 */
function swapsOf(logs: readonly EvmLog[], { router, exact }: SwapMemo, { hops }: MemoPart): readonly Found[] | undefined {
  const matches = (hop: MemoHop) => (log: EvmLog) => swapIn(log, hop, router)
  // The last pool is locked first, and the others log one after another right before it.
  if (exact === 'out') return backward(logs, hops.map(matches), 'first')
  // The first pool is locked before anything moves, each next one when the one before has logged.
  if (hops[0]?.kind === 'range') return forward(logs, hops.map(matches))
  // The router pays the first pool before it is locked: others may stand before. None stands behind: such a part is the last.
  return backward(logs, hops.map(matches), 'last')
}

type Read = (log: EvmLog) => Swapped | undefined

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
