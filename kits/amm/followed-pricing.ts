import type { At, Basis, FollowedPricing, Head, Quote, QuoteChoice, Swap } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { poolToken, price } from './price.ts'
import { suspectsOf } from '../../core/kits/pools/exact-transfers/suspects.ts'
import { followedPools, isHeldPool, keyOf } from '../../core/kits/pools/followed-pools.ts'
import { poolAsOf } from '../../core/kits/pools/pool-as-of.ts'
import type { Pool, PoolProtocol } from './protocol.ts'
import type { QuoterParts } from './quoter.ts'
import { pairsOf } from '../../core/kits/pools/reading/pairs-of.ts'
import { requireTwo } from '../../core/kits/pools/require-two.ts'
import { lanesOf, type Lane, type Lanes } from './routing/graph.ts'
import { waysOf } from '../../core/kits/pools/routing/ways.ts'

/** What a quote was made of, to be vetted by. */
interface Made {
  readonly route: readonly Lane[]
  readonly lanes: Lanes
}

/** What states were made into, and for what time. */
interface Laid {
  readonly lanes: Lanes
  readonly pools: readonly { readonly protocol: PoolProtocol; readonly pool: Pool }[]
  readonly timestamp: number
}

/** Quotes by the pools that the server keeps in memory; undefined where those of some protocol can only be asked for. */
export function followedPricing({ exchange, reader, checks, requireExact, trusted }: QuoterParts): FollowedPricing<Evm> | undefined {
  const { protocols, routers } = exchange
  const kept = protocols.flatMap((protocol) => {
    const { memory } = protocol
    return memory ? [{ protocol, memory, followed: followedPools(protocol, memory, reader) }] : []
  })
  if (kept.length < protocols.length) return undefined
  const { wrapped, intermediates } = reader
  const between = intermediates.map(({ address }) => address)
  const remembered = rememberedWays((exact, version) => waysOf(exchange, exact, version))
  const isTimed = kept.some(({ memory }) => memory.asOf)
  // What states are made into serves for every amount, until one of them changes.
  const known = new WeakMap<readonly unknown[], Laid>()
  const made = new WeakMap<Quote, Made>()

  function lanesBy(states: readonly unknown[], head: Head): Lanes {
    const before = known.get(states)
    if (before && (!isTimed || before.timestamp === head.timestamp)) return before.lanes
    const pools = states.flatMap((state) => {
      if (!isHeldPool(state)) return []
      const pool = poolAsOf(state, head)
      return pool ? [{ protocol: state.protocol, pool }] : []
    })
    const isSame = before?.pools.length === pools.length && before.pools.every(({ pool }, index) => pool === pools[index]?.pool)
    const lanes = before && isSame ? before.lanes : lanesOf(pools)
    known.set(states, { lanes, pools, timestamp: head.timestamp })
    return lanes
  }

  return {
    basis(tokens, { version }): readonly Basis<Evm>[] {
      const [tokenIn, tokenOut] = [poolToken(tokens.tokenIn, wrapped), poolToken(tokens.tokenOut, wrapped)]
      requireTwo(tokenIn, tokenOut)
      const passable = new Set<PoolProtocol>([...remembered('in', version).protocols, ...remembered('out', version).protocols])
      const pairs = pairsOf(tokenIn, tokenOut, between)
      return kept
        .filter(({ protocol }) => passable.has(protocol))
        .flatMap(({ memory, followed }) => memory.places(pairs).map((place) => ({ followed, key: keyOf(place), about: place })))
    },

    quote(swap: Swap, { version }: QuoteChoice, states, head, left) {
      const lanes = lanesBy(states, head)
      const ways = remembered(swap.exact, version)
      const board = { head, lanes, ways, version, wrapped, intermediates, gasPriceRaw: reader.gasPriceRaw(head) }
      const priced = price(board, swap, left)
      if ('wanted' in priced) {
        const wanting = priced.wanted.map(({ protocol, pool, missing }) => ({
          index: states.findIndex((state) => isHeldPool(state) && state.protocol === protocol && state.pool?.address === pool),
          more: missing,
        }))
        return { wanting }
      }
      made.set(priced.quote, { route: priced.lanes, lanes })
      return priced.quote
    },

    conditions: (head) => `${reader.gasPriceRaw(head)} ${isTimed ? head.timestamp : ''}`,

    vet(quote, _states, at: At) {
      const due = checks.due(routers.filter(({ address }) => address === quote.spender))
      const from = made.get(quote)
      const exact = from && requireExact(suspectsOf(quote.swap, from.route, from.lanes, trusted), at)
      if (due.length === 0) return exact
      return Promise.all([exact, reader.read(checks.calls(due), at).then(({ results }) => checks.verify(due, results))]).then(() => {})
    },
  }
}

/** What an exchange's routes can differ in is the same for every quote. */
function rememberedWays<T>(make: (exact: 'in' | 'out', version: string | undefined) => T) {
  const known = new Map<string, T>()
  return (exact: 'in' | 'out', version: string | undefined): T => {
    const key = `${exact} ${version ?? ''}`
    const found = known.get(key)
    if (found) return found
    const made = make(exact, version)
    // Versions are checked before they come here, so there are few.
    known.set(key, made)
    return made
  }
}
