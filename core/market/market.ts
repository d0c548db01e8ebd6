// The market: what tokens are worth now and were worth in the last minutes, by all built-in pools and order books with real depth. Read from time to time, asked without a node.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { withDeadline } from '../base/async.ts'
import type { At, Log, PoolView, Token } from '../contracts/index.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'
import { AskedTokens } from './asked-tokens.ts'
import type { PricedBook } from './book-price.ts'
import {
  compareExchange,
  medianValue,
  valueGiven,
  type Comparison,
  type ExchangedAmounts,
  type Valuation,
  type ValueBound,
  type ValueSample,
} from './exchange-values.ts'
import type { EarlierSamples } from './earlier-samples.ts'
import { dayMs, type MarketAges } from './market-ages.ts'
import { poolKey, valueTokens, type PricedPool, type SourceValues } from './token-values.ts'
import { reasonOf } from '../base/errors.ts'

export interface Market {
  /** Whether requests on the network are held against it. */
  isChecked(network: NetworkEntry): boolean
  /** Of listed tokens, by address. The native coin is worth what the token that wraps it is. Reads from now on what it lacks, for the client. */
  compare(network: NetworkEntry, exchanged: ExchangedAmounts, client: string): Comparison
  /** What is given is worth at most, now and in the last minutes. Reads from now on what it lacks, for the client. */
  value(network: NetworkEntry, gives: ExchangedAmounts['gives'], client: string): Valuation
  /**
   * What an exchange of so long ago lost by the market of then, or by the median of the minutes before it, whichever is worse; by the worst of what is known where
   * it was before all of that. A gain is below 0.
   * @returns `not yet` for a day where the market of it was not read; undefined where it has none
   */
  lostBefore(network: NetworkEntry, exchanged: ExchangedAmounts, agoMs: number): bigint | 'not yet' | undefined
  /** The symbol of the reference token. */
  referenceOf(network: NetworkEntry): string | undefined
  /**
   * Reads from now on the tokens that the client holds.
   * @returns whether the newest reading had them already, as far as so many are read, and it is known of them for how long they have had a market, and what was
   * their value for as long as trades need
   */
  watch(network: NetworkEntry, tokens: readonly string[], client: string): boolean
  /** Whether a pool has real depth now: its address, or what identifies it. */
  isDeep(network: NetworkEntry, pool: string): boolean
  /** What a unit of each token is worth now, at least or at most; those without a value are missing. For people: also by a market that is new. */
  shownValues(network: NetworkEntry, tokens: readonly string[], bound: ValueBound): Readonly<Record<string, bigint>>
  /** The same by a market that counts. */
  valuesNow(network: NetworkEntry, tokens: readonly string[], bound: ValueBound): Readonly<Record<string, bigint>>
  /** The same by the median of the last minutes. */
  medianValues(network: NetworkEntry, tokens: readonly string[], bound: ValueBound): Readonly<Record<string, bigint>>
  /** Where clients without the permission `thin` do not trade yet, as the market was not read for long enough, and for how long still. */
  warmingUp(): readonly { readonly chain: string; readonly network: string; readonly leftMs: number }[]
  /** Reads all networks once: where one is being read, again after that. Each is read by itself every few seconds. */
  read(): Promise<void>
  stop(): Promise<void>
}

interface MarketOptions {
  networks(): readonly NetworkEntry[]
  /** Whether requests on the network are held against the market. The others are not read. */
  isChecked(network: NetworkEntry): boolean
  /** Built-in connectors with pools. */
  venuesOn(network: NetworkEntry): readonly VenueEntry[]
  /** The pools of a pair, in the depth given. */
  readPools(network: NetworkEntry, venue: VenueEntry, pair: Pair, at: At): Promise<readonly PoolView[]>
  /** The order books of these pairs at built-in connectors, by `order-books.ts`. */
  readBooks(network: NetworkEntry, pairs: readonly Pair[], at: At): Promise<readonly PricedBook[]>
  /** Tokens that were quoted lately. */
  quotedTokens(network: NetworkEntry): readonly string[]
  settings: MarketSettings
  /** For how long tokens have had a market. */
  ages: MarketAges
  /** What was read before a restart. Absent: each start begins anew. */
  earlier?: EarlierSamples
  log: Log
  /** A clock that is never set. */
  steadyMs?: () => number
}

export interface Pair {
  readonly tokenIn: Token
  readonly tokenOut: Token
}

