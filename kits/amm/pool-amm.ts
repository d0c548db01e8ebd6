// Exchanges made of pools as the trading type AMM: quotes by reading pools at one block, or from pools that the server keeps in memory.
import { isDeepStrictEqual } from 'node:util'
import {
  SluiceError,
  type AMM,
  type Connector,
  type Venue,
  type At,
  type Quote,
  type Swap,
  type Token,
  type Head,
  type Basis,
  type FollowedPricing,
  type QuoteChoice,
  type Followed,
  type Permit,
} from '../../core/contracts/index.ts'
import { MissingReads } from '../../core/contracts/followed.ts'
import { getAddress } from 'ethers'
import { isObject } from '../../core/base/json.ts'
import { canonicalAddress } from '../evm/encoding.ts'
import type { Evm, EvmIntent, EvmReader, CallResult, Call, Probe } from '../evm/types.ts'
import { listedVersions } from './deployment.ts'
import { feeOnTransferCheck, tryLoans, untrustedTokens } from './fee-on-transfer.ts'
import { noSuchPool, poolToken, priceSwap, type StoppedPool } from '../pools/price.ts'
import { type PoolExchange, type Router, completeReading, poolAsOf, type PoolProtocol, type Place, type PoolMemory } from './protocol.ts'
import { type KnownPool, type Pair, takesRoute, type Pool } from '../pools/protocol.ts'
import {
  cachedRouteOptions,
  isCachedPool,
  passageOf,
  poolPricing,
  requireDifferentTokens,
  routePairs,
  type CachedPool,
} from '../pools/pricing.ts'
import { poolGraphOf, type MissingState, type PoolGraph, type RouteOptions } from '../pools/routing/graph.ts'
import { isOfNoRoute } from '../pools/routing/bound.ts'
import { viewPools } from '../pools/pool-views.ts'
import { partsOf } from '../pools/route-parts.ts'
import { addressKey, isSameAddress } from '../../core/base/addresses.ts'

/**
 * The trading type AMM of an exchange made of pools, of one kind or of several. `spenders` are its routers, by name; `permit2` is the contract by
 * which some of them take tokens.
 * If the configuration lists `versions`, pools of other versions are left out, as is what is undefined. Throws if no router is left.
 */
