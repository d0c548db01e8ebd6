import { type At, type Quote, type Swap, badFields, type Head } from '../../core/contracts/index.ts'
import type { EvmReader, CallResult, Call } from '../evm/types.ts'
import { type feeOnTransferCheck, untrustedTokens } from './fee-on-transfer.ts'
import { poolToken, priceSwap } from './price.ts'
import { type PoolExchange, type Pair, poolAsOf, type Router } from './protocol.ts'
import { innerTokens, routeOptionsOf, poolGraphOf, type MissingState, type PoolGraph, type RouteOptions } from './routing/graph.ts'

/** The first read, and up to three more for missing state. After that, a pool with missing state counts as one that refuses. */
const maxReads = 4

export interface QuoterOptions {
  readonly exchange: PoolExchange
  readonly reader: EvmReader
  readonly checks: RouterChecks
  readonly requireExactTransfers: ReturnType<typeof feeOnTransferCheck>
  /** Tokens whose transfers are known to be exact. */
  readonly trusted: ReadonlySet<string>
}

/** Quotes by reading pools at one block and computing with integers. */
export function quoter({ exchange, reader, checks, requireExactTransfers, trusted }: QuoterOptions) {
  const { intermediates, wrapped } = reader
  const missingBefore = missingStateCache()

  return async (swap: Swap, version: string | undefined, at: At): Promise<Quote> => {
    const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
    requireDifferentTokens(tokenIn, tokenOut)
    const options = routeOptionsOf(exchange, swap.exact, version)
    const pairs = routePairs(
      tokenIn,
      tokenOut,
      intermediates.map(({ address }) => address),
    )
    let missing = missingBefore.get(tokenIn, tokenOut)
    for (let reads = 1; ; reads += 1) {
      const { head, graph } = await loadPools(reader, checks, options, pairs, missing, at)
      const snapshot = { head, graph, options, version, wrapped, intermediates, gasPriceRaw: reader.gasPriceRaw(head) }
      const priced = priceSwap(snapshot, swap, maxReads - reads)
      if ('missing' in priced) {
        missing = [...missing, ...priced.missing]
        continue
      }
      // Only after a quote: a request for more than pools hold must not slow down later quotes.
      if (reads > 1) missingBefore.set(tokenIn, tokenOut, missing)
      await requireExactTransfers(untrustedTokens(swap, priced.edges, graph, trusted), at)
      return priced.quote
    }
  }
}

/** @throws SluiceError INCOMPLETE_PARAMS if a swap's tokens are the same one in pools */
export function requireDifferentTokens(tokenIn: string, tokenOut: string): void {
  if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])
}

/** Every two tokens that may follow one another on a route of up to three hops; each two once. */
export function routePairs(tokenIn: string, tokenOut: string, intermediates: readonly string[]): readonly Pair[] {
  const inner = innerTokens({ tokenIn, tokenOut, intermediates })
  return [
    [tokenIn, tokenOut],
    ...inner.flatMap((token): readonly Pair[] => [
      [tokenIn, token],
      [token, tokenOut],
    ]),
    ...inner.flatMap((first, index) => inner.slice(index + 1).map((second): Pair => [first, second])),
  ]
}

/** Reads the pools of all protocols at one block, in one round trip, and checks the routers that may be chosen along with it. */
async function loadPools(
  reader: EvmReader,
  checks: RouterChecks,
  { protocols, routers }: RouteOptions,
  pairs: readonly Pair[],
  missing: readonly MissingState[],
  at: At,
): Promise<{ readonly head: Head; readonly graph: PoolGraph }> {
  const readings = protocols.map((protocol) => {
    const ofProtocol = missing.filter((each) => each.protocol === protocol).map((each) => each.missing)
    return { protocol, reading: protocol.read(pairs, ofProtocol) }
  })
  const due = checks.due(routers)
  const calls = [...readings.flatMap(({ reading }) => reading.calls), ...checks.calls(due)]
  const { head, results } = await reader.read(calls, at)

  let offset = 0
  const pools = readings.flatMap(({ protocol, reading }) =>
    reading.pools(results.slice(offset, (offset += reading.calls.length))).flatMap((read) => {
      const pool = poolAsOf({ protocol, pool: read }, head)
      return pool ? [{ protocol, pool }] : []
    }),
  )
  checks.verify(due, results.slice(offset))
  return { head, graph: poolGraphOf(pools) }
}

/**
 * Checks each router once, before it is shown in a quote: if a configured address belongs to another exchange, prices would come from one
 * exchange and trades would go to the other.
 */
interface RouterChecks {
  /** The routers that were not checked yet. */
  due(routers: readonly Router[]): readonly Router[]
  calls(due: readonly Router[]): readonly Call[]
  /** @throws SluiceError SERVICE_UNINITIALIZED if a router trades with other pools than those that are read */
  verify(due: readonly Router[], answers: readonly CallResult[]): void
}

export function routerChecks(): RouterChecks {
  const checked = new Set<Router>()
  return {
    due: (routers) => routers.filter((router) => router.check && !checked.has(router)),
    calls: (due) => due.flatMap(({ check }) => check?.calls ?? []),
    verify(due, answers) {
      let offset = 0
      for (const router of due) {
        const count = router.check?.calls.length ?? 0
        router.check?.verify(answers.slice(offset, (offset += count)))
        checked.add(router)
      }
    },
  }
}

const cachedMs = 60_000
const maxCachedPairs = 1_000
const maxMissingPerPair = 256

/** The state that the last quote of two tokens found missing. The next quote reads it at once and needs no further round trips. */
function missingStateCache() {
  const cache = new Map<string, { readonly missing: readonly MissingState[]; readonly expires: number }>()
  return {
    get(tokenIn: string, tokenOut: string): readonly MissingState[] {
      const found = cache.get(`${tokenIn} ${tokenOut}`)
      return found && found.expires > performance.now() ? found.missing : []
    },
    set(tokenIn: string, tokenOut: string, missing: readonly MissingState[]): void {
      if (cache.size >= maxCachedPairs) cache.clear()
      cache.set(`${tokenIn} ${tokenOut}`, { missing: missing.slice(-maxMissingPerPair), expires: performance.now() + cachedMs })
    },
  }
}
