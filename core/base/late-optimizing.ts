// V8 optimizes a function that has run long enough, in a thread beside. In a start that was a seventh of the processor time, for functions most of
// which run in the start alone: until it is over a function has to run ten times as long.
import { setFlagsFromString } from 'node:v8'

/** Newer versions of V8 count calls in place of what was run. */
const hasBudget = process.versions.v8.startsWith('11.')
/** V8's own, in bytes of bytecode. */
const usualBudget = 66 * 1024

/** Whether a function that ran unoptimized is optimized afterwards: in Node 24 it is not. */
const canFollow = /^1[12]\./.test(process.versions.v8)

/**
 * Flags for a process whose start has nothing worth optimizing: the pages of the compiler take 4 MB. One that has much to do later calls
 * `optimizeAsUsual`. The server's own start would take a sixth longer.
 */
export const unoptimized: readonly string[] = canFollow ? ['--no-opt'] : []

/** For this process, from now on. */
export function optimizeLate(): void {
  if (hasBudget) setFlagsFromString(`--interrupt-budget=${10 * usualBudget}`)
}

/** For what runs from now on. */
export function optimizeAsUsual(): void {
  if (canFollow) setFlagsFromString('--opt')
  if (hasBudget) setFlagsFromString(`--interrupt-budget=${usualBudget}`)
}