/** The settings `limits.market*`. */
export interface MarketSettings {
  /** Symbols: the first that a network lists is its reference token. */
  readonly referenceTokens: readonly string[]
  /** What a pool takes within 2 % of its price, and a book has on each side, to count: units of the reference token. */
  readonly minDepth: number
  /** Minutes over which the median is taken. */
  readonly minutes: number
}

/**
 * All pools of a pair, with what they take within 2 % of their price. Which of them count their worth decides, and not a number of them: at a price
 * near zero a pool takes any number of tokens for next to nothing, and some of those would leave no room for the others.
 */
export const marketPools = { depths: [200], most: Number.MAX_SAFE_INTEGER }

const readEveryMs = 10_000
/** For one network. */
const readWithinMs = 20_000
/** Tokens of one network that are read. */
const maxTokens = 48
/** A token that nobody asked for so long is read no more. */
const idleMs = 24 * 3_600_000
/** So long after a token was asked for first it has been read: that one and the next reading may be under way. */
const firstReadMs = 2 * readEveryMs
/** Part of the window for which a token needs to have had a market. */
const neededPart = 4

interface WatchedTokens {
  readonly tokens: AskedTokens
  samples: ValueSample[]
  /** The tokens of the newest sample, and the token that their values are in. */
  read: ReadonlySet<string>
  reference?: string
  /** Of the samples, by bound and address of those that were asked for. */
  readonly medians: Map<string, bigint | undefined>
  reading?: Promise<void> | undefined
}

const nothingWatched = (): WatchedTokens => ({
  tokens: new AskedTokens(idleMs),
  samples: [],
  read: new Set(),
  medians: new Map(),
})

