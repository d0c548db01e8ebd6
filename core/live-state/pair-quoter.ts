import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { SluiceError, type ErrorName } from '../api/index.ts'
import type { At, FollowedPricing, Quote, QuoteChoice, Swap } from '../contracts/index.ts'
import type { Bundle, StateSnapshot } from './bundle.ts'
import type { Synchroniser } from './synchroniser.ts'

/** Quotes of two tokens, for whatever amount. */
export interface PairQuoter {
  /** At once where all that it goes by is in memory; the same object where it was given before by the same states. */
  quote(swap: Swap, at: At): Quote | Promise<Quote>
  /** Brings what quotes go by into memory. */
  load(at: At): Promise<void>
  /** What they go by now; undefined where that must be waited for. */
  peek(): StateSnapshot | undefined
  /** What they go by besides its states: of two views that are equal in both all quotes are the same. */
  conditions(view: StateSnapshot): unknown
  /** Keeps it in memory until the function given is called. */
  hold(): () => void
}

// The first, and some more where what is known turns out to be wanting. What is unknown after that counts as unable.
const mostReads = 4
const mostAnswers = 1_000

export function createPairQuoter(pricing: FollowedPricing, choice: QuoteChoice, bundle: Bundle): PairQuoter {
  let view: StateSnapshot | undefined
  const answers = new Map<string, Quote>()

  function seen(now: StateSnapshot): void {
    if (now === view) return
    view = now
    answers.clear()
  }

  async function make(swap: Swap, question: string, at: At): Promise<Quote> {
    for (let reads = 1; ; reads += 1) {
      const now = bundle.peek() ?? (await bundle.read(at))
      seen(now)
      const quote = pricing.quote(swap, choice, now.states, now.head, Math.max(mostReads - reads, 0))
      if ('wanting' in quote) {
        await bundle.loadMissing(quote.wanting, at)
        continue
      }
      await pricing.vet(quote, now.states, at)
      return kept(now, question, quote)
    }
  }

  /** What of it can be had without waiting, with all that is wanting left to others. */
  function makeNow(now: StateSnapshot, swap: Swap, question: string, at: At): Quote | Promise<Quote> {
    const quote = pricing.quote(swap, choice, now.states, now.head, mostReads - 1)
    if ('wanting' in quote) return make(swap, question, at)
    const vetting = pricing.vet(quote, now.states, at)
    return vetting ? vetting.then(() => kept(now, question, quote)) : kept(now, question, quote)
  }

  function kept(now: StateSnapshot, question: string, quote: Quote): Quote {
    if (view === now && answers.size < mostAnswers) answers.set(question, quote)
    return quote
  }

  return {
    async load(at) {
      await bundle.read(at)
    },
    peek: () => bundle.peek(),
    conditions(view) {
      try {
        return pricing.conditions?.(view.head) ?? view
      } catch {
        // Told where plugins are called: then each block may give others.
        return view
      }
    },
    hold: () => bundle.hold(),
    quote(swap, at) {
      const question = `${swap.exact} ${swap.amountRaw}`
      const now = bundle.peek()
      if (!now) return make(swap, question, at)
      seen(now)
      return answers.get(question) ?? makeNow(now, swap, question, at)
    },
  }
}

/** Quotes of one network that somebody follows. */
export interface QuoteSubscriptions {
  /**
   * Calls back with the quote as soon as there is one, and after every block in which it has become another. Each question is answered once
   * for all who follow it. Until the function given is called.
   * @throws SluiceError OVERLOADED where there is no room
   */
  follow(desk: PairQuoter, swap: Swap, changed: QuoteListener): () => void
}

interface Question {
  readonly swap: Swap
  readonly followers: Set<QuoteListener>
  news: QuoteUpdate | 'nothing'
  isAsked: boolean
  /** Whether there was a block while it was asked. */
  again: boolean
}

/** All that is asked of a desk. */
interface Asked {
  readonly desk: PairQuoter
  readonly questions: Map<string, Question>
  readonly release: () => void
  /** What the last quotes were made of. */
  states: readonly unknown[] | undefined
  conditions: unknown
  isLoading: boolean
}

/** On one network: each of them is computed anew after every block. */
const mostQuestions = 10_000
const pulseMs = 1_000
/** Where nothing is known for so long, that is said. */
const unsureMs = 3_000
/** So long everything else waits. */
const sliceMs = 5