export function poolAMM(
  venue: Venue<Evm>,
  ...given: readonly (PoolExchange | undefined)[]
): AMM<Evm> & Pick<Connector<Evm>, 'permit2'> & { readonly spenders: Readonly<Record<string, string>> } {
  const listed = listedVersions(venue.config)
  const exchanges = given.filter((each) => each !== undefined)
  const protocols = exchanges.flatMap((exchange) => exchange.protocols).filter(({ version }) => listed?.includes(version) ?? true)
  const labels = [...new Set(protocols.map(({ version }) => version))]
  const routers = exchanges
    .flatMap((exchange) => exchange.routers)
    .filter((router) => labels.some((version) => router.carries([version], 'in') || router.carries([version], 'out')))
  if (routers.length === 0) {
    throw new Error(
      'No router of the exchange trades with pools of these versions: list a version that it has under `versions` in its configuration.',
    )
  }
  const { reader } = venue
  const trusted = new Set([reader.wrapped.address, ...reader.intermediates.map(({ address }) => address)])
  const requireExactTransfers = feeOnTransferCheck(reader)
  const options = { exchange: { protocols, routers }, reader, checks: routerChecks(), requireExactTransfers, trusted }
  const quote = quoter(options)
  const followed = followedPricing(options)
  // A single version that the configuration does not name is not shown: there is nothing to choose.
  const versions = listed || labels.length > 1 ? labels : []

  const pairOf = (each: Pick<Swap, 'tokenIn' | 'tokenOut'>): Pair => {
    const { tokenIn, tokenOut } = passageOf(each, reader.wrapped)
    return [tokenIn, tokenOut]
  }

  const byPermit2 = routers.filter(({ permit2 }) => permit2 !== undefined)
  const [permit2] = byPermit2.map((router) => router.permit2)
  const withPermit = (step: EvmIntent, permit: Permit, signature: string): EvmIntent => {
    const router = byPermit2.find(({ address }) => address === step.to)
    if (!router?.withPermit) throw new Error(`${step.to} takes no permits.`)
    return router.withPermit(step, permit, signature)
  }

  return {
    versions,
    slippageReasons: [...new Set(routers.flatMap((router) => router.slippageReasons ?? []))],
    coinSlippageReasons: [...new Set(routers.flatMap((router) => router.coinSlippageReasons ?? []))],
    ...(permit2 !== undefined && {
      permit2: {
        address: permit2,
        spenders: byPermit2.map(({ address }) => address),
        permitSpenders: byPermit2.filter((router) => router.withPermit).map(({ address }) => address),
        withPermit,
      },
    }),
    spenders: Object.fromEntries(routers.map(({ name, address }) => [name, address])),
    async quote(swap, { version, spenders, pool }, at) {
      if (version !== undefined && !labels.includes(version)) {
        throw new SluiceError(
          'UNSUPPORTED',
          `This connector has no version ${version}: leave it out${versions.length > 0 ? ` or give ${versions.join(', ')}` : ''}.`,
        )
      }
      return quote(swap, { version, spenders, pool }, at)
    },
    ...(followed && { followed }),
    async pools(pairs, choice, at) {
      const passages = pairs.map((each) => passageOf(each, reader.wrapped))
      for (const { tokenIn, tokenOut } of passages) requireDifferentTokens(tokenIn, tokenOut)
      const between = passages.map(({ tokenIn, tokenOut }): Pair => [tokenIn, tokenOut])
      const { head, graph } = await loadWholePools(reader, options.checks, { protocols, chosen: [] }, between, [], at)
      return { head, pools: await viewPools(graph.pools, passages, choice, at) }
    },
    listedPools(pairs, { version }) {
      const between = pairs.map(pairOf)
      return protocols
        .filter((protocol) => version === undefined || protocol.version === version)
        .flatMap((protocol) => (protocol.listed?.(between) ?? []).map((pool) => ({ pool, version: protocol.version })))
    },
    async tryLoans(pairs, at) {
      const { graph } = await loadPools(reader, options.checks, { protocols, chosen: [] }, pairs.map(pairOf), [], at)
      return tryLoans(reader, graph.pools, at)
    },
    async poolTokens(pool, at) {
      // Other spellings are for ethers, not for nodes, and a node that refuses one counts as broken.
      const address = canonicalAddress(pool)
      if (address === undefined) return undefined
      const { results } = await reader.read(
        tokenViews.map((data) => ({ to: address, data })),
        at,
      )
      const tokens = results.flatMap(({ ok, data }) => (ok && data.length === 66 ? [getAddress(`0x${data.slice(26)}`)] : []))
      return tokens.length === tokenViews.length ? tokens : undefined
    },
    swap(quote, terms) {
      const router = routerOf(quote, routers)
      if (!router) {
        const parts = versionsOfParts(quote).map((part) => part.join(', '))
        throw new Error(`No router at ${quote.spender} takes a route through ${parts.join(' and ')}.`)
      }
      return router.plan(quote, terms)
    },
    async swapSpenders(at) {
      const due = routers.length > 1 ? options.checks.due(routers) : []
      // Whether a router takes what is another's as well is known when it was checked.
      if (due.length > 0) options.checks.verify(due, (await reader.read(options.checks.calls(due), at)).results)
      return fewestApprovals(routers, labels)
    },
    fill(receipt, memo) {
      for (const router of routers) {
        const fill = router.fill(receipt, memo)
        if (fill) return fill
      }
      return undefined
    },
  }
}

const versionsOfParts = (quote: Quote): readonly (readonly string[])[] =>
  partsOf(quote).map(({ route }) => route.map(({ version }) => version))

/** The router of a quote. Undefined where none at its address takes its routes. */
function routerOf(quote: Quote, routers: readonly Router[]): Router | undefined {
  const parts = versionsOfParts(quote)
  const [only = [], ...others] = parts
  const accepts = (router: Router) => (others.length > 0 ? router.splits?.(parts, quote.swap) : takesRoute(router, only, quote.swap.exact))
  return routers.find((each) => each.address === quote.spender && accepts(each))
}

