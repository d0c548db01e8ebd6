// Several connectors asked the same, each beside the others: which they are, and what becomes of one that is late.
import { after, withTimeout } from '../../base/async.ts'
import type { At } from '../../contracts/index.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import { payerOf, type Payer } from '../../base/fair-turns.ts'
import { type Services } from '../context.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import type { QuoteScope } from './quote.ts'

export interface AskScope {
  readonly network: NetworkEntry
  readonly services: Pick<Services, 'registry' | 'turns'> & {
    readonly quotes: Pick<Services['quotes'], 'quote' | 'bound' | 'version' | 'isCutOff'>
  }
  readonly block?: QuoteScope['block']
}

/** A connector without a price, or whose trade failed its checks. */
export interface LeftOutConnector {
  readonly connector: string
  readonly error: SluiceError
  /** A node may have been asked, or another process. */
  readonly hasWaited?: true
}

/** @throws SluiceError UNSUPPORTED where no connector that is built in swaps on the network */
export const requireAny = (scope: AskScope): void => void venuesOf(undefined, scope)

/** @throws SluiceError UNKNOWN_CONNECTOR, UNKNOWN_CHAIN_ERROR, UNSUPPORTED, … of a connector that the request names */
export function venuesOf(connectors: readonly string[] | undefined, { network: { chain, network }, services: { registry } }: AskScope) {
  const all = registry.venuesOn(chain, network)
  if (connectors === undefined) {
    const builtIn = all.filter((venue) => venue.builtIn && venue.impl.AMM)
    if (builtIn.length === 0)
      throw new SluiceError(
        'UNSUPPORTED',
        `No built-in connector on ${chain}/${network} has the trading type AMM; name others in connectors.`,
      )
    return builtIn
  }
  return [...new Set(connectors)].map((name) => {
    const venue = all.find(({ connector }) => connector === name) ?? registry.venue(name, chain, network)
    tradingOf('AMM', venue)
    return venue
  })
}

/** @throws SluiceError INCOMPLETE_PARAMS where none has the version */
export function withVersion(
  version: string | undefined,
  venues: readonly VenueEntry[],
  { chain, network }: NetworkEntry,
): readonly VenueEntry[] {
  if (version === undefined) return venues
  const having = venues.filter(({ impl }) => impl.AMM?.versions.includes(version))
  if (having.length > 0) return having
  const known = [...new Set(venues.flatMap(({ impl }) => impl.AMM?.versions ?? []))].join(', ') || 'none to choose from'
  throw badFields([{ field: 'version', problem: `no connector on ${chain}/${network} has a version "${version}" (${known})` }])
}

/** For each connector. One that is later is left out, and is not asked again for a while. */
export const answerMs = 3_000
const lateMs = 30_000
/** For each caller apart: what one asks for may wait behind others of its own. */
const lateUntil = new WeakMap<VenueEntry, WeakMap<Payer, number>>()
const nobody: Payer = {}
const callerOf = ({ signal }: At): Payer => payerOf(signal) ?? nobody

/** Whether it has not answered this caller in time, and is not asked again yet. */
export const isLate = (venue: VenueEntry, at: At): boolean => (lateUntil.get(venue)?.get(callerOf(at)) ?? 0) > performance.now()

/** What one connector answered. */
export interface Answer<T> {
  readonly venue: VenueEntry
  readonly answer: T
}

/**
 * Asks each connector beside the others; at once where none has to wait, and all together take no longer than a turn of the event loop may. @param what is asked for, for the error of one that is late
 */
export function askEach<T>(
  venues: readonly VenueEntry[],
  { network: { chain, network }, services: { registry, turns } }: AskScope,
  what: string,
  ask: (venue: VenueEntry) => T | Promise<T>,
  at: At,
): readonly (Answer<T> | LeftOutConnector)[] | Promise<readonly (Answer<T> | LeftOutConnector)[]> {
  const askOne = (venue: VenueEntry): Answer<T> | LeftOutConnector | Promise<Answer<T> | LeftOutConnector> => {
    const { connector } = venue
    const left = (error: unknown): LeftOutConnector => {
      if (!(error instanceof SluiceError)) throw error
      return { connector, error }
    }
    if (isLate(venue, at)) return left(lateError(connector, what))
    const answered = (answer: T) => {
      lateUntil.get(venue)?.delete(callerOf(at))
      return { venue, answer }
    }
    const wakened = async () => {
      await venue.wake()
      return ask(registry.venue(connector, chain, network))
    }
    try {
      const answer = venue.notReady() === undefined ? ask(venue) : wakened()
      if (!(answer instanceof Promise)) return answered(answer)
      const late = () => {
        const known = lateUntil.get(venue) ?? new WeakMap<Payer, number>()
        lateUntil.set(venue, known.set(callerOf(at), performance.now() + lateMs))
        throw lateError(connector, what)
      }
      // An answer that comes late says that it can be asked again.
      return withTimeout(answer.then(answered), answerMs, late).catch((error: unknown) => ({ ...left(error), hasWaited: true }))
    } catch (error) {
      return left(error)
    }
  }
  const asked: (Answer<T> | LeftOutConnector | Promise<Answer<T> | LeftOutConnector>)[] = []
  function askFrom(first: number): void | Promise<void> {
    for (let index = first; index < venues.length; index += 1) {
      if (turns.isOver() && index > first) {
        // One that fails meanwhile is told of at the end.
        for (const each of asked) if (each instanceof Promise) each.catch(() => {})
        return turns.next(payerOf(at.signal)).then(() => askFrom(index))
      }
      const venue = venues[index]
      if (venue) asked.push(askOne(venue))
    }
  }
  return after(askFrom(0), () => allOf(asked))
}

/** Whether it refused by the states in memory: others than those may end while no state changes. */
export const isOfStates = ({ error: { name } }: LeftOutConnector): boolean => name === 'PAIR_NOT_FOUND' || name === 'PRICE_FAILED'

export const isLeftOut = (each: LeftOutConnector | object): each is LeftOutConnector => 'error' in each

const lateError = (connector: string, what: string) =>
  new SluiceError(
    'TIMEOUT',
    `${connector} gave no ${what} within ${answerMs / 1000} s; it is asked again when it has answered, or after ${lateMs / 1000} s.`,
    { retryAfterSeconds: lateMs / 1000 },
  )

/** At once where there is no promise among them. */
export const allOf = <T>(all: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> =>
  all.some((each) => each instanceof Promise) ? Promise.all(all) : (all as readonly T[])
