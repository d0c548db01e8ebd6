// Asks only those connectors that may be the best. Each is quoted by its own pools and contracts, so the best of all is found without those whose
// bound (`FollowedPricing.bound`) is worse than a quote that another gave.
//
// Why the answer is that of all. A connector is passed over only if the most that it could give, for the least gas that it could use, leaves strictly
// less than the best that was found, by the same price of the coin. Gas costs more for more units, and so does its cost in the token, which is rounded
// up. So its quote would be ranked below the best, whatever it is, and never beside it. Whoever gives no bound is asked: connectors that are not built
// in, whose word on themselves is not taken; that run in another process; whose states are not in memory; that are late, quarantined or in trouble.
// Where nobody has a price all are asked, for their reasons.
import type { At, GasTerms, Head, Swap } from '../../contracts/index.ts'
import { after } from '../../base/async.ts'
import { SluiceError } from '../../base/errors.ts'
import { payerOf } from '../../base/fair-turns.ts'
import type { VenueEntry } from '../../plugins/index.ts'
import { allOf, isLate, isLeftOut, type AskScope, type LeftOutConnector } from './ask-each.ts'
import { worthOf, type WithTerms } from './candidates.ts'
import { costOf, type CoinRate } from './coin-rate.ts'
import { toQuoteChoice, toQuoteVenue, toSwap, type SwapRequest } from './quote.ts'

export type ConnectorAnswer = WithTerms | LeftOutConnector

/** What was asked, and the price of the coin by which the rest was passed over. */
interface LikelyAnswers {
  readonly answers: readonly ConnectorAnswer[]
  readonly rate: CoinRate | undefined
}

type LikelyResult = LikelyAnswers | Promise<LikelyAnswers>

interface Questions {
  readonly swap: SwapRequest
  ask(venues: readonly VenueEntry[]): readonly ConnectorAnswer[] | Promise<readonly ConnectorAnswer[]>
  rateBy(found: readonly WithTerms[]): CoinRate | undefined | Promise<CoinRate | undefined>
  gasOf(units: bigint, head: Head): GasTerms | Promise<GasTerms>
}

/** A connector, and what its quote would be at best. */
interface Contender {
  readonly venue: VenueEntry
  readonly bound: { readonly amountRaw: bigint; readonly gasUnits: bigint; readonly head: Head }
}

interface Field {
  /** They are asked, whatever others give. */
  readonly certain: readonly VenueEntry[]
  /** The best first. */
  readonly contenders: readonly Contender[]
  /** They have no route. */
  readonly others: readonly VenueEntry[]
}