/**
 * The routers that together sell by every version and buy by one at least, in as few transactions as possible: two for one that takes tokens by
 * Permit2. Few routers buy by the pools of another exactly, so a purchase goes by the version that the wallet's routers have.
 */
export function fewestApprovals(routers: readonly Router[], versions: readonly string[]): readonly string[] {
  const takes = (chosen: readonly Router[], version: string, exact: 'in' | 'out') =>
    chosen.some((each) => takesRoute(each, [version], exact))
  const sells = versions.filter((version) => takes(routers, version, 'in'))
  const buys = versions.filter((version) => takes(routers, version, 'out'))
  const costOf = (chosen: readonly Router[]) => {
    const contracts = new Set(chosen.flatMap(({ permit2 }) => (permit2 === undefined ? [] : [permit2])))
    return chosen.length + contracts.size
  }
  const takeAll = (chosen: readonly Router[]) =>
    sells.every((version) => takes(chosen, version, 'in')) && (buys.length === 0 || buys.some((version) => takes(chosen, version, 'out')))
  let fewest = routers
  for (let choice = 1; choice < 2 ** routers.length; choice += 1) {
    const chosen = routers.filter((_, index) => (choice >> index) % 2 === 1)
    if (costOf(chosen) < costOf(fewest) && takeAll(chosen)) fewest = chosen
  }
  return fewest.map(({ address }) => address)
}

/** Selectors of `token0()` and `token1()`, which the pools of most kinds have. */
const tokenViews = ['0x0dfe1681', '0xd21220a7']

/** Where no pool of a swap exists, as far as it can be read. */
const ifNoPool =
  'If the exchange has such a pool, the plugin looks for it at a wrong address: its author has to compare the factory and the init-code hash of this network, and the ABI of the view that reads a pool, with the chain.'

interface QuoterOptions {
  readonly exchange: PoolExchange
  readonly reader: EvmReader
  readonly checks: RouterChecks
  readonly requireExactTransfers: ReturnType<typeof feeOnTransferCheck>
  /** Tokens whose transfers are known to be exact. */
  readonly trusted: ReadonlySet<string>
}

/** Quotes by reading pools at one block and computing with integers. */
function quoter({ exchange, reader, checks, requireExactTransfers, trusted }: QuoterOptions) {
  const { intermediates, wrapped } = reader
  const intermediateAddresses = intermediates.map(({ address }) => address)
  const missingBefore = missingStateCache()
  const routeOptionsFor = cachedRouteOptions(exchange, () => checks.count)

  return async (swap: Swap, { version, spenders, pool: only }: QuoteChoice, at: At): Promise<Quote> => {
    const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
    requireDifferentTokens(tokenIn, tokenOut)
    const optionsNow = () => routeOptionsFor(swap.exact, version, spenders)
    let options = optionsNow()
    const inner = only === undefined ? intermediateAddresses : []
    const pairs = routePairs(tokenIn, tokenOut, inner)
    const missing = new MissingReads(missingBefore.get(tokenIn, tokenOut), (each) => each.missing)
    for (;;) {
      const checkedBefore = checks.count
      const { head, graph: all, stopped } = await loadWholePools(reader, checks, options, pairs, missing.known, at)
      if (checks.count !== checkedBefore) options = optionsNow()
      const graph = only === undefined ? all : poolGraphOf(all.pools.filter(({ pool }) => isSameAddress(pool.address, only)))
      if (only !== undefined && graph.isEmpty) throw noSuchPool(only, stopped)
      const gasPriceRaw = reader.gasPriceRaw(head)
      const fixed = { options, version, wrapped, intermediates, intermediateAddresses, ifNoPool }
      const snapshot = { ...fixed, head, graph, gasPriceRaw, stopped: () => stopped }
      const priced = priceSwap(snapshot, swap, missing.left)
      if ('missing' in priced) {
        missing.add(priced.missing)
        continue
      }
      // Only after a quote: a request for more than pools hold must not slow down later quotes.
      if (missing.hasReadMore) missingBefore.set(tokenIn, tokenOut, missing.known)
      await requireExactTransfers(untrustedTokens(priced, graph, trusted), at)
      return priced
    }
  }
}

