import { badFields, SluiceError } from '../../api/index.ts'
import type { AMMRange, At, Head, RangePool } from '../../contracts/index.ts'
import type { VenueEntry } from '../registry.ts'
import type { Pair } from '../../verbs/amm/liquidity/pair.ts'
import { rangeOf } from '../../verbs/amm/liquidity/range-of.ts'

type Tiers = AMMRange['feeTiers']

/** The pool of two tokens that a caller means: that of the fee tier, else the deepest. */
export async function findPool(
  pair: Pair,
  feeText: string | undefined,
  venue: VenueEntry,
  at: At,
): Promise<{ head: Head; pool: RangePool }> {
  const range = rangeOf(venue)
  const fee = readFee(feeText, range.feeTiers, venue.connector)
  const { head, pools } = await range.rangePools(pair, { ...(fee !== undefined && { fee }) }, at)
  const [pool] = pools
  if (pool) return { head, pool }

  const tokens = pair.map(({ symbol }) => symbol).join(' and ')
  const others = fee === undefined ? [] : (await range.rangePools(pair, {}, at)).pools
  if (fee !== undefined && !isTier(fee, range.feeTiers)) throw noTier(String(fee), range.feeTiers, venue.connector)
  if (others.length === 0) throw new SluiceError('PAIR_NOT_FOUND', `${venue.connector} has no pool of ${tokens} with a price.`)
  const fees = others.map((each) => showTier(each.fee, range.feeTiers))
  throw new SluiceError(
    'PAIR_NOT_FOUND',
    `${venue.connector} has no pool of ${tokens} in the fee tier ${showTier(fee ?? 0, range.feeTiers)}; there is one in ${fees.join(', ')}.`,
    { details: { fees: others.map((each) => each.fee) } },
  )
}

/** Hundredths of a basis point. A number may be a tier that the exchange was given later: whether it is one, its pools tell. */
export function readFee(text: string | undefined, tiers: Tiers, connector: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const name = text.toUpperCase()
  const fee = Object.hasOwn(tiers, name) ? tiers[name] : undefined
  if (fee === undefined) throw noTier(text, tiers, connector)
  return fee
}

/** An exchange that has no names for its tiers has any. */
const isTier = (fee: number, tiers: Tiers) => Object.keys(tiers).length === 0 || Object.values(tiers).includes(fee)

/** To add to. The price of an empty pool is whatever somebody set: to take one is for the caller to say. @throws SluiceError INCOMPLETE_PARAMS */
export async function findPoolToFill(
  pair: Pair,
  feeText: string | undefined,
  venue: VenueEntry,
  at: At,
): Promise<{ head: Head; pool: RangePool }> {
  const found = await findPool(pair, feeText, venue, at)
  if (feeText !== undefined || found.pool.liquidity > 0n) return found
  const tier = showTier(found.pool.fee, rangeOf(venue).feeTiers)
  const problem = `is required here: no pool of the two has liquidity at its price, which is whatever somebody set. Look at it by /amm/liquidity/price, then name the tier, such as ${tier}`
  throw badFields([{ field: 'fee', problem }])
}

function noTier(text: string, tiers: Tiers, connector: string): SluiceError {
  const known = Object.values(tiers).map((fee) => showTier(fee, tiers))
  const choice = known.length === 0 ? 'give a number of hundredths of a basis point' : `it has ${known.join(', ')}`
  return badFields([{ field: 'fee', problem: `"${text}" is no fee tier of ${connector}: ${choice}` }])
}

/** "3000 (MEDIUM)". */
function showTier(fee: number, tiers: Tiers): string {
  const name = Object.keys(tiers).find((each) => tiers[each] === fee)
  return name === undefined ? String(fee) : `${fee} (${name})`
}
