import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { SluiceError } from '../../api/index.ts'
import type { At, Swap } from '../../contracts/index.ts'
import type { Synchroniser } from '../../live-state/synchroniser.ts'
import type { Desk } from '../../live-state/pair-quoter.ts'
import { isSameNews, newsOfFailure, type QuoteChanged, type QuoteNews } from './quote-news.ts'

/** Quotes of one network that somebody follows. */
export interface FollowedQuotes {
  /**
   * Calls back with the quote as soon as there is one, and after every block in which it has become another. Each question is answered once
   * for all who follow it. Until the function given is called.
   * @throws SluiceError OVERLOADED where there is no room
   */
  follow(desk: Desk, swap: Swap, changed: QuoteChanged): () => void
}

interface Question {
  readonly swap: Swap
  readonly followers: Set<QuoteChanged>
  news: QuoteNews | 'nothing'
  isAsked: boolean
  /** Whether there was a block while it was asked. */
  again: boolean
}

/** All that is asked of a desk. */
interface Asked {
  readonly desk: Desk
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

export function createFollowedQuotes(synchroniser: Pick<Synchroniser, 'onMove'>): FollowedQuotes {
  const all = new Map<Desk, Asked>()
  let end: (() => void) | undefined
  let count = 0
  let at: At & { since: number } = { signal: AbortSignal.abort(), since: -Infinity }
  let isSweeping = false
  let hasMoved = false

  function start(): void {
    if (end) return
    const unhear = synchroniser.onMove(move)
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
  function inTurn(): readonly (readonly [Desk, Question])[] {
    const [moved, others]: [(readonly [Desk, Question])[], (readonly [Desk, Question])[]] = [[], []]
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
      for (const question of asked.questions.values()) tell(question, newsOfFailure(error))
    }
    asked.isLoading = false
  }

  async function ask(desk: Desk, question: Question): Promise<void> {
    question.again = question.isAsked
    if (question.isAsked) return
    question.isAsked = true
    do {
      question.again = false
      tell(question, await answer(desk, question.swap))
    } while (question.again)
    question.isAsked = false
  }

  async function answer(desk: Desk, swap: Swap): Promise<QuoteNews> {
    try {
      return await desk.quote(swap, soon())
    } catch (error) {
      return newsOfFailure(error)
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

  function tell(question: Question, news: QuoteNews): void {
    if (question.news !== 'nothing' && isSameNews(question.news, news)) return
    question.news = news
    for (const changed of question.followers) changed(news)
  }

  /** What nothing can be said of is tried again, block or not. */
  function beat(): void {
    for (const { desk, questions } of all.values()) if (!desk.peek() || [...questions.values()].some(isOpen)) return move()
  }

  function askedOf(desk: Desk): Asked {
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
      const mine: QuoteChanged = (news) => changed(news)
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
