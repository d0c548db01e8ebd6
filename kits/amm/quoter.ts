import { type At, type Quote, type Swap, badFields, type Head } from '../../core/contracts/index.ts'
import type { EvmReader, CallResult, Call } from '../evm/types.ts'
import { type feeOnTransferCheck, untrustedTokens } from './fee-on-transfer.ts'
import { poolToken, priceSwap } from './price.ts'
import { type PoolExchange, type Pair, poolAsOf, type Router } from './protocol.ts'
import type { MissingState } from './routing/best-route.ts'
import { routeOptionsOf, poolGraphOf, type PoolGraph, type RouteOptions } from './routing/graph.ts'

// The first, and some more where pools turn out to be wanting. What is unknown after that counts as unable.
const mostReads = 4

export interface QuoterOptions {
  readonly exchange: PoolExchange
  readonly reader: EvmReader
  readonly checks: RouterChecks
  readonly requireExactTransfers: ReturnType<typeof feeOnTransferCheck>
  /** Tokens that are known to move exactly. */
  readonly trusted: ReadonlySet<string>
}

/** Quotes by one batch of pools at one block, and integer arithmetic. */
export function quoter({ exchange, reader, checks, requireExactTransfers: requireExact, trusted }: QuoterOptions) {
  const { intermediates, wrapped } = reader
  const between = intermediates.map(({ address }) => address)
  const load = poolLoader(reader, checks)
  const wantedLately = missingStateCache()

  return async (swap: Swap, version: string | undefined, at: At): Promise<Quote> => {
    const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
    requireDifferentTokens(tokenIn, tokenOut)
    const ways = routeOptionsOf(exchange, swap.exact, version)
    const pairs = routePairs(tokenIn, tokenOut, between)
    let wanted = wantedLately.of(tokenIn, tokenOut)
    for (let reads = 1; ; reads += 1) {
      const { head, graph: lanes } = await load(ways, pairs, wanted, at)
      const board = { head, graph: lanes, options: ways, version, wrapped, intermediates, gasPriceRaw: reader.gasPriceRaw(head) }
      const priced = priceSwap(board, swap, mostReads - reads)
      if ('wanted' in priced) {
        wanted = [...wanted, ...priced.wanted]
        continue
      }
      // Only what was good for something: whoever asks for more than there is makes nobody else's quotes any slower.
      if (reads > 1) wantedLately.put(tokenIn, tokenOut, wanted)
      await requireExact(untrustedTokens(swap, priced.edges, lanes, trusted), at)
      return priced.quote
    }
  }
}

/** @throws SluiceError INCOMPLETE_PARAMS where a swap's tokens are one in the pools */
export function requireDifferentTokens(tokenIn: string, tokenOut: string): void {
  if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])
}

/** Every two tokens that may follow one another on a route of up to three hops through `between`; each two once. */
export function routePairs(tokenIn: string, tokenOut: string, between: readonly string[]): readonly Pair[] {
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  return [
    [tokenIn, tokenOut],
    ...via.flatMap((token): readonly Pair[] => [
      [tokenIn, token],
      [token, tokenOut],
    ]),
    ...via.flatMap((first, index) => via.slice(index + 1).map((second): Pair => [first, second])),
  ]
}

interface PoolsAtBlock {
  readonly head: Head
  readonly graph: PoolGraph
}

/** Loads the pools of all protocols at one block, in one round trip, and checks the routers that may be chosen with it. */
function poolLoader(reader: EvmReader, checks: RouterChecks) {
  return async (ways: RouteOptions, pairs: readonly Pair[], wanted: readonly MissingState[], at: At): Promise<PoolsAtBlock> => {
    const readings = ways.protocols.map((protocol) => {
      const missing = wanted.filter((each) => each.protocol === protocol).map((each) => each.missing)
      return { protocol, reading: protocol.read(pairs, missing) }
    })
    const due = checks.due(ways.routers)
    const calls = [...readings.flatMap(({ reading }) => reading.calls), ...checks.calls(due)]
    const { head, results } = await reader.read(calls, at)

    let taken = 0
    const take = (count: number) => results.slice(taken, (taken += count))
    const pools = readings.flatMap(({ protocol, reading }) =>
      reading.pools(take(reading.calls.length)).flatMap((read) => {
        const pool = poolAsOf({ protocol, pool: read }, head)
        return pool ? [{ protocol, pool }] : []
      }),
    )
    checks.verify(due, results.slice(taken))
    return { head, graph: poolGraphOf(pools) }
  }
}

/**
 * Which routers were checked: a configured address of another exchange would give the prices of one and the trades of the other. Each is
 * checked once, before what it would carry out is shown.
 */
interface RouterChecks {
  /** Of those that were not checked yet. */
  due(routers: readonly Router[]): readonly Router[]
  calls(due: readonly Router[]): readonly Call[]
  /** @throws SluiceError SERVICE_UNINITIALIZED where one trades with other pools than those that are read */
  verify(due: readonly Router[], answers: readonly CallResult[]): void
}

export function routerChecks(): RouterChecks {
  const checked = new Set<Router>()
  return {
    due: (routers) => routers.filter((router) => router.check && !checked.has(router)),
    calls: (due) => due.flatMap(({ check }) => check?.calls ?? []),
    verify(due, answers) {
      let taken = 0
      for (const router of due) {
        const count = router.check?.calls.length ?? 0
        router.check?.verify(answers.slice(taken, (taken += count)))
        checked.add(router)
      }
    },
  }
}

const rememberedMs = 60_000
const mostRemembered = 1_000
const mostOfOne = 256

/**
 * What the last quoted swap of two tokens had to read on: who asks for much of them once will do so again, and is spared the
 * further round trips.
 */
function missingStateCache(nowMs: () => number = () => performance.now()) {
  const known = new Map<string, { readonly wanted: readonly MissingState[]; readonly expires: number }>()
  return {
    of(tokenIn: string, tokenOut: string): readonly MissingState[] {
      if (known.size === 0) return []
      const found = known.get(`${tokenIn} ${tokenOut}`)
      return found && found.expires > nowMs() ? found.wanted : []
    },
    put(tokenIn: string, tokenOut: string, wanted: readonly MissingState[]): void {
      if (known.size >= mostRemembered) known.clear()
      known.set(`${tokenIn} ${tokenOut}`, { wanted: wanted.slice(-mostOfOne), expires: nowMs() + rememberedMs })
    },
  }
}
