import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import type { At, Followed, FollowedPricing, Head, Log, PoolsChoice, PoolView, Quote, QuoteChoice, Swap } from '../contracts/index.ts'
import { fits } from '../base/schema-check.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import {
  createPairQuoter,
  createQuoteMemory,
  createQuoteSubscriptions,
  type BoundAtHead,
  type PairQuoter,
  type QuoteListener,
  type QuoteSubscriptions,
} from './pair-quoter.ts'
import type { OneBlock } from './one-block.ts'
import type { FollowedNetwork, Synchronisers, Synchroniser } from './synchroniser.ts'
import { createStateSource, type StateSource } from './tracked-states.ts'
import type { NetworkName } from '../base/networks.ts'

/** A connector on a network, and how it computes quotes from the states of its pools. */
export interface QuoteVenue extends FollowedNetwork {
  readonly connector: string
  readonly pricing: FollowedPricing
  /** Of this release: what it says of a pair is believed for all amounts. */
  readonly builtIn?: boolean
}

/** Quotes from memory, for all exchanges whose pools can be followed. */
export interface Quotes {
  /**
   * Returns at once if all states are in memory: from the second time on the same object for the same question, until a state may have changed.
   * @param block of which the quote has to be, with others of the same request; absent: of the newest
   * @throws SluiceError NETWORK if the states are too old to be shown
   */
  quote(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, at: At, block?: OneBlock): Quote | Promise<Quote>
  /**
   * What no quote of the connector does better than, by the states in memory; undefined where it does not say, or where they are not there.
   * @param block as in `quote`
   */
  bound(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, block?: OneBlock): BoundAtHead | undefined
  /**
   * Calls back with the first quote, after every block that changes it, and with `undefined` while there is none, until the returned function
   * is called. Each question is computed once for all who follow it.
   * @throws SluiceError if the question is invalid, or OVERLOADED if there is no room
   */
  follow(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, listener: QuoteListener): () => void
  /** The pools between two tokens, from memory; undefined where the exchange does not show its pools. @throws SluiceError NETWORK */
  pools(venue: QuoteVenue, tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, choice: PoolsChoice, at: At): Promise<FollowedPools | undefined>
  /** Addresses of the tokens of a network that were quoted in this time, the newest first. */
  quotedTokens(on: NetworkName, withinMs: number): readonly string[]
  /** Increases whenever a state of the network may have changed; undefined while states cannot be shown at once. */
  version(on: FollowedNetwork): number | undefined
  /** Whether quotes from memory are errors because the changes of the network cannot be read: then the exchange has to be asked. */
  isCutOff(venue: QuoteVenue): boolean
  /** Loads the pairs that were quoted before the last stop of the server. */
  warmUp(venue: QuoteVenue): Promise<void>
  /** How many quotes are kept, of all pairs. */
  readonly size: number
  stop(): Promise<void>
}

export interface FollowedPools {
  readonly head: Head
  readonly pools: readonly PoolView[]
  /** Whether they were in memory before. */
  readonly isKnown: boolean
}

interface QuotesOptions {
  /** How many quotes are kept at most, of all pairs. */
  maxQuotes: number
  following: Synchronisers
  pairs: QuotedPairs
}

interface CacheEntry {
  readonly quoter: PairQuoter
  readonly pair: QuotedPair
  /** In the map of its exchange. */
  readonly key: string
  readonly ofExchange: Map<string, CacheEntry>
  usedAt: number
  /** Absent: only its pools were read. */
  quotedAt?: number
}

/** Pairs of all exchanges. Beyond it those that were not used for the longest time are dropped, so many at once. */
const maxPairs = 10_000
const droppedPairs = 500
/** Pairs of one exchange that are loaded at start. */
const maxWarmUp = 200
const warmUpTimeoutMs = 30_000
const saveIntervalMs = 60_000

