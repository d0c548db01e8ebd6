import type { Log } from '../../core/contracts/index.ts'
import { sizeAfter } from './faults.ts'

/** After this time a limit is tried again with twice the size: plans change, and a guess may have been too low. */
const tryLargerMs = 3_600_000

/** What one node was found to take at most: calls of a batch, blocks of a range of logs, characters of calldata. Nobody tells it beforehand. */
export interface NodeLimits {
  /** @param of `batch`, or a method. Infinity where nothing was refused */
  max(of: string): number
  /** @returns what to try next */
  refused(of: string, size: number, message: string): number
  took(of: string, size: number): void
  /** By `batch` and methods. */
  learned(): Readonly<Record<string, number>>
}

interface LearnedLimit {
  max: number
  /** By `nowMs`: when the node last refused more. */
  readonly since: number
}

export function createNodeLimits(node: string, log: Log, nowMs = () => performance.now()): NodeLimits {
  const limits = new Map<string, LearnedLimit>()

  function max(of: string): number {
    const known = limits.get(of)
    if (!known) return Infinity
    return nowMs() - known.since < tryLargerMs ? known.max : known.max * 2
  }

  return {
    max,
    refused(of, size, message) {
      const known = limits.get(of)
      // A request that was on its way when the limit was learned teaches nothing.
      if (known && known.max < size && nowMs() - known.since < tryLargerMs) return known.max
      const next = known && known.max < size ? known.max : sizeAfter(message, size)
      limits.set(of, { max: next, since: nowMs() })
      if (known?.max !== next) log.info({ node, of, max: next }, 'RPC node takes smaller requests')
      return next
    },
    took(of, size) {
      const known = limits.get(of)
      if (!known || size <= known.max) return
      known.max = size
      log.info({ node, of, max: size }, 'RPC node takes larger requests again')
    },
    learned: () => Object.fromEntries([...limits].map(([of, { max: each }]) => [of, each])),
  }
}
