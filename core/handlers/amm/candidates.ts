// What connectors give for a swap, compared by what is left after the cost of gas.
import type { At, GasTerms } from '../../contracts/index.ts'
import { after } from '../../base/async.ts'
import { SluiceError } from '../../base/errors.ts'
import { effectiveSlippage, slippageBound, type Slippage } from '../slippage.ts'
import type { NetworkEntry, VenueEntry } from '../../plugins/index.ts'
import type { Answer, LeftOutConnector } from './ask-each.ts'
import type { CoinRate } from './coin-rate.ts'
import type { SourcedQuote } from './quote.ts'

/** What one connector gives. */
export interface Candidate {
  readonly venue: VenueEntry
  readonly sourced: SourcedQuote
  readonly gas: GasTerms
  readonly slippage: Slippage
  /** The worst amount that the slippage allows. */
  readonly boundRaw: bigint
  /** Of gas, in the quote token; undefined where the native coin has no price in it. */
  readonly costRaw: bigint | undefined
  /** Of the native coin in it; absent where it has no price. */
  readonly rate?: CoinRate | undefined
  /** Whether the wallet allows its spender that much; undefined where no wallet was given. */
  readonly approved?: boolean
}

export interface Candidates {
  /** The best first. */
  readonly candidates: readonly [Candidate, ...Candidate[]]
  readonly leftOut: readonly LeftOutConnector[]
  /** `memory`: no node was asked for any of it, neither for who was left out, nor for the cost of gas. */
  readonly source: SourcedQuote['source']
}

export type WithTerms = Omit<Candidate, 'costRaw'>

export function withTerms(
  { venue, answer: sourced }: Answer<SourcedQuote>,
  allowedSlippage: string | undefined,
  { impl }: NetworkEntry,
  at: At,
): WithTerms | LeftOutConnector | Promise<WithTerms | LeftOutConnector> {
  const { quote } = sourced
  try {
    const slippage = effectiveSlippage(venue.config, quote.route, allowedSlippage)
    const boundRaw = slippageBound(quote, slippage)
    return after(impl.gas(quote.gasUnits, quote.head, at), (gas) => ({ venue, sourced, gas, slippage, boundRaw }))
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return { connector: venue.connector, error }
  }
}

/** What the wallet has left after the cost of gas: what it gets, or less than nothing where it pays. */
export const worthOf = (exact: 'in' | 'out', amountRaw: bigint, costRaw: bigint | undefined): bigint =>
  (exact === 'in' ? amountRaw : -amountRaw) - (costRaw ?? 0n)

/** What its swap leaves after the cost of gas. */
const leftBy = ({ sourced: { quote }, costRaw }: Candidate): bigint => worthOf(quote.swap.exact, quote.amountRaw, costRaw)

/** For sorting: what leaves most first. */
export const byWhatIsLeft = (one: Candidate, other: Candidate): number => compare(leftBy(other), leftBy(one))

/** @param penaltyOf what else it costs */
export function ranked(
  found: readonly Candidate[],
  leftOut: readonly LeftOutConnector[],
  source: Candidates['source'],
  penaltyOf: (candidate: Candidate) => bigint,
): Candidates {
  const worth = new Map(found.map((each) => [each, leftBy(each) - penaltyOf(each)]))
  const worthRaw = (each: Candidate) => worth.get(each) ?? 0n
  const [best, ...others] = found.toSorted(
    (one, other) =>
      compare(worthRaw(other), worthRaw(one)) ||
      compare(one.gas.gasCostRaw, other.gas.gasCostRaw) ||
      compare(one.venue.connector, other.venue.connector),
  )
  if (!best) throw new Error('there is no candidate to rank')
  return { candidates: [best, ...others], leftOut, source }
}

const compare = <T extends bigint | string>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0)
