// How much memory the server takes of the machine beyond what it uses. What only a start of Node can set stands in bin/sluice and, for the
// signer's processes, in core/wallet/supervisor.ts.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * When the heap is collected after the start. The first takes what the start left; by the second V8 has seen for five seconds that few objects
 * are made, and shrinks the space of young ones.
 */
const collectedAfterMs = { start: 1_000, quiet: 6_500 }
/**
 * The heap is collected when it is this much larger than what lived after the last collection. V8 by itself lets it grow to several times
 * that: a quote is kept for a block, which is long enough to be moved among the old objects, and these are collected rarely.
 */
const growthPercent = 60

/**
 * Before anything of WebAssembly is loaded: the HTTP client's parser is compiled by V8's fast compiler only. The other one takes 38 MB for it,
 * a third of which malloc keeps, and saves a few microseconds of a request to a node.
 */
export function limitCompilers(): void {
  setFlagsFromString('--liftoff-only')
}

/** Once the server is up: collects what only the start needed, and keeps the heap near what is used. */
export function limitHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  setTimeout(() => collectGarbage(true), collectedAfterMs.start).unref()
  setTimeout(() => collectGarbage(false), collectedAfterMs.quiet).unref()
}

/**
 * A whole collection. Node has no function for it without a flag; contexts that are made after the flag have V8's.
 * @param compacts moves together what is left. That holds the event loop for some 80 ms where the collection alone takes 35
 */
function collectGarbage(compacts: boolean): void {
  setFlagsFromString('--expose-gc')
  if (compacts) setFlagsFromString('--compact-on-every-full-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  setFlagsFromString('--no-expose-gc')
  setFlagsFromString('--no-compact-on-every-full-gc')
}
