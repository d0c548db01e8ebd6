// V8 optimizes a function that has run long enough, in a thread beside. In a start that was a seventh of the processor time, for functions most of
// which run in the start alone: until it is over a function has to run ten times as long.
import { setFlagsFromString } from 'node:v8'

/** Newer versions of V8 count calls in place of what was run. */
const hasBudget = process.versions.v8.startsWith('11.')
/** V8's own, in bytes of bytecode. */
const usualBudget = 66 * 1024

/** Flags for a process that is started. One that has much to do later calls `optimizeAsUsual`. */
export const lateOptimizing: readonly string[] = hasBudget ? [`--interrupt-budget=${10 * usualBudget}`] : []

/** For this process, from now on. */
export function optimizeLate(): void {
  for (const flag of lateOptimizing) setFlagsFromString(flag)
}

/** For what runs from now on. */
export function optimizeAsUsual(): void {
  if (hasBudget) setFlagsFromString(`--interrupt-budget=${usualBudget}`)
}
