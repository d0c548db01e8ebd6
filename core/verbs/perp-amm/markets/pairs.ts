import { perpOf, tickerOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const pairs: PerpVerb<'Pairs'> = async (_request, { venue, signal }) => {
  const { markets } = await perpOf(venue).listed({ signal })
  return { pairs: markets.map(tickerOf) }
}
