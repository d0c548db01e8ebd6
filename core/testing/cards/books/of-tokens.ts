import type { BookType } from '../../../../testkit/cards/books/fixture.ts'

/** Of exchanges that trade the tokens themselves. */
export const ofTokens = ({ type }: { type: BookType }) => type !== 'PERP_CLOB'
