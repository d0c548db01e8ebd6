// How much memory the server and its signer take of the machine beyond what they use. What only a start of Node can set stands in bin/sluice and, for the
// signer's processes, in core/wallet/supervisor.ts.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * When the heap is collected after the start. The first takes what the start left; by the second V8 has seen for five seconds that few objects
 * are made, and shrinks the space of young ones.
 */
const collectedAfterMs = { start: 1_000, quiet: 6_500 }
/** A collection that moves together what is left. It holds the event loop for some 80 ms where one without takes 35. */
const compacting = '--compact-on-every-full-gc'
/** Ones that drop what was compiled of functions that do not run just then, to bytecode or further: V8 compiles them again when they are called. */
const forgettingCode = ['--stress-flush-code', '--flush-baseline-code']
/**
 * The heap is collected when it is this much larger than what lived after the last collection. V8 by itself lets it grow to several times
 * that: a quote is kept for a block, which is long enough to be moved among the old objects, and these are collected rarely.
 */
const growthPercent = 60

/**
 * Before anything of WebAssembly is loaded: the HTTP client's parser is compiled by V8's fast compiler only. The other one takes 38 MB for it,
 * a third of which malloc keeps, and saves a few microseconds of a request. Nodes are asked without it.
 */
export function limitCompilers(): void {
  setFlagsFromString('--liftoff-only')
}

/** Once a process is up: collects what only the start needed, the code of its functions too, and keeps the heap near what is used. */
export function limitHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  setTimeout(() => collectGarbage(compacting), collectedAfterMs.start).unref()
  setTimeout(() => collectGarbage(compacting, ...forgettingCode), collectedAfterMs.quiet).unref()
}

/** A whole collection, with flags of V8 for it alone. Node has no function for it without a flag; contexts that are made after the flag have V8's. */
function collectGarbage(...flags: readonly string[]): void {
  const all = ['--expose-gc', ...flags]
  for (const flag of all) setFlagsFromString(flag)
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  for (const flag of all) setFlagsFromString(flag.replace('--', '--no-'))
}
