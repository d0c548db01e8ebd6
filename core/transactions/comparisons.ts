// What is to be done with mined transactions at first sight, and certainly before they are final, so that a restart in between loses nothing: those of plugins that are
// not built in are held against what their plans were allowed to do, by the chain's receipt alone, and what limits are settled by is read.
import { withTimeout } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import { heldAsMined, isFinal, landedId, txHashOf, type Entry } from './entry.ts'
import { dropOldest } from '../base/oldest.ts'

/**
 * Undefined: there is nothing to compare. What it returns reports what it finds before it resolves, and rejects where it cannot tell yet.
 */
export type MinedComparison = (entry: Entry) => (() => Promise<void>) | undefined

export interface Comparisons {
  /** Compares those that are new among these, or in another block, and tries again what failed. Settles after a moment at the latest. */
  begin(entries: readonly Entry[]): Promise<void>
  /** The entry; as MINED while it is not compared yet. */
  settle(before: Entry, after: Entry): Entry
}

interface Comparison {
  /** Of a block: after a reorganisation it is compared again. */
  readonly id: string
  state: 'comparing' | 'failed' | 'done'
  /** Since when it alone keeps the entry from being final. */
  heldSince?: number
}

/** For those that need nothing but the receipt and the store. */
const inlineMs = 250
/** After this time a transaction is final all the same: a node without old balances must not keep a nonce. */
const maxHeldMs = 30_000
const maxComparisons = 10_000

export function createComparisons(compare: MinedComparison, { log, steadyMs }: { log: Log; steadyMs: () => number }): Comparisons {
  const comparisons = new Map<string, Comparison>()

  function start(entry: Entry, before: Comparison | undefined): Promise<void> | undefined {
    const work = compare(entry)
    if (!work) return undefined
    const comparison: Comparison = { ...before, id: landedId(entry), state: 'comparing' }
    comparisons.delete(entry.key)
    comparisons.set(entry.key, comparison)
    dropOldest(comparisons, maxComparisons)
    return work().then(
      () => void (comparison.state = 'done'),
      () => void (comparison.state = 'failed'),
    )
  }

  return {
    async begin(entries) {
      const started = entries.filter(isCompared).flatMap((entry) => {
        const known = comparisons.get(entry.key)
        const same = known?.id === landedId(entry) ? known : undefined
        return same && same.state !== 'failed' ? [] : (start(entry, same) ?? [])
      })
      if (started.length > 0) await withTimeout(Promise.all(started), inlineMs, () => {})
    },
    settle(before, after) {
      const comparison = after.state === 'CONFIRMED' && !isFinal(before) ? comparisons.get(after.key) : undefined
      if (comparison?.id !== landedId(after)) return after
      comparison.heldSince ??= steadyMs()
      const isGivenUp = comparison.state !== 'done' && steadyMs() - comparison.heldSince >= maxHeldMs
      if (isGivenUp) {
        const { connector } = after
        log.warn({ txHash: txHashOf(after), connector }, 'transaction is final, and what it did to the wallet could not be read')
      }
      if (isGivenUp || comparison.state === 'done') {
        comparisons.delete(after.key)
        return after
      }
      return heldAsMined(before, after)
    },
  }
}

const isCompared = ({ landed, state }: Entry): boolean => landed?.ok === true && (state === 'MINED' || state === 'CONFIRMED')