type Choosable = Pick<RouteOptions<PoolProtocol, Router>, 'protocols' | 'chosen'>
/** Pools at one block. */
interface LoadedPools {
  readonly head: Head
  readonly graph: PoolGraph<PoolProtocol>
  readonly stopped: readonly StoppedPool[]
}

/** So often more is read of a block than what pools say by themselves. */
const maxReadsOfBlock = 4

/** The same with what pools need to know of their block: of a part of it, another answer would be made than of all. */
async function loadWholePools(
  reader: EvmReader,
  checks: RouterChecks,
  options: Choosable,
  pairs: readonly Pair[],
  missing: readonly MissingState[],
  at: At,
): Promise<LoadedPools> {
  let loaded = await loadPools(reader, checks, options, pairs, missing, at)
  let known = missing
  for (let reads = 0; reads < maxReadsOfBlock; reads += 1) {
    const { head, graph } = loaded
    const ofBlock = graph.pools.flatMap(({ protocol, pool }) =>
      (protocol.memory?.ofBlock?.(pool, head) ?? []).map((each): MissingState => ({ protocol, pool: pool.address, missing: each })),
    )
    if (ofBlock.length === 0) break
    known = [...known, ...ofBlock]
    loaded = await loadPools(reader, checks, options, pairs, known, at, head)
  }
  return loaded
}

/**
 * Reads the pools of all protocols at one block, in one round trip, and checks the routers that may be chosen along with it.
 * @param block absent: the newest
 */
async function loadPools(
  reader: EvmReader,
  checks: RouterChecks,
  { protocols, chosen }: Choosable,
  pairs: readonly Pair[],
  missing: readonly MissingState[],
  at: At,
  block?: Head,
): Promise<LoadedPools> {
  const readings = protocols.map((protocol) => {
    const ofProtocol = missing.filter((each) => each.protocol === protocol).map((each) => each.missing)
    return { protocol, reading: protocol.read(pairs, ofProtocol) }
  })
  const due = checks.due(chosen)
  const calls = [...readings.flatMap(({ reading }) => reading.calls), ...checks.calls(due)]
  const { head, results } = await reader.read(calls, at, block)

  let offset = 0
  const complete = readings.map(({ reading }) =>
    completeReading(reading, { head, results: results.slice(offset, (offset += reading.calls.length)) }, reader, at),
  )
  let first = 0
  const stopped = readings.flatMap(({ protocol: { memory }, reading: { calls: ofReading } }) => {
    const answers = results.slice(first, (first += ofReading.length))
    const failed = ofReading.flatMap((call, index) => reverting(call, answers[index]))
    if (failed.length === 0 || !memory) return failed
    // Other contracts that are asked may revert because there is no such pool.
    const places = new Set(memory.places(pairs).map(poolKey))
    return failed.filter((each) => places.has(poolKey(each)))
  })
  const pools: KnownPool<PoolProtocol>[] = []
  for (const [index, found] of (await Promise.all(complete)).entries()) {
    const protocol = readings[index]?.protocol
    if (!protocol) continue
    for (const read of found) {
      const pool = poolAsOf({ protocol, pool: read }, head)
      if (pool) pools.push({ protocol, pool })
      else stopped.push({ address: read.address, known: { protocol, pool: read } })
    }
  }
  checks.verify(due, results.slice(offset))
  return { head, graph: poolGraphOf(pools), stopped }
}

/** The contract of a call that reverts. A call to an address without code succeeds and returns nothing; what fails in a probe has no address. */
const reverting = (call: Call | Probe, result: CallResult | undefined): StoppedPool[] =>
  'to' in call && result?.ok === false ? [{ address: getAddress(call.to) }] : []

/**
 * Checks each router once, before it is shown in a quote: if a configured address belongs to another exchange, prices would come from one
 * exchange and trades would go to the other.
 */
interface RouterChecks {
  /** The routers that were not checked yet. */
  due(routers: readonly Router[]): readonly Router[]
  areDone(routers: readonly Router[]): boolean
  /** How many were checked. A check may show that a router takes fewer routes than others of its kind. */
  readonly count: number
  calls(due: readonly Router[]): readonly Call[]
  /**
   * @param own absent: all that are due
   * @throws SluiceError SERVICE_UNINITIALIZED if a router of its own trades with other pools than those that are read
   */
  verify(due: readonly Router[], answers: readonly CallResult[], own?: readonly Router[]): void
}

