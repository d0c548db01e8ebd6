import { SluiceError, type BookSet } from '../../api/index.ts'
import type { CLOB, MarginCLOB, PerpCLOB } from '../../contracts/index.ts'
import type { VenueEntry } from '../../handlers/registry.ts'

/** What the implementation of each kind of order book is. */
interface Books {
  CLOB: CLOB
  MARGIN_CLOB: MarginCLOB
  PERP_CLOB: PerpCLOB
}

/** Where the endpoints of each kind are. */
export const rootOf = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookSet, string>

/** @throws SluiceError UNSUPPORTED */
export function bookOf<T extends BookSet>(type: T, { impl, connector }: Pick<VenueEntry, 'impl' | 'connector'>): Books[T] {
  const books: Partial<Books> = impl
  const book = books[type]
  if (book) return book
  throw new SluiceError('UNSUPPORTED', `The connector ${connector} has no trading type ${type}; GET /plugins shows what it has.`)
}