export function createQuotes({ following, pairs, maxQuotes }: QuotesOptions): Quotes {
  const memory = createQuoteMemory(maxQuotes)
  const sources = new WeakMap<Followed, StateSource>()
  const entries = new Set<CacheEntry>()
  const entriesOf = new WeakMap<FollowedPricing, Map<string, CacheEntry>>()
  const keyOf = createPairKeys()
  const subscriptions = new WeakMap<Synchroniser, QuoteSubscriptions>()
  let isUnsaved = false
  let saved: Promise<void> = Promise.resolve()
  const saving = setInterval(() => void save(), saveIntervalMs)
  saving.unref()

  function quoterOf(venue: QuoteVenue, tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, choice: QuoteChoice): PairQuoter {
    const entry = entryOf(venue, tokens, choice)
    entry.quotedAt = entry.usedAt
    return entry.quoter
  }

  function entryOf(venue: QuoteVenue, tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, { version }: QuoteChoice): CacheEntry {
    const { chain, network, connector, pricing } = venue
    const ofExchange = entriesOf.get(pricing) ?? new Map<string, CacheEntry>()
    const key = keyOf(tokens, version)
    const known = ofExchange.get(key)
    if (known) {
      known.usedAt = performance.now()
      return known
    }
    const { tokenIn, tokenOut } = tokens
    const choice = version === undefined ? {} : { version }
    const parts = pricing
      .basis({ tokenIn, tokenOut }, choice)
      .map(({ followed, ...part }) => ({ ...part, source: sourceOf(venue, followed) }))
    const quoter = createPairQuoter(pricing, choice, following.of(venue).bundle(parts), memory, venue.builtIn === true)
    if (entries.size >= maxPairs)
      for (const oldest of newestFirst().slice(-droppedPairs)) {
        oldest.quoter.forget()
        oldest.ofExchange.delete(oldest.key)
        entries.delete(oldest)
      }
    const pair = { chain, network, connector, ...choice, tokenIn, tokenOut }
    const entry: CacheEntry = { quoter, pair, key, ofExchange, usedAt: performance.now() }
    entriesOf.set(pricing, ofExchange.set(key, entry))
    entries.add(entry)
    isUnsaved = true
    return entry
  }

  const newestFirst = () => [...entries].toSorted((a, b) => b.usedAt - a.usedAt)

  function sourceOf({ chain, network, connector }: QuoteVenue, followed: Followed): StateSource {
    const source = sources.get(followed) ?? createStateSource({ chain, network, connector }, followed)
    sources.set(followed, source)
    return source
  }

  function subscriptionsOn(network: FollowedNetwork): QuoteSubscriptions {
    const synchroniser = following.of(network)
    const known = subscriptions.get(synchroniser) ?? createQuoteSubscriptions(synchroniser)
    subscriptions.set(synchroniser, known)
    return known
  }

  /** Ends when all that was to be saved is. */
  function save(): Promise<void> {
    if (!isUnsaved) return saved
    isUnsaved = false
    // The pairs of exchanges without a request in this run are still to be loaded.
    const used = new Set([...entries].map(({ pair }) => venueName(pair)))
    const unused = pairs.known.filter((pair) => !used.has(venueName(pair)))
    return (saved = pairs.save([...newestFirst().map(({ pair }) => pair), ...unused].slice(0, maxPairs)))
  }

  return {
    get size() {
      return memory.size
    },
    quote: (venue, swap, choice, at, block) => quoterOf(venue, swap, choice).quote(swap, at, block),
    bound: (venue, swap, choice, block) => quoterOf(venue, swap, choice).bound(swap, block),
    follow: (venue, swap, choice, listener) => subscriptionsOn(venue).follow(quoterOf(venue, swap, choice), swap, listener),
    async pools(venue, tokens, choice, at) {
      const { pricing } = venue
      if (!pricing.pools) return undefined
      const { quoter } = entryOf(venue, tokens, {})
      const known = quoter.peekWhole()
      const { states, head } = known ?? (await quoter.wholeStates(at))
      return { head, pools: await pricing.pools(tokens, choice, states, head, at), isKnown: known !== undefined }
    },
    quotedTokens({ chain, network }, withinMs) {
      const since = performance.now() - withinMs
      const recent = newestFirst().filter(
        ({ pair, quotedAt = -Infinity }) => pair.chain === chain && pair.network === network && quotedAt >= since,
      )
      return [...new Set(recent.flatMap(({ pair }) => [pair.tokenIn.address, pair.tokenOut.address]))]
    },
    version: (on) => following.of(on).version(),
    isCutOff: (venue) => following.of(venue).isCutOff,
    async warmUp(venue) {
      const known = pairs.known.filter((pair) => venueName(pair) === venueName(venue)).slice(0, maxWarmUp)
      const at = { signal: AbortSignal.timeout(warmUpTimeoutMs) }
      // Pairs that cannot be loaded now are loaded with their first request.
      await Promise.allSettled(known.map(async (pair) => quoterOf(venue, pair, pair).load(at)))
    },
    async stop() {
      clearInterval(saving)
      await save()
    },
  }
}

