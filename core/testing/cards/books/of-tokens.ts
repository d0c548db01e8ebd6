import type { BookType } from './desk.ts'

/** Of exchanges that trade the tokens themselves. */
export const ofTokens = ({ type }: { type: BookType }) => type !== 'PERP_CLOB'
