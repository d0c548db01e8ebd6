import { getAddress } from 'ethers'
import type { Json, PerpMarketName } from '../../../contracts/index.ts'

/** What the fill of a changed position is read by: in the journal, so that it outlives a restart. */
export interface PerpMemo {
  readonly house: string
  readonly trader: string
  readonly market: PerpMarketName
  /** Of a close: what the position was expected to be, without sign. */
  readonly closing?: bigint
}

export const writeMemo = ({ house, trader, market: { id, base, quote, baseDecimals, quoteDecimals }, closing }: PerpMemo): Json => ({
  house,
  trader,
  market: { id, base, quote, baseDecimals, quoteDecimals },
  ...(closing !== undefined && { closing: closing.toString() }),
})

/** Undefined where it is none of these: a deposit has no fill. */
export function readMemo(memo: Json): PerpMemo | undefined {
  if (typeof memo !== 'object' || memo === null || !('house' in memo)) return undefined
  const { house, trader, market, closing } = memo
  if (typeof house !== 'string' || typeof trader !== 'string' || typeof market !== 'object' || market === null || !('id' in market))
    return undefined
  const { id, base, quote, baseDecimals, quoteDecimals } = market
  if (typeof id !== 'string' || typeof base !== 'string' || typeof quote !== 'string') return undefined
  if (typeof baseDecimals !== 'number' || typeof quoteDecimals !== 'number') return undefined
  return {
    house: getAddress(house),
    trader: getAddress(trader),
    market: { id, base, quote, baseDecimals, quoteDecimals },
    ...(typeof closing === 'string' && { closing: BigInt(closing) }),
  }
}
