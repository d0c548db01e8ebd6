import type { AddCard, TestVenue } from './venue.ts'
import type { BookOperator } from '../../core/contracts/devnet.ts'
import { batchCards, refusalCards } from './books/refusals.ts'
import { bookCards as theBook, listCards, statusCards } from './books/market-data.ts'
import { type BookType, type BookFixture, createBookFixture } from './books/fixture.ts'
import { kindCards, lifeCards, raceCards } from './books/orders.ts'
import { marginCards, moneyCards } from './books/accounts.ts'
import { perpCards } from './books/perp.ts'

export type Card<O extends BookOperator = BookOperator> = readonly [
  title: string,
  run: (desk: BookFixture<O>) => Promise<void>,
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
export function bookCards(bench: TestVenue, types: readonly string[], add: AddCard): void {
  const { bookOperators: operators } = bench
  if (types.includes('CLOB')) addCards(bench, 'CLOB', operators?.CLOB, [], add)
  if (types.includes('MARGIN_CLOB')) addCards(bench, 'MARGIN_CLOB', operators?.MARGIN_CLOB, marginCards, add)
  if (types.includes('PERP_CLOB')) addCards(bench, 'PERP_CLOB', operators?.PERP_CLOB, perpCards, add)
}

function addCards<O extends BookOperator>(
  bench: TestVenue,
  type: BookType,
  operator: O | undefined,
  own: readonly Card<O>[],
  add: AddCard,
): void {
  let desk: Promise<BookFixture<O>> | undefined
  for (const [title, run, isFor = () => true] of [...own, ...everyBook])
    if (isFor({ type, operator }))
      add(type === 'CLOB' ? title : `${title} (${type})`, async () => {
        if (!operator) throw new Error(`No bookOperators say who else trades by ${type}: nobody but the plugin would say what is right.`)
        const opened = await (desk ??= createBookFixture(bench, type, operator))
        await opened.clear()
        await run(opened)
      })
}
