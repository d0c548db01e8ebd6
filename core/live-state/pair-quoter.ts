import type { At, FollowedPricing, Quote, QuoteChoice, Swap } from '../contracts/index.ts'
import type { Bundle, View } from './bundle.ts'

/** Quotes of two tokens, for whatever amount. */
export interface Desk {
  /** At once where all that it goes by is in memory; the same object where it was given before by the same states. */
  quote(swap: Swap, at: At): Quote | Promise<Quote>
  /** Brings what quotes go by into memory. */
  load(at: At): Promise<void>
  /** What they go by now; undefined where that must be waited for. */
  peek(): View | undefined
  /** What they go by besides its states: of two views that are equal in both all quotes are the same. */
  conditions(view: View): unknown
  /** Keeps it in memory until the function given is called. */
  hold(): () => void
}

// The first, and some more where what is known turns out to be wanting. What is unknown after that counts as unable.
const mostReads = 4
const mostAnswers = 1_000

export function createDesk(pricing: FollowedPricing, choice: QuoteChoice, bundle: Bundle): Desk {
  let view: View | undefined
  const answers = new Map<string, Quote>()

  function seen(now: View): void {
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
        await bundle.widen(quote.wanting, at)
        continue
      }
      await pricing.vet(quote, now.states, at)
      return kept(now, question, quote)
    }
  }

  /** What of it can be had without waiting, with all that is wanting left to others. */
  function makeNow(now: View, swap: Swap, question: string, at: At): Quote | Promise<Quote> {
    const quote = pricing.quote(swap, choice, now.states, now.head, mostReads - 1)
    if ('wanting' in quote) return make(swap, question, at)
    const vetting = pricing.vet(quote, now.states, at)
    return vetting ? vetting.then(() => kept(now, question, quote)) : kept(now, question, quote)
  }

  function kept(now: View, question: string, quote: Quote): Quote {
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
