import type { BookOperator } from '../../core/contracts/devnet.ts'
import { balanceCards, marginCards } from './books/accounts.ts'
import { createBookFixture, type BookCard, type BookFixture, type BookType } from './books/fixture.ts'
import { bookCards as marketDataCards, listCards, statusCards } from './books/market-data.ts'
import { lifeCards, orderTypeCards, raceCards } from './books/orders.ts'
import { perpCards } from './books/perp.ts'
import { batchCards, refusalCards } from './books/refusals.ts'
import { addCards, type AddCard, type TestVenue } from './venue.ts'

/**
 * What every exchange with order books must do, for each of its types.
 * @returns fills the books again that the cards emptied, so that they can run once more on the same devnet
 */
export function bookCards(venue: TestVenue, types: readonly string[], add: AddCard): () => Promise<void> {
  const { bookOperators: operators } = venue
  const refills: (() => Promise<void>)[] = []
  if (types.includes('CLOB')) refills.push(addBookCards(venue, 'CLOB', operators?.CLOB, [], add))
  if (types.includes('MARGIN_CLOB')) refills.push(addBookCards(venue, 'MARGIN_CLOB', operators?.MARGIN_CLOB, marginCards, add))
  if (types.includes('PERP_CLOB')) refills.push(addBookCards(venue, 'PERP_CLOB', operators?.PERP_CLOB, perpCards, add))
  return async () => {
    for (const refill of refills) await refill()
  }
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

/** Of all types. */
export const bookCardTitles: readonly string[] = [...marginCards, ...perpCards, ...commonCards].map(([title]) => title)

function addBookCards<O extends BookOperator>(
  venue: TestVenue,
  type: BookType,
  operator: O | undefined,
  own: readonly BookCard<O>[],
  add: AddCard,
): () => Promise<void> {
  let created: BookFixture<O> | undefined
  const cards = [...own, ...commonCards].filter(([, , isFor = () => true]) => isFor({ type, operator }))
  addCards(
    cards.map(([title, run]) => [type === 'CLOB' ? title : `${title} (${type})`, run]),
    async () => {
      if (!operator)
        throw new Error(`No bookOperators for ${type}: without other traders nothing but the plugin itself says what is right.`)
      return (created = await createBookFixture(venue, type, operator))
    },
    add,
    (fixture) => fixture.clear(),
  )
  return async () => created?.refill()
}
