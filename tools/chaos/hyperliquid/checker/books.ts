import { groupBy } from '../../checker/known.ts'
import type { Violation } from '../../checker/violation.ts'
import type { ToldBook } from '../between.ts'
import type { ExchangeHistory } from '../found.ts'
import { checkSeconds, staleSeconds } from '../home.ts'
import type { ShownBook } from '../watch-books.ts'

const coins: Readonly<Record<string, string>> = { 'HYPE-USDC': '@107', 'ETH-USD': 'ETH' }
/** A message that was lost is found out by silence or by the next comparisons; some more for a busy machine. */
const mostBehindMs = (staleSeconds + 4 * checkSeconds) * 1000

/** I5: a book that was shown is one that the exchange had, not long ago, and none older than what was shown before; and the last is the exchange's last. */
export function books({ books: { told, shown, atEnd } }: ExchangeHistory): Violation[] {
  const toldOf = groupBy(told, ({ coin }) => coin)
  const newest = new Map<string, ShownBook>()
  return [
    ...atEnd.flatMap(({ market, shown: seen, is }) =>
      seen === is ? [] : [violation('the last book is not what the exchange has', { market, seen, is })],
    ),
    ...shown.flatMap((book) => {
      const of = toldOf.get(coins[book.market] ?? '') ?? []
      const place = `${book.pid} ${book.market}`
      const before = newest.get(place)
      newest.set(place, book)
      if (before && before.sequence > book.sequence) return [violation('a book was shown after a newer one', { book, before })]
      const wrong = wrongIn(book, of)
      return wrong === undefined ? [] : [violation(wrong, { book, told: of.filter(({ time }) => time === book.sequence) })]
    }),
  ]
}

function wrongIn({ sequence, content, at }: ShownBook, told: readonly ToldBook[]): string | undefined {
  if (!told.some((each) => each.time === sequence && each.content === content)) return 'a book was shown that the exchange never told of'
  const next = told.find((each) => each.time > sequence && each.content !== content)
  return next && at - next.at > mostBehindMs ? 'a book was shown long after the exchange had told another' : undefined
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I5', what, evidence })