export function createMarket(options: MarketOptions): Market {
  const { settings, log, steadyMs = () => performance.now() } = options
  const windowMs = settings.minutes * 60_000
  const watched = new WeakMap<NetworkEntry['impl'], WatchedTokens>()
  const stopping = new AbortController()
  let round: Promise<unknown> = Promise.resolve()
  const interval = setInterval(() => void (round = read((network) => !watchedOn(network).reading)), readEveryMs).unref()

  function watchedOn({ impl }: NetworkEntry): WatchedTokens {
    const known = watched.get(impl) ?? nothingWatched()
    watched.set(impl, known)
    return known
  }

  async function read(isDue: (network: NetworkEntry) => boolean = () => true): Promise<void> {
    await Promise.all(options.networks().filter(options.isChecked).filter(isDue).map(readNetwork))
  }

  async function readNetwork(network: NetworkEntry): Promise<void> {
    const state = watchedOn(network)
    while (state.reading) await state.reading
    if (stopping.signal.aborted || network.notReady() !== undefined) return
    state.reading = withDeadline(stopping.signal, readWithinMs, async (signal) => addSample(network, state, { signal }))
      .catch((error: unknown) => log.info({ ...placeOf(network), reason: reasonOf(error) }, 'market not read; read again in seconds'))
      .finally(() => (state.reading = undefined))
    await state.reading
  }

  async function addSample(network: NetworkEntry, state: WatchedTokens, at: At): Promise<void> {
    const reference = referenceOf(network, settings)
    if (!reference) return
    const known = await options.earlier?.open(network, reference)
    if (known) state.tokens.ask('read before the restart', known, steadyMs())
    const tokens = tokensToRead(network, state, options.quotedTokens(network), { sinceMs: steadyMs() - windowMs, nowMs: steadyMs() })
    if (tokens.length === 0) return
    const wrapped = network.impl.evm?.wrapped?.token
    const between = wrapped && wrapped.address !== reference.address ? [wrapped] : []
    const said = await readValues(options, network, { reference, between, tokens }, () => freshSamples(network).at(-1)?.books, at)
    const atMs = steadyMs()
    // First: until the age of a market is known, it does not count.
    await options.ages.note(placeOf(network), addressesOf([...between, ...tokens], reference), (token) => said.values.has(token))
    state.read = new Set(tokens.map(({ address }) => address))
    state.samples = [...state.samples.filter((each) => each.atMs > atMs - windowMs), { atMs, ...said }]
    state.medians.clear()
    state.reference = reference.address
    const before = (await options.earlier?.note(network, reference, { atMs, values: said.values }, at)) ?? []
    if (before.length === 0) return
    state.samples = [...before.filter((each) => each.atMs > atMs - windowMs), ...state.samples]
    state.medians.clear()
  }

  /** Until its market counts. The reference token is worth itself. */
  const ageLeftMs = (network: NetworkEntry, token: string): number =>
    token === watchedOn(network).reference ? 0 : options.ages.leftMs(network, token)
  const unlessNew = <T extends Comparison | Valuation>(compared: T, network: NetworkEntry, exchanged: ExchangedAmounts): T | TooNew =>
    (compared.is === 'priced' && newTokens(exchanged, (token) => ageLeftMs(network, token))) || compared

  /** Those that are not older than a few rounds: what is older says nothing of now. */
  function freshSamples(network: NetworkEntry): readonly ValueSample[] {
    const { samples } = watchedOn(network)
    const newest = samples.at(-1)
    return newest && steadyMs() - newest.atMs <= 6 * readEveryMs ? samples : []
  }

  /** Whether what lacks a value has none. */
  function wasRead(network: NetworkEntry, tokens: readonly string[]): boolean {
    const { read: newest, reference } = watchedOn(network)
    const samples = freshSamples(network)
    const isRead = (token: string) => token === reference || newest.has(token) || samples.some(({ values }) => values.has(token))
    return samples.length > 0 && options.ages.isRead(network) && tokens.every(isRead)
  }

  const valueNow = (network: NetworkEntry, token: string, bound: ValueBound) => freshSamples(network).at(-1)?.values.get(token)?.[bound]

  function askFor(network: NetworkEntry, exchanged: ExchangedAmounts, client: string): UnpricedExchange | undefined {
    const moment = { samples: freshSamples(network), nowMs: steadyMs(), neededMs: windowMs / neededPart }
    return askToRead(network, watchedOn(network), tokensOf(exchanged), client, moment)
  }

  /** What was read before the restart may count in a moment. */
  const unlessSoon = <T extends Comparison | Valuation>(compared: T, network: NetworkEntry): T | TooShort =>
    compared.is === 'too short' && options.earlier?.isPending(network)
      ? { is: 'too short', leftMs: Math.min(compared.leftMs, firstReadMs) }
      : compared

  return {
    isChecked: options.isChecked,
    compare(network, { gives, gets }, client) {
      const exchanged = { gives: withWrapped(gives, network), gets: withWrapped(gets, network) }
      const compared = askFor(network, exchanged, client) ?? compareExchange(exchanged, freshSamples(network), windowMs / neededPart)
      return unlessSoon(unlessNew(compared, network, exchanged), network)
    },
    value(network, amounts, client) {
      const given = { gives: withWrapped(amounts, network), gets: {} }
      const value = askFor(network, given, client) ?? valueGiven(given.gives, freshSamples(network), windowMs / neededPart)
      return unlessSoon(unlessNew(value, network, given), network)
    },
    lostBefore(network, { gives, gets }, agoMs) {
      const exchanged = { gives: withWrapped(gives, network), gets: withWrapped(gets, network) }
      const compared = unlessNew(compareAt(exchanged, freshSamples(network), steadyMs() - agoMs), network, exchanged)
      if (compared.is === 'priced') return compared.mostLostMicros
      return agoMs < dayMs && !wasRead(network, tokensOf(exchanged)) ? 'not yet' : undefined
    },
    referenceOf: (network) => referenceOf(network, settings)?.symbol,
    watch(network, tokens, client) {
      const state = watchedOn(network)
      // Beside those that the client trades, which have places of their own.
      state.tokens.ask(`held by ${client}`, tokens, steadyMs())
      const samples = freshSamples(network)
      const counted = tokens.map((token) => wrappedOr(token, network))
      if (samples.length === 0 || !options.ages.isRead(network)) return false
      if (state.read.size < maxTokens && !counted.every((token) => state.read.has(token))) return false
      const counts = (token: string) => token !== state.reference && ageLeftMs(network, token) === 0
      return !counted.some((token) => counts(token) && isMomentary(token, samples, windowMs / neededPart))
    },
    isDeep: (network, pool) => freshSamples(network).at(-1)?.deep.has(poolKey(pool)) === true,
    shownValues: (network, tokens, bound) => valuesOf(tokens, network, (token) => valueNow(network, token, bound)),
    valuesNow: (network, tokens, bound) =>
      valuesOf(tokens, network, (token) => (ageLeftMs(network, token) > 0 ? undefined : valueNow(network, token, bound))),
    medianValues(network, tokens, bound) {
      const [samples, { medians }] = [freshSamples(network), watchedOn(network)]
      return valuesOf(tokens, network, (token) => {
        const key = `${bound} ${token}`
        if (samples.length > 0 && !medians.has(key)) medians.set(key, medianValue(token, samples, bound))
        return samples.length > 0 && ageLeftMs(network, token) === 0 ? medians.get(key) : undefined
      })
    },
    warmingUp: () =>
      options.networks().flatMap((network) => {
        const { reference } = watchedOn(network)
        if (reference === undefined || !options.isChecked(network)) return []
        const value = valueGiven({ [reference]: 1n }, freshSamples(network), windowMs / neededPart)
        if (value.is !== 'too short') return []
        return [{ ...placeOf(network), leftMs: options.earlier?.isPending(network) ? Math.min(value.leftMs, firstReadMs) : value.leftMs }]
      }),
    read: () => read(),
    async stop() {
      clearInterval(interval)
      stopping.abort()
      await round.catch(() => {})
    },
  }
}

