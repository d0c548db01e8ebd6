// What of a quote is the same while its price is. Bots ask the same again and again, and to calculate it takes longer than the price from memory.
import { add, divide, isLess, max, multiply, subtract } from 'sluice/decimal'
import { quoteIdsOf, type QuotedTrade } from './quote-ids.ts'

/** Of a request for pools of its own choice. */
export interface Choice {
  readonly pool?: string
  readonly version?: string
}

/** What is made of a request. */
export interface Question {
  readonly swap: Pick<QuotedTrade, 'chain' | 'network' | 'connector' | 'base' | 'quote' | 'amount' | 'side'>
  last?: Terms
}

/** By the request: of a query that comes again it is the same object. */
const questions = new Map<object, Question>()
const maxQuestions = 500
/** The last requests, in turns: what comes once is not kept. */
const recent: object[] = []
const maxRecent = 64
let place = 0

export const knownQuestion = (request: object): Question | undefined => questions.get(request)

export function newQuestion(request: object, swap: Question['swap']): Question {
  const question = { swap }
  if (!recent.includes(request)) {
    recent[place] = request
    place = (place + 1) % maxRecent
    return question
  }
  if (questions.size >= maxQuestions) questions.clear()
  // The server reads the fields of what is frozen once.
  Object.freeze(swap)
  questions.set(request, question)
  return question
}

type Prices = Readonly<Record<'amount' | 'price' | 'slippagePrice' | 'priceImpact', string>>

/** What a price is worth to a bot. */
interface Terms {
  readonly prices: Prices
  readonly slippagePct: string | undefined
  readonly choice: Choice
  readonly trade: QuotedTrade
  readonly quoteAmount: string
  readonly priceImpactPct: string
  readonly newQuoteId: () => string
}

/** Those of last time, where all that they are made of is the same. */
export function termsOf(question: Question, prices: Prices, slippagePct: string | undefined, choice: Choice): Terms {
  const { swap, last } = question
  const { amount, price, slippagePrice, priceImpact } = prices
  if (last && last.prices.price === price && last.prices.amount === amount && last.prices.slippagePrice === slippagePrice)
    if (last.prices.priceImpact === priceImpact && last.slippagePct === slippagePct && last.choice.version === choice.version) return last
  const limitPrice = worstPrice(prices, swap.side, slippagePct)
  const { chain, network, connector, base, quote, side } = swap
  // Field by field: a spread that fields follow takes longer than all else here.
  const ordered: QuotedTrade = { chain, network, connector, base, quote, amount: swap.amount, side, limitPrice }
  const trade = choice.pool === undefined && choice.version === undefined ? ordered : { ...ordered, ...choice }
  return (question.last = {
    prices: { amount, price, slippagePrice, priceImpact },
    slippagePct,
    choice,
    trade,
    quoteAmount: multiply(amount, limitPrice),
    priceImpactPct: multiply(priceImpact, '100'),
    newQuoteId: quoteIdsOf(trade),
  })
}

/** By the slippage of the request or its client, or by that of the configuration where that is tighter. */
function worstPrice(
  { price: expected, slippagePrice }: { price: string; slippagePrice: string },
  side: 'BUY' | 'SELL',
  slippagePct: string | undefined,
): string {
  if (slippagePct === undefined) return slippagePrice
  const part = divide(multiply(expected, slippagePct), '100', 30, 'down')
  if (side === 'SELL') return max(isLess(part, expected) ? subtract(expected, part) : '0', slippagePrice)
  const own = add(expected, part)
  return isLess(own, slippagePrice) ? own : slippagePrice
}
