import { isDeepStrictEqual } from 'node:util'
import type { At, Followed, FollowedPricing, Quote, QuoteChoice, Swap } from '../../contracts/index.ts'
import type { Following, Site } from '../following/following.ts'
import type { Source } from '../following/track.ts'
import { createDesk, type Desk } from './desk.ts'

/** A connector on a network, whose pools are followed. */
export interface QuoteVenue extends Site {
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
  quote(venue: QuoteVenue, swap: Swap, choice: QuoteChoice, at: At): Promise<Quote>
}

/** Of all exchanges: what nobody asked about for the longest time is forgotten beyond it. */
const mostDesks = 10_000

export function createQuotes({ following }: { following: Following }): Quotes {
  const names = new WeakMap<FollowedPricing, number>()
  const sources = new WeakMap<Followed, Source>()
  const desks = new Map<string, Desk>()
  let named = 0

  function nameOf(pricing: FollowedPricing): number {
    let name = names.get(pricing)
    if (name === undefined) names.set(pricing, (name = named += 1))
    return name
  }

  function deskOf(venue: QuoteVenue, { tokenIn, tokenOut }: Swap, choice: QuoteChoice): Desk {
    const { pricing } = venue
    const key = `${nameOf(pricing)} ${tokenIn.address} ${tokenOut.address} ${choice.version ?? ''}`
    const known = desks.get(key)
    if (known) return known
    const parts = pricing
      .basis({ tokenIn, tokenOut }, choice)
      .map(({ followed, ...part }) => ({ ...part, source: sourceOf(venue, followed) }))
    const desk = createDesk(pricing, choice, following.of(venue).bundle(parts))
    desks.set(key, desk)
    for (const oldest of desks.keys()) {
      if (desks.size <= mostDesks) break
      desks.delete(oldest)
    }
    return desk
  }

  function sourceOf({ chain, network, connector }: QuoteVenue, followed: Followed): Source {
    const known = sources.get(followed)
    if (known) return known
    const source: Source = {
      place: { chain, network, connector },
      followed,
      same: (_key, inMemory, loaded) =>
        loaded !== undefined && (followed.same ? followed.same(inMemory, loaded) : isDeepStrictEqual(inMemory, loaded)),
    }
    sources.set(followed, source)
    return source
  }

  return {
    quote: async (venue, swap, choice, at) => deskOf(venue, swap, choice).quote(swap, at),
  }
}