/**
 * What pools and order books say that tokens are worth now.
 * @param between the token through which others are valued, if any @param keptBooks asked once all is read: the books that counted before
 */
async function readValues(
  options: Pick<MarketOptions, 'readPools' | 'readBooks' | 'venuesOn' | 'settings'>,
  network: NetworkEntry,
  { reference, between, tokens }: { readonly reference: Token; readonly between: readonly Token[]; readonly tokens: readonly Token[] },
  keptBooks: () => ValueSample['books'] | undefined,
  at: At,
): Promise<SourceValues> {
  const pairs = pairsOf([...between, ...tokens], [reference, ...between])
  const [pools, books] = await Promise.all([
    Promise.all(options.venuesOn(network).map((venue) => readVenue(options, network, venue, pairs, at))),
    options.readBooks(network, pairs, at),
  ])
  const minDepthMicros = BigInt(Math.round(options.settings.minDepth * 1e6))
  const kept = keptBooks()
  return valueTokens(
    { pools: pools.flat(), books },
    { reference, between: between.map(({ address }) => address), minDepthMicros, ...(kept && { keptBooks: kept }) },
  )
}

/** One pair in a turn of the event loop: the depth of pools takes computing. */
async function readVenue(
  { readPools }: Pick<MarketOptions, 'readPools'>,
  network: NetworkEntry,
  venue: VenueEntry,
  pairs: readonly Pair[],
  at: At,
): Promise<readonly PricedPool[]> {
  const found: PricedPool[] = []
  for (const pair of pairs) {
    // A pair without pools, or a node in trouble: nothing is known then.
    const pools = await readPools(network, venue, pair, at).catch(() => [])
    found.push(...pools.map((view) => ({ connector: venue.connector, view })))
    await nextTurn()
  }
  return found
}

type UnpricedExchange = Exclude<Comparison, { is: 'priced' }>
type TooShort = Extract<Comparison, { is: 'too short' }>
type TooNew = Extract<Comparison, { is: 'too new' }>

/** What is known at a moment, and for how long a token needs to have had a market. */
interface MarketMoment {
  readonly samples: readonly ValueSample[]
  readonly nowMs: number
  readonly neededMs: number
}

/** Has these tokens read from now on. @returns why nothing is known of them; undefined: the samples may tell */
function askToRead(
  network: NetworkEntry,
  { tokens, read }: WatchedTokens,
  asked: readonly string[],
  client: string,
  { samples, nowMs, neededMs }: MarketMoment,
): UnpricedExchange | undefined {
  const unlisted = asked.filter((token) => !network.tokens.listedAt(token))
  if (unlisted.length > 0) return { is: 'no market', tokens: unlisted }
  const isValued = (token: string) => samples.some(({ values }) => values.has(token))
  const isNew = asked.some((token) => !isValued(token) && !read.has(token) && !tokens.wasAsked(token, nowMs - firstReadMs))
  tokens.ask(client, asked, nowMs)
  // The first reading may find a market.
  return isNew ? { is: 'too short', leftMs: neededMs } : undefined
}

