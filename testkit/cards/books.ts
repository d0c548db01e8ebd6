import type { AddCard, Bench } from './venue.ts'
import type { BookOperator } from '../../core/contracts/devnet.ts'
import { batchCards } from '../../core/testing/cards/books/batch.ts'
import { bookCards as theBook } from './books/market-data.ts'
import type { BookType, Desk } from './books/fixture.ts'
import { openDesk } from '../../core/testing/cards/books/open-desk.ts'
import { kindCards } from '../../core/testing/cards/books/kinds.ts'
import { lifeCards } from './books/orders.ts'
import { listCards } from '../../core/testing/cards/books/lists.ts'
import { marginCards } from './books/accounts.ts'
import { moneyCards } from '../../core/testing/cards/books/money.ts'
import { perpCards } from './books/perp.ts'
import { raceCards } from '../../core/testing/cards/books/races.ts'
import { refusalCards } from './books/refusals.ts'
import { statusCards } from '../../core/testing/cards/books/status.ts'

export type Card<O extends BookOperator = BookOperator> = readonly [
  title: string,
  run: (desk: Desk<O>) => Promise<void>,
  /** Whether it is for such an exchange; absent: for every one. */
  isFor?: (exchange: { type: BookType; operator: O | undefined }) => boolean,
]

/** What closes a market for good is the last. */
const everyBook: readonly Card[] = [
  ...theBook,
  ...lifeCards,
  ...kindCards,
  ...moneyCards,
  ...listCards,
  ...refusalCards,
  ...batchCards,
  ...raceCards,
  ...statusCards,
]

/** What every exchange with order books must do, whatever is behind it: for each type that it has. */
export function bookCards(bench: Bench, types: readonly string[], add: AddCard): void {
  const { bookOperators: operators } = bench
  if (types.includes('CLOB')) addCards(bench, 'CLOB', operators?.CLOB, [], add)
  if (types.includes('MARGIN_CLOB')) addCards(bench, 'MARGIN_CLOB', operators?.MARGIN_CLOB, marginCards, add)
  if (types.includes('PERP_CLOB')) addCards(bench, 'PERP_CLOB', operators?.PERP_CLOB, perpCards, add)
}

function addCards<O extends BookOperator>(
  bench: Bench,
  type: BookType,
  operator: O | undefined,
  own: readonly Card<O>[],
  add: AddCard,
): void {
  let desk: Promise<Desk<O>> | undefined
  for (const [title, run, isFor = () => true] of [...own, ...everyBook])
    if (isFor({ type, operator }))
      add(type === 'CLOB' ? title : `${title} (${type})`, async () => {
        if (!operator) throw new Error(`No bookOperators say who else trades by ${type}: nobody but the plugin would say what is right.`)
        const opened = await (desk ??= openDesk(bench, type, operator))
        await opened.clear()
        await run(opened)
      })
}
