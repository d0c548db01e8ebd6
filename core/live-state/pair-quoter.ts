import { setMaxListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { boundBy } from '../base/amount-bound.ts'
import { isAbort } from '../base/async.ts'
import type { At, FollowedPricing, Head, Quote, QuoteBound, QuoteChoice, Swap, MissingState } from '../contracts/index.ts'
import { MissingReads, readsAfterFirst } from '../contracts/followed.ts'
import { SluiceError, type ErrorName } from '../base/errors.ts'
import { numberOf, SecondTimes } from '../base/second-times.ts'
import { pinnedStates, type OneBlock, type PinnedStates } from './one-block.ts'
import type { Bundle, StateSnapshot } from './tracked-states.ts'
import type { Synchroniser } from './synchroniser.ts'

/** A bound of quotes, and the block whose states it is of. */
export interface BoundAtHead extends QuoteBound {
  readonly head: Head
}

type BoundOfAll = Required<Pick<QuoteBound, 'forAll' | 'gasUnits'>>

/** Quotes two tokens, for any amount. */
export interface PairQuoter {
  /**
   * Returns at once if all states are in memory: from the second time on the same object for the same question and states.
   * @param block of which the quote has to be, with others of the same request; absent: of the newest
   */
  quote(swap: Swap, at: At, block?: OneBlock): Quote | Promise<Quote>
  /**
   * What no quote by the states in memory does better than; undefined where nothing is proven, or where states are not in memory.
   * @param block as in `quote`
   */
  bound(swap: Swap, block?: OneBlock): BoundAtHead | undefined
  /** Loads the states. */
  load(at: At): Promise<void>
  /** The states with all that they need to know of their block, as soon as it is there. */
  wholeStates(at: At): Promise<StateSnapshot>
  /** The same at once; undefined if it would have to be waited for. */
  peekWhole(): StateSnapshot | undefined
  /** The states; undefined if `load` would have to wait. They may lack what no change of their block says. */
  peek(): StateSnapshot | undefined
  /** What quotes depend on besides the states: with equal states and conditions, all quotes are equal. */
  conditions(snapshot: StateSnapshot): unknown
  /** Keeps the states in memory until the returned function is called. */
  hold(): () => void
  /** Drops the quotes that are kept. */
  forget(): void
}

/** To one pair: the exact amount, below 0 where it is the output. */
type QuoteKey = bigint
type QuotesByQuestion = Map<QuoteKey, Quote>

/** The quotes that the pairs of all exchanges keep, by question, and how many they are together. */
export interface QuoteMemory {
  readonly size: number
  /** From the second time on that the question comes: most come only once, and what is kept costs the collector of garbage more than to compute it. */
  keep(quotes: QuotesByQuestion, question: QuoteKey, quote: Quote): void
  forget(quotes: QuotesByQuestion): void
}

/** @param maxQuotes of all pairs: beyond it, the pair that computed none for the longest time loses all of its quotes */
export function createQuoteMemory(maxQuotes: number): QuoteMemory {
  /** Those that hold quotes; the one that got its last quote before all others comes first. */
  const holders = new Set<QuotesByQuestion>()
  const seen = new SecondTimes()
  /** Of each pair of an exchange: the same amount at another is another question. */
  const owners = new WeakMap<QuotesByQuestion, number>()
  let lastOwner = 0
  let size = 0

  function ownerOf(quotes: QuotesByQuestion): number {
    const known = owners.get(quotes)
    if (known !== undefined) return known
    owners.set(quotes, (lastOwner += 1))
    return lastOwner
  }

  function forget(quotes: QuotesByQuestion): void {
    if (!holders.delete(quotes)) return
    size -= quotes.size
    quotes.clear()
  }

  return {
    get size() {
      return size
    },
    keep(quotes, question, quote) {
      if (!seen.isSecond(numberOf(question, ownerOf(quotes)))) return
      const [oldest] = size >= maxQuotes ? holders : []
      if (oldest) forget(oldest)
      if (!quotes.has(question)) size += 1
      quotes.set(question, quote)
      holders.delete(quotes)
      holders.add(quotes)
    },
    forget,
  }
}

/** @param keepsRefusals whether a refusal of the pair holds for all amounts: so much is known of built-in connectors alone */
export function createPairQuoter(
  pricing: FollowedPricing,
  choice: QuoteChoice,
  bundle: Bundle,
  memory: QuoteMemory,
  keepsRefusals: boolean,
): PairQuoter {
  /** The states that the cached quotes were computed from. */
  let current: StateSnapshot | undefined
  const cache: QuotesByQuestion = new Map()
  const boundBySnapshot = createBounds(pricing, choice)
  /** That there is no pool, which is so for every amount; by what is exact. To make an error costs more than most quotes. */
  const refusals: { in?: SluiceError; out?: SluiceError } = {}
  const { peekWhole, wholeStates } = wholeStatesOf(bundle)

  function use(snapshot: StateSnapshot): void {
    if (snapshot === current) return
    current = snapshot
    memory.forget(cache)
    delete refusals.in
    delete refusals.out
  }

  /** @throws SluiceError PAIR_NOT_FOUND, of a built-in connector the same one for all amounts */
  function quoteBy(snapshot: StateSnapshot, swap: Swap, left: number): ReturnType<FollowedPricing['quote']> {
    const { states, head } = snapshot
    const known = snapshot === current ? refusals[swap.exact] : undefined
    if (known) throw known
    try {
      return pricing.quote(swap, choice, states, head, left)
    } catch (error) {
      const isOfPair = error instanceof SluiceError && error.name === 'PAIR_NOT_FOUND'
      if (isOfPair && keepsRefusals && snapshot === current) refusals[swap.exact] = error
      throw error
    }
  }

  function keep(snapshot: StateSnapshot, question: QuoteKey, quote: Quote): Quote {
    if (current === snapshot) memory.keep(cache, question, quote)
    return quote
  }

  async function load(swap: Swap, question: QuoteKey, at: At): Promise<Quote> {
    const missing = new MissingReads<MissingState>()
    for (;;) {
      const snapshot = await wholeStates(at)
      use(snapshot)
      const quote = quoteOrRefuse(snapshot, swap, missing)
      if ('missing' in quote) {
        const known = missing.known.length
        missing.add(quote.missing)
        // Many ask at once, and one reading has no room for what each of them needs.
        if (missing.known.length === known) return computePinned(pinnedStates(bundle, snapshot), swap, question, at)
        await bundle.loadMissing(quote.missing, at)
        continue
      }
      await pricing.vet(quote, snapshot.states, at)
      return keep(snapshot, question, quote)
    }
  }

  /** By the states after a block that other quotes of the request have decided. */
  function computePinned(
    pinned: PinnedStates,
    swap: Swap,
    question: QuoteKey,
    at: At,
    missing?: MissingReads<MissingState>,
  ): Quote | Promise<Quote> {
    const reading = pinned.readOfBlock(at)
    if (reading) return reading.then(() => computePinned(pinned, swap, question, at, missing))
    const { snapshot } = pinned
    if (snapshot === bundle.peek()) {
      use(snapshot)
      const known = cache.get(question)
      if (known) return known
    }
    const quote = quoteBy(snapshot, swap, missing ? missing.left : readsAfterFirst)
    if ('missing' in quote) {
      const all = missing ?? new MissingReads<MissingState>()
      all.add(quote.missing)
      return pinned.readMore(quote.missing, at).then(() => computePinned(pinned, swap, question, at, all))
    }
    const vetting = pricing.vet(quote, snapshot.states, at)
    return vetting ? vetting.then(() => keep(snapshot, question, quote)) : keep(snapshot, question, quote)
  }

  /** What was read for a request that the exchange refuses is not read again with the states: nobody gets a quote by it. */
  function quoteOrRefuse(
    snapshot: StateSnapshot,
    swap: Swap,
    { left, known }: MissingReads<MissingState>,
  ): ReturnType<FollowedPricing['quote']> {
    try {
      return quoteBy(snapshot, swap, left)
    } catch (error) {
      bundle.forgetMissing(known)
      throw error
    }
  }

  /** Computes the quote without waiting, unless something is missing in the states. */
  function compute(snapshot: StateSnapshot, swap: Swap, question: QuoteKey, at: At): Quote | Promise<Quote> {
    const quote = quoteBy(snapshot, swap, readsAfterFirst)
    if ('missing' in quote) return load(swap, question, at)
    const vetting = pricing.vet(quote, snapshot.states, at)
    return vetting ? vetting.then(() => keep(snapshot, question, quote)) : keep(snapshot, question, quote)
  }

  return {
    bound(swap, block) {
      if (!pricing.bound) return undefined
      const snapshot = block ? block.peek(bundle)?.snapshot : bundle.peek()
      return snapshot && boundBySnapshot(snapshot, swap)
    },
    async load(at) {
      await bundle.read(at)
    },
    wholeStates,
    peekWhole,
    peek: bundle.peek,
    conditions(snapshot) {
      try {
        return pricing.conditions?.(snapshot.head) ?? snapshot
      } catch {
        // The boundary to plugins reports it. Then every block may change the quotes.
        return snapshot
      }
    },
    hold: bundle.hold,
    forget() {
      memory.forget(cache)
    },
    quote(swap, at, block) {
      const question = questionOf(swap)
      if (block) {
        const pinned = block.statesOf(bundle, at)
        return pinned instanceof Promise
          ? pinned.then((states) => computePinned(states, swap, question, at))
          : computePinned(pinned, swap, question, at)
      }
      const snapshot = peekWhole()
      if (!snapshot) return load(swap, question, at)
      use(snapshot)
      return cache.get(question) ?? compute(snapshot, swap, question, at)
    },
  }
}

/** So often what the newest block says is read. */
const maxReadsOfNewest = 3

/** The states of a bundle with all that they need to know of their block: of a part of it another answer would be made than of all. */
function wholeStatesOf(bundle: Bundle): Pick<PairQuoter, 'peekWhole' | 'wholeStates'> {
  function peekWhole(): StateSnapshot | undefined {
    const snapshot = bundle.peek()
    return snapshot && bundle.unread(snapshot).length === 0 ? snapshot : undefined
  }

  /** Where blocks come faster than that is read, it is read of an earlier one. */
  async function wholeStates(at: At): Promise<StateSnapshot> {
    for (let reads = 0; ; reads += 1) {
      const snapshot = bundle.peek() ?? (await bundle.read(at))
      const unread = bundle.unread(snapshot)
      if (unread.length === 0) return snapshot
      if (reads < maxReadsOfNewest) await bundle.readOfBlock(unread, at)
      else {
        const pinned = pinnedStates(bundle, snapshot)
        await pinned.readOfBlock(at)
        return pinned.snapshot
      }
    }
  }

  return { peekWhole, wholeStates }
}

/** Of one pair. What holds for every amount is kept for the newest states, by what is exact. */
function createBounds(pricing: FollowedPricing, choice: QuoteChoice) {
  const kept: { snapshot?: StateSnapshot; in?: BoundOfAll | undefined; out?: BoundOfAll | undefined } = {}
  return (snapshot: StateSnapshot, swap: Swap): BoundAtHead | undefined => {
    const { exact, amountRaw } = swap
    const { states, head } = snapshot
    const known = snapshot === kept.snapshot ? kept[exact] : undefined
    if (known) return { amountRaw: boundBy(known.forAll, exact, amountRaw), gasUnits: known.gasUnits, head }
    const bound = pricing.bound?.(swap, choice, states, head)
    if (!bound) return undefined
    const { forAll, gasUnits } = bound
    if (forAll) {
      if (snapshot !== kept.snapshot) Object.assign(kept, { snapshot, in: undefined, out: undefined })
      kept[exact] = { forAll, gasUnits }
    }
    return { amountRaw: bound.amountRaw, gasUnits, head }
  }
}

const questionOf = ({ exact, amountRaw }: Swap): QuoteKey => (exact === 'in' ? amountRaw : -amountRaw)

/** A quote, or why the exchange gives none; undefined while neither is known. */
export type QuoteUpdate = Quote | SluiceError | undefined
export type QuoteListener = (update: QuoteUpdate) => void

/** Failures on the way to the exchange, which say nothing about the question. */
const passingErrors: ReadonlySet<ErrorName> = new Set(['NETWORK', 'RATE_LIMIT', 'TIMEOUT', 'SERVICE_UNINITIALIZED'])

/** @param what failed, as the beginning of a sentence */
export function updateOfFailure(error: unknown, what = 'The quote'): SluiceError | undefined {
  if (isAbort(error)) return undefined
  if (error instanceof SluiceError) return passingErrors.has(error.name) ? undefined : error
  return new SluiceError('UNKNOWN_ERROR', `${what} failed by a defect of the server. The server's log has the reason.`, { cause: error })
}

/** Whether both updates say the same, possibly of different blocks. */
function isSameUpdate(one: QuoteUpdate, other: QuoteUpdate): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  if (isError(one) || isError(other)) return isError(one) && isError(other) && one.name === other.name && one.message === other.message
  return one.amountRaw === other.amountRaw && JSON.stringify(one.route) === JSON.stringify(other.route)
}