/** At once where all answer at once. */
export function askLikely(venues: readonly VenueEntry[], { swap, ask, rateBy, gasOf }: Questions, scope: AskScope, at: At): LikelyResult {
  const { turns } = scope.services
  const exact = swap.side === 'SELL' ? 'in' : 'out'

  /**
   * @param field who was not asked yet
   * @param hasWaited each turn of waiting takes as long as the slowest, so that the rest is asked together
   * @param hasTurn others had their turn just now
   */
  function goOn(field: Field, answers: readonly ConnectorAnswer[], hasWaited: boolean, hasTurn = false): LikelyResult {
    const found = answers.filter((each): each is WithTerms => !isLeftOut(each))
    if (found.length === 0) return first(field, answers, hasWaited, hasTurn)
    const rate = rateBy(found)
    if (rate instanceof Promise) return rate.then((known) => compare(fieldNow(field), found, answers, hasWaited, hasTurn, known))
    return compare(field, found, answers, hasWaited, hasTurn, rate)
  }

  function compare(
    field: Field,
    found: readonly WithTerms[],
    answers: readonly ConnectorAnswer[],
    hasWaited: boolean,
    hasTurn: boolean,
    rate: CoinRate | undefined,
  ): LikelyResult {
    const leastRaw = found.map(({ sourced: { quote }, gas }) => worthOf(exact, quote.amountRaw, rate && costOf(gas, rate))).reduce(larger)
    const choose = (now: Field, worths: readonly bigint[]): LikelyResult => {
      const worthRaw = ({ venue, bound }: Contender, place: number): bigint | undefined => {
        if (now === field) return worths[place]
        return worths[field.contenders.findIndex((before) => before.venue === venue && isSameBound(before.bound, bound))]
      }
      const rivals = now.contenders.filter((each, place) => (worthRaw(each, place) ?? leastRaw) >= leastRaw).map(({ venue }) => venue)
      const asked = hasWaited ? [...now.certain, ...rivals] : [...now.certain, ...rivals.slice(0, 1)]
      return asked.length === 0 ? { answers, rate } : askThen(asked, now, answers, hasWaited, hasTurn)
    }
    const worths = worthsOf(field.contenders, rate)
    return worths instanceof Promise ? worths.then((each) => choose(fieldNow(field), each)) : choose(field, worths)
  }

  function first(field: Field, answers: readonly ConnectorAnswer[], hasWaited: boolean, hasTurn: boolean): LikelyResult {
    const { certain, contenders, others } = field
    if (certain.length + contenders.length + others.length === 0) return { answers, rate: undefined }
    const asked = [...certain, ...contenders.slice(0, hasWaited ? contenders.length : 1).map(({ venue }) => venue)]
    return askThen(asked.length === 0 ? others : asked, field, answers, hasWaited, hasTurn)
  }

  function askThen(
    asked: readonly VenueEntry[],
    field: Field,
    answers: readonly ConnectorAnswer[],
    hasWaited: boolean,
    hasTurn: boolean,
  ): LikelyResult {
    if (answers.length > 0 && !hasTurn && turns.isOver())
      return turns.next(payerOf(at.signal)).then(() => goOn(fieldNow(field), answers, hasWaited, true))
    const more = ask(asked)
    if (!(more instanceof Promise)) return goOn(without(field, asked), [...answers, ...more], hasWaited)
    return more.then((each) => goOn(fieldNow(without(field, asked)), [...answers, ...each], true))
  }

  /** After each wait there may be a new block. */
  const fieldNow = (before: Field): Field => fieldOf(venuesIn(before))

  function fieldOf(left: readonly VenueEntry[]): Field {
    const [certain, contenders, others]: [VenueEntry[], Contender[], VenueEntry[]] = [[], [], []]
    const asked = toSwap(swap)
    for (const venue of left) {
      const bound = boundOf(venue, asked, swap, scope, at)
      if (!bound) certain.push(venue)
      else if (exact === 'in' && bound.amountRaw === 0n) others.push(venue)
      else contenders.push({ venue, bound })
    }
    const sign = exact === 'in' ? 1 : -1
    contenders.sort((one, other) => (one.bound.amountRaw > other.bound.amountRaw ? -sign : sign))
    return { certain, contenders, others }
  }

  /** What each would leave at most. */
  function worthsOf(contenders: readonly Contender[], rate: CoinRate | undefined) {
    if (rate === undefined) return contenders.map(({ bound }) => worthOf(exact, bound.amountRaw, undefined))
    // Most use the same gas at the same block.
    const costs: { gasUnits: bigint; head: Head; costRaw: bigint | Promise<bigint> }[] = []
    const costRawOf = ({ gasUnits, head }: Contender['bound']): bigint | Promise<bigint> => {
      const known = costs.find((each) => each.gasUnits === gasUnits && each.head === head)
      if (known) return known.costRaw
      const costRaw = after(gasOf(gasUnits, head), (gas) => costOf(gas, rate))
      costs.push({ gasUnits, head, costRaw })
      return costRaw
    }
    return allOf(contenders.map(({ bound }) => after(costRawOf(bound), (costRaw) => worthOf(exact, bound.amountRaw, costRaw))))
  }

  return goOn(fieldOf(venues), [], false)
}

const isSameBound = (one: Contender['bound'], other: Contender['bound']): boolean =>
  one.amountRaw === other.amountRaw && one.gasUnits === other.gasUnits && one.head === other.head

const venuesIn = ({ certain, contenders, others }: Field) => [...certain, ...contenders.map(({ venue }) => venue), ...others]

function without({ certain, contenders, others }: Field, asked: readonly VenueEntry[]): Field {
  const isLeft = (venue: VenueEntry) => !asked.includes(venue)
  return { certain: certain.filter(isLeft), contenders: contenders.filter((each) => isLeft(each.venue)), others: others.filter(isLeft) }
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** Undefined where a connector is to be asked, whatever others give. */
function boundOf(venue: VenueEntry, asked: Swap, swap: SwapRequest, { network, services: { registry, quotes }, block }: AskScope, at: At) {
  if (!venue.builtIn || swap.pool !== undefined || venue.notReady() !== undefined || isLate(venue, at)) return undefined
  const quoteVenue = toQuoteVenue(network, venue)
  if (!quoteVenue?.pricing.bound || registry.quarantined(venue.connector)) return undefined
  try {
    return quotes.bound(quoteVenue, asked, toQuoteChoice(swap.version), block)
  } catch (error) {
    // Its quote says what is wrong.
    if (error instanceof SluiceError) return undefined
    throw error
  }
}