/** Whoever has made a market an hour ago may be alone in it. */
function newTokens(exchanged: ExchangedAmounts, leftMs: (token: string) => number): TooNew | undefined {
  const tokens = tokensOf(exchanged).filter((token) => leftMs(token) > 0)
  return tokens.length === 0 ? undefined : { is: 'too new', tokens, leftMs: Math.max(...tokens.map(leftMs)) }
}

const addressesOf = (tokens: readonly Token[], but: Token): readonly string[] =>
  [...new Set(tokens.map(({ address }) => address))].filter((address) => address !== but.address)

const tokensOf = ({ gives, gets }: ExchangedAmounts): readonly string[] => [...new Set([...Object.keys(gives), ...Object.keys(gets)])]

/** At the first reading from that moment on, else at the last one: of those in which all tokens have a value. */
function compareAt(exchanged: ExchangedAmounts, samples: readonly ValueSample[], atMs: number): Comparison {
  const priced = samples.filter(({ values }) => tokensOf(exchanged).every((token) => values.has(token)))
  const first = priced.findIndex((each) => each.atMs >= atMs)
  const [oldest] = priced
  if (!oldest || oldest.atMs - atMs <= 2 * readEveryMs)
    return compareExchange(exchanged, first === -1 ? priced : priced.slice(0, first + 1), 0)
  // Nobody knows the market of then.
  return priced
    .map((sample) => compareExchange(exchanged, [sample], 0))
    .reduce((worst, each) => (lostIn(each) > lostIn(worst) ? each : worst))
}

/** Whether all that is known of a token's value is of a moment, in which it may be pushed. */
function isMomentary(token: string, samples: readonly ValueSample[], neededMs: number): boolean {
  const [newest, first] = [samples.at(-1), samples.find(({ values }) => values.has(token))]
  return newest?.values.has(token) === true && first !== undefined && newest.atMs - first.atMs < neededMs
}

const lostIn = (compared: Comparison): bigint => (compared.is === 'priced' ? compared.mostLostMicros : 0n)

const valuesOf = (
  tokens: readonly string[],
  network: NetworkEntry,
  valueOf: (token: string) => bigint | undefined,
): Readonly<Record<string, bigint>> =>
  Object.fromEntries(
    tokens.flatMap((token) => {
      const value = valueOf(wrappedOr(token, network))
      return value === undefined ? [] : [[token, value]]
    }),
  )

const placeOf = ({ chain, network }: NetworkEntry) => ({ chain, network })

function referenceOf({ tokens }: NetworkEntry, { referenceTokens }: MarketSettings): Token | undefined {
  for (const symbol of referenceTokens) {
    const named = tokens.listed.filter((each) => each.symbol === symbol)
    if (named.length === 1) return named[0]
  }
  return undefined
}

/** Listed ones, by turns of those who asked, and then those that were quoted. */
function tokensToRead(
  network: NetworkEntry,
  { tokens: asked, read }: WatchedTokens,
  quoted: readonly string[],
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): readonly Token[] {
  const inTurns = asked.inTurns((token) => read.has(wrappedOr(token, network)), sinceMs, nowMs)
  const addresses = new Set([...inTurns, ...quoted].map((token) => wrappedOr(token, network)))
  return [...addresses].flatMap((token) => network.tokens.listedAt(token) ?? []).slice(0, maxTokens)
}

/** Each token with each of those that it is valued by. */
const pairsOf = (tokens: readonly Token[], by: readonly Token[]): readonly Pair[] => {
  const pairs = tokens.flatMap((tokenIn) =>
    by.filter(({ address }) => address !== tokenIn.address).map((tokenOut) => ({ tokenIn, tokenOut })),
  )
  return [...new Map(pairs.map((pair) => [`${pair.tokenIn.address} ${pair.tokenOut.address}`, pair])).values()].filter(
    // The reference token is worth itself.
    ({ tokenIn }) => tokenIn.address !== by[0]?.address,
  )
}

const wrappedOr = (token: string, { impl }: NetworkEntry): string =>
  (token === impl.nativeCurrency.address && impl.evm?.wrapped?.token.address) || token

/** The native coin is counted as what wraps it. */
function withWrapped(amounts: Readonly<Record<string, bigint>>, network: NetworkEntry): Readonly<Record<string, bigint>> {
  const counted = new Map<string, bigint>()
  for (const [token, raw] of Object.entries(amounts)) {
    const key = wrappedOr(token, network)
    counted.set(key, (counted.get(key) ?? 0n) + raw)
  }
  return Object.fromEntries(counted)
}