export function createQuoteSubscriptions(synchroniser: Pick<Synchroniser, 'onChange'>): QuoteSubscriptions {
  const all = new Map<PairQuoter, Asked>()
  let end: (() => void) | undefined
  let count = 0
  let at: At & { since: number } = { signal: AbortSignal.abort(), since: -Infinity }
  let isSweeping = false
  let hasMoved = false

  function start(): void {
    if (end) return
    const unhear = synchroniser.onChange(move)
    const pulse = setInterval(beat, pulseMs)
    pulse.unref()
    end = () => {
      unhear()
      clearInterval(pulse)
      end = undefined
    }
  }

  function move(): void {
    hasMoved = true
    if (isSweeping) return
    isSweeping = true
    // All that a block changes is in memory first.
    setImmediate(() => void sweep())
  }

  async function sweep(): Promise<void> {
    while (hasMoved) {
      hasMoved = false
      let since = performance.now()
      for (const [desk, question] of inTurn()) {
        void ask(desk, question)
        if (performance.now() - since < sliceMs) continue
        await turn()
        since = performance.now()
      }
    }
    isSweeping = false
  }

  /** What may have become another, and what was not answered yet; first that of which pools have changed, and not only the price of gas. */
  function inTurn(): readonly (readonly [PairQuoter, Question])[] {
    const [moved, others]: [(readonly [PairQuoter, Question])[], (readonly [PairQuoter, Question])[]] = [[], []]
    for (const asked of all.values()) {
      const { desk, questions } = asked
      const view = desk.peek()
      if (!view) {
        void load(asked)
        continue
      }
      const { states } = view
      const conditions = desk.conditions(view)
      const turn = states === asked.states ? others : moved
      const isSame = states === asked.states && conditions === asked.conditions
      Object.assign(asked, { states, conditions })
      for (const question of questions.values()) if (!isSame || isOpen(question)) turn.push([desk, question])
    }
    return [...moved, ...others]
  }

  async function load(asked: Asked): Promise<void> {
    if (asked.isLoading) return
    asked.isLoading = true
    try {
      await asked.desk.load(soon())
      move()
    } catch (error) {
      for (const question of asked.questions.values()) tell(question, updateOfFailure(error))
    }
    asked.isLoading = false
  }

  async function ask(desk: PairQuoter, question: Question): Promise<void> {
    question.again = question.isAsked
    if (question.isAsked) return
    question.isAsked = true
    do {
      question.again = false
      tell(question, await answer(desk, question.swap))
    } while (question.again)
    question.isAsked = false
  }

  async function answer(desk: PairQuoter, swap: Swap): Promise<QuoteUpdate> {
    try {
      return await desk.quote(swap, soon())
    } catch (error) {
      return updateOfFailure(error)
    }
  }

  /** One clock for all that is asked within a short time. */
  function soon(): At {
    const now = performance.now()
    if (now - at.since > pulseMs) {
      at = { signal: AbortSignal.timeout(unsureMs), since: now }
      setMaxListeners(0, at.signal)
    }
    return at
  }

  function tell(question: Question, news: QuoteUpdate): void {
    if (question.news !== 'nothing' && isSameUpdate(question.news, news)) return
    question.news = news
    for (const changed of question.followers) changed(news)
  }

  /** What nothing can be said of is tried again, block or not. */
  function beat(): void {
    for (const { desk, questions } of all.values()) if (!desk.peek() || [...questions.values()].some(isOpen)) return move()
  }

  function askedOf(desk: PairQuoter): Asked {
    const known = all.get(desk)
    if (known) return known
    const asked: Asked = { desk, questions: new Map(), release: desk.hold(), states: undefined, conditions: undefined, isLoading: false }
    all.set(desk, asked)
    return asked
  }

  return {
    follow(desk, swap, changed) {
      const key = `${swap.exact} ${swap.amountRaw}`
      const known = all.get(desk)?.questions.get(key)
      if (!known && count >= mostQuestions)
        throw new SluiceError('OVERLOADED', `${mostQuestions} prices of a network are followed, which is the most: follow fewer.`, {
          retryAfterSeconds: 5,
        })
      const asked = askedOf(desk)
      const question = known ?? { swap, followers: new Set(), news: 'nothing', isAsked: false, again: false }
      if (!known) {
        asked.questions.set(key, question)
        count += 1
        start()
        move()
      }
      // One function may follow several.
      const mine: QuoteListener = (news) => changed(news)
      question.followers.add(mine)
      if (question.news !== 'nothing') changed(question.news)
      return () => {
        if (!question.followers.delete(mine) || question.followers.size > 0) return
        asked.questions.delete(key)
        count -= 1
        if (asked.questions.size > 0) return
        asked.release()
        all.delete(desk)
        if (all.size === 0) end?.()
      }
    },
  }
}

const isOpen = ({ news }: Question): boolean => news === 'nothing' || news === undefined

/** A quote, or why the exchange gives none; undefined while nothing can be said of it. */
export type QuoteUpdate = Quote | SluiceError | undefined
export type QuoteListener = (news: QuoteUpdate) => void

/** What is wrong with the way to the exchange, and not with the question. */
const passing: ReadonlySet<ErrorName> = new Set(['NETWORK', 'RATE_LIMIT', 'TIMEOUT', 'SERVICE_UNINITIALIZED'])

/** @param what failed, as a sentence begins */
export function updateOfFailure(error: unknown, what = 'The quote'): SluiceError | undefined {
  if (error instanceof DOMException && error.name === 'TimeoutError') return undefined
  if (error instanceof SluiceError) return passing.has(error.name) ? undefined : error
  return new SluiceError('UNKNOWN_ERROR', `${what} failed by a defect of the server. The server's log has the reason.`, { cause: error })
}

/** Whether the one says what the other says: at whatever block. */
function isSameUpdate(one: QuoteUpdate, other: QuoteUpdate): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  if (one instanceof SluiceError || other instanceof SluiceError)
    return isSluiceError(one) && isSluiceError(other) && one.name === other.name && one.message === other.message
  return one.amountRaw === other.amountRaw && JSON.stringify(one.route) === JSON.stringify(other.route)
}

const isSluiceError = (news: Quote | SluiceError): news is SluiceError => news instanceof SluiceError