export function routerChecks(): RouterChecks {
  // By the check: the same router may be given as another object, to a wallet that has approved it.
  const checked = new Set<Router['check']>()
  const isDue = ({ check }: Router) => check !== undefined && !checked.has(check)
  return {
    due: (routers) => routers.filter(isDue),
    areDone: (routers) => !routers.some(isDue),
    get count() {
      return checked.size
    },
    calls: (due) => due.flatMap(({ check }) => check?.calls ?? []),
    verify(due, answers, own = due) {
      let offset = 0
      for (const router of due) {
        const count = router.check?.calls.length ?? 0
        try {
          router.check?.verify(answers.slice(offset, (offset += count)))
          checked.add(router.check)
        } catch (error) {
          // It is checked again with a quote that names it, which says so.
          if (own.includes(router)) throw error
        }
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
      const lasting = missing.filter((each) => !(isObject(each.missing) && 'block' in each.missing))
      cache.set(`${tokenIn} ${tokenOut}`, { missing: lasting.slice(-maxMissingPerPair), expires: performance.now() + cachedMs })
    },
  }
}

/** Quotes by pools that the server keeps in memory. Undefined if the pools of some protocol cannot be followed. */
export function followedPricing(options: QuoterOptions): FollowedPricing<Evm> | undefined {
  const { exchange, reader, checks, requireExactTransfers, trusted } = options
  const { protocols, routers } = exchange
  const checkedWithLoad = checksOnLoad(checks, routers)
  const followable = protocols.flatMap((protocol) => {
    const { memory } = protocol
    return memory ? [{ protocol, memory, followed: followedPools(protocol, memory, reader, checkedWithLoad) }] : []
  })
  if (followable.length < protocols.length) return undefined
  const { wrapped, intermediates } = reader
  const hasTimed = followable.some(({ memory }) => memory.asOf)
  const gasPriceRaw = (head: Head) => reader.gasPriceRaw(head)
  const asOf = hasTimed ? poolAsOf : undefined
  const pricing = poolPricing({ exchange, wrapped, intermediates, gasPriceRaw, asOf, ifNoPool, changesOfTakers: () => checks.count })

  const isTrusted = (token: Token) => trusted.has(poolToken(token, wrapped))
  const isExact = (token: Token) => isTrusted(token) || requireExactTransfers.isKnown(token)
  const requireExact = (quote: Quote, graph: PoolGraph<PoolProtocol>, at: At) =>
    requireExactTransfers(untrustedTokens(quote, graph, trusted), at)

  /** All at once: those of other quotes are known then. */
  async function checkRouters(quote: Quote, own: readonly Router[], exact: Promise<void> | undefined, at: At): Promise<void> {
    const due = checks.due(routers)
    const verified = reader.read(checks.calls(due), at).then(({ results }) => checks.verify(due, results, own))
    await Promise.all([exact ?? Promise.resolve(), verified])
    if (!routerOf(quote, routers))
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The contract ${quote.spender} was checked just now, and does not take routes through ${quote.route.map(({ version }) => version).join(', ')}: ask again.`,
        { retryAfterSeconds: 1 },
      )
  }

  return {
    basis(tokens, { version }): readonly Basis<Evm>[] {
      const { protocols: usable, pairs } = pricing.reach(tokens, version)
      return followable
        .filter(({ protocol }) => usable.has(protocol))
        .flatMap(({ memory, followed }) => memory.places(pairs).map((place) => ({ followed, key: poolKey(place), about: place })))
    },
    quote: pricing.quote,
    bound(swap, choice, states, head) {
      const bound = pricing.bound(swap, choice, states, head)
      if (!bound || isOfNoRoute(bound)) return bound
      const { chosen } = pricing.options(swap.exact, choice.version)
      // Only a quote says whether a configured contract trades with other pools than these, and whether a token takes a fee.
      return isExact(swap.tokenIn) && isExact(swap.tokenOut) && checks.areDone(chosen) ? bound : undefined
    },
    pools: pricing.pools,
    conditions: pricing.conditions,
    vet(quote, states, at: At) {
      const due = checks.areDone(routers)
        ? []
        : checks.due(routers.filter(({ address }) => address === quote.spender || quote.otherSpenders?.includes(address)))
      const exact =
        isTrusted(quote.swap.tokenIn) && isTrusted(quote.swap.tokenOut)
          ? undefined
          : requireExact(quote, pricing.graphOf(states, quote.head), at)
      return due.length === 0 ? exact : checkRouters(quote, due, exact, at)
    },
  }
}

/** Checks that are made along with the first reading of pools, so that the first quotes know which routes are taken. */
interface ChecksOnLoad {
  /** Of those that were never asked along with pools. */
  calls(): { readonly calls: readonly Call[]; answered(results: readonly CallResult[]): void }
}

function checksOnLoad(checks: RouterChecks, routers: readonly Router[]): ChecksOnLoad {
  const asked = new Set<Router>()
  return {
    calls() {
      const due = checks.due(routers).filter((router) => !asked.has(router))
      return {
        calls: checks.calls(due),
        answered(results) {
          for (const router of due) asked.add(router)
          // What is wrong with one is said by the quote that names it.
          checks.verify(due, results, [])
        },
      }
    },
  }
}

const isPlace = (about: unknown): about is Place => isObject(about) && 'address' in about

const poolKey = ({ address }: Place): string => addressKey(address)

/** How the pools of one protocol are followed. */
export function followedPools(
  protocol: PoolProtocol,
  memory: PoolMemory,
  reader: Pick<EvmReader, 'read'>,
  checks?: ChecksOnLoad,
): Followed<Evm, CachedPool<PoolProtocol>> {
  const none: CachedPool<PoolProtocol> = { protocol, pool: null }
  const cachedPool = (pool: Pool | null): CachedPool<PoolProtocol> => (pool === null ? none : { protocol, pool })
  return {
    follow: memory.follow,
    emitters: (keys) => [...(memory.poolsAreEmitters === false ? [] : keys), ...(memory.emitters ?? [])],
    keysOf: (log) => memory.poolsOf(log),
    async load(keys, after, at, known) {
      const places = keys.map((key) => {
        const about = known?.get(key)?.about
        if (!isPlace(about)) throw new Error(`The place of the pool ${key} was not given.`)
        return about
      })
      const missing = known ? [...known.values()].flatMap(({ more }) => more) : []
      const reading = memory.read(places, missing)
      const due = checks?.calls()
      const { head, results } = await reader.read([...reading.calls, ...(due?.calls ?? [])], at, after)
      const pools = await completeReading(reading, { head, results: results.slice(0, reading.calls.length) }, reader, at)
      due?.answered(results.slice(reading.calls.length))
      const reverts = new Set(
        reading.calls.flatMap((call, index) => reverting(call, results[index]).map(({ address }) => addressKey(address))),
      )
      const joined = (key: string, loaded: Pool | null) => {
        const before = known?.get(key)?.state
        return loaded && isCachedPool<PoolProtocol>(before) && before.pool && memory.join ? memory.join(before.pool, loaded) : loaded
      }
      const stateOf = (key: string, index: number): CachedPool<PoolProtocol> => {
        const pool = joined(key, pools[index] ?? null)
        const address = places[index]?.address
        const isReverting = pool === null && address !== undefined && reverts.has(addressKey(address))
        return isReverting ? { protocol, pool, reverts: address } : cachedPool(pool)
      }
      return { head, states: new Map(keys.map((key, index) => [key, stateOf(key, index)])) }
    },
    apply(state, log, head) {
      const next = memory.apply(state.pool, log, head)
      return next === 'reload' ? next : next === state.pool ? state : cachedPool(next)
    },
    same(inMemory, loaded, head) {
      if (inMemory.pool === null || loaded.pool === null) return inMemory.pool === loaded.pool
      return memory.same ? memory.same(inMemory.pool, loaded.pool, head) : isDeepStrictEqual(inMemory.pool, loaded.pool)
    },
    ...(memory.ofBlock && { ofBlock: ({ pool }: CachedPool<PoolProtocol>, head: Head) => (pool && memory.ofBlock?.(pool, head)) ?? [] }),
  }
}