const isError = (update: Quote | SluiceError): update is SluiceError => update instanceof SluiceError

/** The quotes of one network that are followed. */
export interface QuoteSubscriptions {
  /**
   * Calls back with the first quote and after every block that changes it, until the returned function is called. Each question is computed
   * once for all who follow it.
   * @throws SluiceError OVERLOADED if there is no room
   */
  follow(quoter: PairQuoter, swap: Swap, listener: QuoteListener): () => void
}

interface Question {
  readonly swap: Swap
  readonly listeners: Set<QuoteListener>
  update: QuoteUpdate | 'none yet'
  isComputing: boolean
  /** Whether a block came during the computation. */
  isOutdated: boolean
}

/** All questions to one quoter. */
interface FollowedPair {
  readonly quoter: PairQuoter
  readonly questions: Map<QuoteKey, Question>
  readonly release: () => void
  /** What the last quotes were computed from. */
  states: readonly unknown[] | undefined
  conditions: unknown
  isLoading: boolean
}

/** On one network: every block computes all of them anew. */
const maxQuestions = 10_000
const intervalMs = 1_000
/** After so long without a quote, listeners are told that there is none. */
const answerWithinMs = 3_000
/** How long a sweep may keep the event loop to itself. */
const sliceMs = 5

export function createQuoteSubscriptions(synchroniser: Pick<Synchroniser, 'onChange'>): QuoteSubscriptions {
  const pairs = new Map<PairQuoter, FollowedPair>()
  let stop: (() => void) | undefined
  let count = 0
  const { compute, publish, sharedDeadline } = createQuestionQuoter()
  let isSweeping = false
  let hasChanged = false

  function start(): void {
    if (stop) return
    const unsubscribe = synchroniser.onChange(scheduleSweep)
    const interval = setInterval(retryOpen, intervalMs)
    interval.unref()
    stop = () => {
      unsubscribe()
      clearInterval(interval)
      stop = undefined
    }
  }

  function scheduleSweep(): void {
    hasChanged = true
    if (isSweeping) return
    isSweeping = true
    // Only once all changes of the block are in memory.
    setImmediate(() => void sweep())
  }

  async function sweep(): Promise<void> {
    while (hasChanged) {
      hasChanged = false
      let since = performance.now()
      for (const [quoter, question] of dueQuestions()) {
        void compute(quoter, question)
        if (performance.now() - since < sliceMs) continue
        await nextTurn()
        since = performance.now()
      }
    }
    isSweeping = false
  }

  /** The questions whose quote may have changed or that have none yet. Those whose pools changed come before those whose gas price did. */
  function dueQuestions(): readonly (readonly [PairQuoter, Question])[] {
    const [withNewStates, others]: [(readonly [PairQuoter, Question])[], (readonly [PairQuoter, Question])[]] = [[], []]
    for (const pair of pairs.values()) {
      const { quoter, questions } = pair
      const snapshot = quoter.peek()
      if (!snapshot) {
        void load(pair)
        continue
      }
      const { states } = snapshot
      const conditions = quoter.conditions(snapshot)
      const due = states === pair.states ? others : withNewStates
      const isSame = states === pair.states && conditions === pair.conditions
      Object.assign(pair, { states, conditions })
      for (const question of questions.values()) if (!isSame || isOpen(question)) due.push([quoter, question])
    }
    return [...withNewStates, ...others]
  }

  async function load(pair: FollowedPair): Promise<void> {
    if (pair.isLoading) return
    pair.isLoading = true
    try {
      await pair.quoter.load(sharedDeadline())
      scheduleSweep()
    } catch (error) {
      for (const question of pair.questions.values()) publish(question, updateOfFailure(error))
    }
    pair.isLoading = false
  }

  /** Questions without a quote are tried again even if no block comes. */
  function retryOpen(): void {
    for (const { quoter, questions } of pairs.values()) if (!quoter.peek() || [...questions.values()].some(isOpen)) return scheduleSweep()
  }

  function pairOf(quoter: PairQuoter): FollowedPair {
    const known = pairs.get(quoter)
    if (known) return known
    const pair = { quoter, questions: new Map(), release: quoter.hold(), states: undefined, conditions: undefined, isLoading: false }
    pairs.set(quoter, pair)
    return pair
  }

  return {
    follow(quoter, swap, listener) {
      const key = questionOf(swap)
      const known = pairs.get(quoter)?.questions.get(key)
      if (!known && count >= maxQuestions)
        throw new SluiceError('OVERLOADED', `${maxQuestions} prices of a network are followed, the maximum. Follow fewer.`, {
          retryAfterSeconds: 5,
        })
      const pair = pairOf(quoter)
      const question: Question = known ?? { swap, listeners: new Set(), update: 'none yet', isComputing: false, isOutdated: false }
      if (!known) {
        pair.questions.set(key, question)
        count += 1
        start()
        scheduleSweep()
      }
      // The same function may follow several questions.
      const own: QuoteListener = (update) => listener(update)
      question.listeners.add(own)
      if (question.update !== 'none yet') listener(question.update)
      return () => {
        if (!question.listeners.delete(own) || question.listeners.size > 0) return
        pair.questions.delete(key)
        count -= 1
        if (pair.questions.size > 0) return
        pair.release()
        pairs.delete(quoter)
        if (pairs.size === 0) stop?.()
      }
    },
  }
}