/** How many pairs the texts of are kept for. */
const maxPairKeys = 1_000

/** The same text for all exchanges and amounts: to put it together takes longer than to find by it. */
function createPairKeys() {
  const byTokenIn = new Map<string, Map<string, string>>()
  let size = 0
  return ({ tokenIn, tokenOut }: Pick<Swap, 'tokenIn' | 'tokenOut'>, version: string | undefined): string => {
    const known = byTokenIn.get(tokenIn.address)?.get(tokenOut.address)
    if (known !== undefined) return version === undefined ? known : `${known}${version}`
    if (size >= maxPairKeys) byTokenIn.clear()
    size = size >= maxPairKeys ? 1 : size + 1
    const pair = `${tokenIn.address} ${tokenOut.address} `
    const ofTokenIn = byTokenIn.get(tokenIn.address) ?? new Map<string, string>()
    byTokenIn.set(tokenIn.address, ofTokenIn.set(tokenOut.address, pair))
    return version === undefined ? pair : `${pair}${version}`
  }
}

const venueName = ({ chain, network, connector }: Pick<QuotedPair, 'chain' | 'network' | 'connector'>) => `${connector} ${chain}/${network}`

const Token = Type.Object({
  symbol: Type.String(),
  address: Type.String(),
  decimals: Type.Integer({ minimum: 0, maximum: 255 }),
  native: Type.Optional(Type.Literal(true)),
})

/** Two tokens that were quoted on an exchange. */
const QuotedPair = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  version: Type.Optional(Type.String()),
  tokenIn: Token,
  tokenOut: Token,
})
const QuotedPairsFile = Type.Array(QuotedPair)

type QuotedPair = Static<typeof QuotedPair>

/** The pairs that were quoted in the last run, newest first: their pools are loaded before they are asked for again. */
interface QuotedPairs {
  readonly known: readonly QuotedPair[]
  /** Never fails: pairs that are not saved are only loaded later. */
  save(pairs: readonly QuotedPair[]): Promise<void>
}

/** The file `quoted-pairs.json` in the server's data folder. A damaged file is ignored. */
export function openQuotedPairs(dataDir: string, log: Log): QuotedPairs {
  const file = path.join(dataDir, 'quoted-pairs.json')
  let writing = Promise.resolve()
  return {
    known: readPairs(file, log),
    save(pairs) {
      writing = writing.then(async () => {
        try {
          mkdirSync(dataDir, { recursive: true, mode: 0o700 })
          await writeWholeFile(file, JSON.stringify(pairs))
        } catch (cause) {
          log.warn({ err: cause, file }, 'quoted pairs not saved')
        }
      })
      return writing
    },
  }
}

function readPairs(file: string, log: Log): readonly QuotedPair[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // No pair was quoted yet, or the file is unreadable, which saving will report.
    return []
  }
  try {
    const read: unknown = JSON.parse(text)
    if (fits(QuotedPairsFile, read)) return read
    log.warn({ file }, 'quoted pairs not read: the file is damaged')
  } catch (cause) {
    log.warn({ err: cause, file }, 'quoted pairs not read: the file is damaged')
  }
  return []
}
