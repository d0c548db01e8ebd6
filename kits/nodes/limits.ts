import type { Log } from '../../core/contracts/index.ts'
import { sizeAfter } from './faults.ts'

/** After this time a limit is tried again with twice the size: plans change, and a guess may have been too low. */
const tryLargerMs = 3_600_000
/** What a node took within the last hour is soon asked of it again: the refusal may have been of something else. This doubles with each that confirms it. */
const firstDoubtMs = 1_000

/** What one node was found to take at most: calls of a batch, blocks of a range of logs, characters of calldata. Nobody tells it beforehand. */
export interface NodeLimits {
  /** @param of `batch`, or a method. Infinity where nothing was refused */
  max(of: string): number
  /** @returns what to try next: less than `size`, and at least 1 */
  refused(of: string, size: number, message: string): number
  took(of: string, size: number): void
  /** By `batch` and methods. */
  learned(): Readonly<Record<string, number>>
}

interface LearnedLimit {
  max: number
  /** By `nowMs`: when the node last refused more. */
  readonly since: number
  /** From then on, until more is tried. */
  readonly pauseMs: number
}

export function createNodeLimits(node: string, log: Log, nowMs = () => performance.now()): NodeLimits {
  const limits = new Map<string, LearnedLimit>()
  const largest = new Map<string, { readonly size: number; readonly atMs: number }>()

  /** The largest size that the node took within the last hour; 0 where it took none. */
  function taken(of: string): number {
    const known = largest.get(of)
    return known && nowMs() - known.atMs < tryLargerMs ? known.size : 0
  }

  const isPaused = ({ since, pauseMs }: LearnedLimit) => nowMs() - since < pauseMs

  function max(of: string): number {
    const known = limits.get(of)
    if (!known) return Infinity
    if (isPaused(known)) return known.max
    return taken(of) > known.max ? taken(of) : known.max * 2
  }

  return {
    max,
    refused(of, size, message) {
      const known = limits.get(of)
      const wasHigher = known !== undefined && known.max < size
      // A request that was on its way when the limit was learned teaches nothing.
      if (wasHigher && isPaused(known)) return known.max
      const next = wasHigher ? known.max : sizeAfter(message, size)
      const isDoubtful = taken(of) > next
      const pauseMs = isDoubtful ? Math.min(wasHigher ? known.pauseMs * 2 : firstDoubtMs, tryLargerMs) : tryLargerMs
      limits.set(of, { max: next, since: nowMs(), pauseMs })
      // A refusal of what it takes a second later is no limit.
      if (known?.max !== next && !isDoubtful) log.info({ node, of, max: next }, 'RPC node takes smaller requests')
      return next
    },
    took(of, size) {
      const before = taken(of)
      if (size >= before) largest.set(of, { size, atMs: nowMs() })
      const known = limits.get(of)
      if (!known || size <= known.max) return
      // As much as before: it never was a limit.
      if (before > known.max && size >= before) {
        limits.delete(of)
        return
      }
      known.max = size
      if (known.pauseMs >= tryLargerMs) log.info({ node, of, max: size }, 'RPC node takes larger requests again')
    },
    learned: () =>
      Object.fromEntries([...limits].flatMap(([of, known]) => (known.pauseMs < tryLargerMs && !isPaused(known) ? [] : [[of, known.max]]))),
  }
}
