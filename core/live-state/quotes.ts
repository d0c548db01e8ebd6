import { mkdirSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { At, Followed, FollowedPricing, Quote, QuoteChoice, Swap, Log } from '../contracts/index.ts'
import { createPairQuoter, type PairQuoter, createQuoteSubscriptions, type QuoteSubscriptions, type QuoteListener } from './pair-quoter.ts'
import type { Following, FollowedNetwork, Synchroniser } from './synchroniser.ts'
import { createStateSource, type StateSource } from './tracked-states.ts'

/** A connector on a network, whose pools are followed. */
export interface QuoteVenue extends FollowedNetwork {
  readonly connector: string
  readonly pricing: FollowedPricing
}

/** Quotes from memory, for all exchanges that can be followed. */
export interface Quotes {
  /**
   * Without asking the network, where all that it goes by is in memory already; the same object for the same question until something may
   * have changed.
   * @throws SluiceError NETWORK where what is in memory is too old: never an old price
   */
  quote(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, at: At): Quote | Promise<Quote>
  /**
   * Calls back with the quote as soon as there is one, after every block in which it has become another, and with `undefined` while nothing
   * can be said. Each question is answered once for all who follow it. Until the function given is called.
   * @throws SluiceError where no such question can be asked, or OVERLOADED where there is no room
   */
  follow(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, changed: QuoteListener): () => void
  /** Whether what happens on its network cannot be read, so that quotes from memory are errors: then the exchange is to be asked itself. */
  isCutOff(venue: QuoteVenue): boolean
  /** Brings into memory what an exchange was asked about when the server ran last. */
  warmUp(venue: QuoteVenue): Promise<void>
  stop(): Promise<void>
}

interface QuotesOptions {
  following: Following
  pairs: QuotedPairs
}

interface Kept {
  readonly desk: PairQuoter
  readonly pair: QuotedPair
  usedAt: number
}

/** Of all exchanges: what nobody asked about for the longest time is forgotten beyond it, so much of it at once. */
const mostDesks = 10_000
const forgotten = 500
/** So many of an exchange are brought back. */
const mostRecalled = 200
const recallMs = 30_000
const keepMs = 60_000

export function createQuotes({ following, pairs }: QuotesOptions): Quotes {
  const names = new WeakMap<FollowedPricing, number>()
  const sources = new WeakMap<Followed, StateSource>()
  const desks = new Map<string, Kept>()
  const followed = new WeakMap<Synchroniser, QuoteSubscriptions>()
  let named = 0
  let news = false
  const keeping = setInterval(() => void keep(), keepMs)
  keeping.unref()

  function nameOf(pricing: FollowedPricing): number {
    let name = names.get(pricing)
    if (name === undefined) names.set(pricing, (name = named += 1))
    return name
  }

  function deskOf(venue: QuoteVenue, { tokenIn, tokenOut }: Pick<Swap, 'tokenIn' | 'tokenOut'>, { version }: QuoteChoice): PairQuoter {
    const { pricing } = venue
    const key = `${nameOf(pricing)} ${tokenIn.address} ${tokenOut.address} ${version ?? ''}`
    const known = desks.get(key)
    if (known) {
      known.usedAt = Date.now()
      return known.desk
    }
    const choice = version === undefined ? {} : { version }
    const parts = pricing
      .basis({ tokenIn, tokenOut }, choice)
      .map(({ followed, ...part }) => ({ ...part, source: knownSource(venue, followed) }))
    const desk = createPairQuoter(pricing, choice, following.of(venue).bundle(parts))
    if (desks.size >= mostDesks) for (const [oldest] of newestFirst().slice(-forgotten)) desks.delete(oldest)
    const { chain, network, connector } = venue
    desks.set(key, { desk, pair: { chain, network, connector, ...choice, tokenIn, tokenOut }, usedAt: Date.now() })
    news = true
    return desk
  }

  const newestFirst = () => [...desks].toSorted(([, a], [, b]) => b.usedAt - a.usedAt)

  function knownSource({ chain, network, connector }: QuoteVenue, followed: Followed): StateSource {
    const known = sources.get(followed)
    if (known) return known
    const source = createStateSource({ chain, network, connector }, followed)
    sources.set(followed, source)
    return source
  }

  function followedOn(site: FollowedNetwork): QuoteSubscriptions {
    const synchroniser = following.of(site)
    const known = followed.get(synchroniser) ?? createQuoteSubscriptions(synchroniser)
    followed.set(synchroniser, known)
    return known
  }

  async function keep(): Promise<void> {
    if (!news) return
    news = false
    // Of exchanges that nobody asked yet it is still to be brought back.
    const asked = new Set([...desks.values()].map(({ pair }) => placeOf(pair)))
    const waiting = pairs.known.filter((pair) => !asked.has(placeOf(pair)))
    await pairs.keep([...newestFirst().map(([, { pair }]) => pair), ...waiting].slice(0, mostDesks))
  }

  return {
    quote: (venue, swap, choice, at) => deskOf(venue, swap, choice).quote(swap, at),
    follow: (venue, swap, choice, changed) => followedOn(venue).follow(deskOf(venue, swap, choice), swap, changed),
    isCutOff: (venue) => following.of(venue).isCutOff,
    async warmUp(venue) {
      const there = pairs.known.filter((pair) => placeOf(pair) === placeOf(venue)).slice(0, mostRecalled)
      const at = { signal: AbortSignal.timeout(recallMs) }
      // What cannot be read now is read when it is asked about.
      await Promise.allSettled(there.map(async (pair) => deskOf(venue, pair, pair).load(at)))
    },
    async stop() {
      clearInterval(keeping)
      await keep()
    },
  }
}

const placeOf = ({ chain, network, connector }: Pick<QuotedPair, 'chain' | 'network' | 'connector'>) => `${connector} ${chain}/${network}`

const Token = Type.Object({
  symbol: Type.String(),
  address: Type.String(),
  decimals: Type.Integer({ minimum: 0, maximum: 255 }),
  native: Type.Optional(Type.Literal(true)),
})

/** Two tokens that an exchange was asked about. */
const QuotedPair = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  version: Type.Optional(Type.String()),
  tokenIn: Token,
  tokenOut: Token,
})
const KeptOfQuotedPairs = Type.Array(QuotedPair)

type QuotedPair = Static<typeof QuotedPair>

/** What was asked about when the server ran last, newest first: so that its pools are in memory before it is asked about again. */
interface QuotedPairs {
  readonly known: readonly QuotedPair[]
  /** Never fails: what cannot be kept is only read anew. */
  keep(pairs: readonly QuotedPair[]): Promise<void>
}

/** In one file of the server's data; what is damaged is left. */
export function openQuotedPairs(dataDir: string, log: Log): QuotedPairs {
  const file = path.join(dataDir, 'quoted-pairs.json')
  let writing = Promise.resolve()
  return {
    known: readPairs(file, log),
    keep(pairs) {
      writing = writing.then(async () => {
        try {
          mkdirSync(dataDir, { recursive: true })
          await writeFile(`${file}.new`, JSON.stringify(pairs))
          await rename(`${file}.new`, file)
        } catch (cause) {
          log.warn({ err: cause, file }, 'which pairs were asked about cannot be remembered')
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
    // Nobody asked yet, or what there is cannot be read, which keeping it will say.
    return []
  }
  try {
    return Value.Parse(KeptOfQuotedPairs, JSON.parse(text))
  } catch (cause) {
    log.warn({ err: cause, file }, 'which pairs were asked about is not in the file that should have it')
    return []
  }
}
