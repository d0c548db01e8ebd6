import { SluiceError } from '../../../api/index.ts'
import type { AMMRange } from '../../../contracts/index.ts'
import type { VenueEntry } from '../../../handlers/registry.ts'

export function rangeOf({ impl, connector }: Pick<VenueEntry, 'impl' | 'connector'>): AMMRange {
  if (impl.AMM_RANGE) return impl.AMM_RANGE
  throw new SluiceError(
    'UNSUPPORTED',
    `The connector ${connector} has no trading type AMM_RANGE (concentrated liquidity); GET /plugins shows what it has.`,
  )
}