/** Quotes what is followed, and tells its listeners what differs. */
function createQuestionQuoter() {
  let deadline: At & { since: number } = { signal: AbortSignal.abort(), since: -Infinity }

  async function compute(quoter: PairQuoter, question: Question): Promise<void> {
    question.isOutdated = question.isComputing
    if (question.isComputing) return
    question.isComputing = true
    do {
      question.isOutdated = false
      let update: QuoteUpdate
      try {
        update = await quoter.quote(question.swap, sharedDeadline())
      } catch (error) {
        update = updateOfFailure(error)
      }
      publish(question, update)
    } while (question.isOutdated)
    question.isComputing = false
  }

  /** One timer for all questions within a short time. */
  function sharedDeadline(): At {
    const now = performance.now()
    if (now - deadline.since > intervalMs) {
      deadline = { signal: AbortSignal.timeout(answerWithinMs), since: now }
      setMaxListeners(0, deadline.signal)
    }
    return deadline
  }

  function publish(question: Question, update: QuoteUpdate): void {
    if (question.update !== 'none yet' && isSameUpdate(question.update, update)) return
    question.update = update
    for (const listener of question.listeners) listener(update)
  }

  return { compute, publish, sharedDeadline }
}

const isOpen = ({ update }: Question): boolean => update === 'none yet' || update === undefined
