import type { BookOperator } from '../../core/contracts/devnet.ts'
import { balanceCards, marginCards } from './books/accounts.ts'
import { createBookFixture, type BookCard, type BookType } from './books/fixture.ts'
import { bookCards as marketDataCards, listCards, statusCards } from './books/market-data.ts'
import { lifeCards, orderTypeCards, raceCards } from './books/orders.ts'
import { perpCards } from './books/perp.ts'
import { batchCards, refusalCards } from './books/refusals.ts'
import { addCards, type AddCard, type TestVenue } from './venue.ts'

/** What every exchange with order books must do, for each of its types. */
export function bookCards(venue: TestVenue, types: readonly string[], add: AddCard): void {
  const { bookOperators: operators } = venue
  if (types.includes('CLOB')) addBookCards(venue, 'CLOB', operators?.CLOB, [], add)
  if (types.includes('MARGIN_CLOB')) addBookCards(venue, 'MARGIN_CLOB', operators?.MARGIN_CLOB, marginCards, add)
  if (types.includes('PERP_CLOB')) addBookCards(venue, 'PERP_CLOB', operators?.PERP_CLOB, perpCards, add)
}

/** The card that closes a market for good is the last. */
const commonCards: readonly BookCard[] = [
  ...marketDataCards,
  ...lifeCards,
  ...orderTypeCards,
  ...balanceCards,
  ...listCards,
  ...refusalCards,
  ...batchCards,
  ...raceCards,
  ...statusCards,
]

function addBookCards<O extends BookOperator>(
  venue: TestVenue,
  type: BookType,
  operator: O | undefined,
  own: readonly BookCard<O>[],
  add: AddCard,
): void {
  const cards = [...own, ...commonCards].filter(([, , isFor = () => true]) => isFor({ type, operator }))
  addCards(
    cards.map(([title, run]) => [type === 'CLOB' ? title : `${title} (${type})`, run]),
    async () => {
      if (!operator)
        throw new Error(`No bookOperators for ${type}: without other traders nothing but the plugin itself says what is right.`)
      return createBookFixture(venue, type, operator)
    },
    add,
    (fixture) => fixture.clear(),
  )
}
