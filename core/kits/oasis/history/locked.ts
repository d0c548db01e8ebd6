import type { BookBalance } from '../../../contracts/index.ts'
import { amountText } from '../../../../kits/oasis/decimal.ts'
import { tokensOf } from '../../../../kits/oasis/contract.ts'
import { lockedOf, type OwnOffer } from '../../../../kits/oasis/own-orders.ts'

/** What the market keeps of a wallet's until its offers are taken or cancelled; it holds nothing else. */
export function lockedBy(offers: readonly OwnOffer[]): readonly BookBalance[] {
  const locked = new Map<string, { symbol: string; decimals: number; raw: bigint }>()
  for (const offer of offers) {
    const [{ address, symbol, decimals }] = tokensOf(offer.pair, offer.side)
    locked.set(address, { symbol, decimals, raw: (locked.get(address)?.raw ?? 0n) + lockedOf(offer) })
  }
  return [...locked.values()].flatMap(({ symbol, decimals, raw }) => {
    const text = amountText(raw, decimals)
    return raw > 0n ? [{ symbol, total: text, available: '0', locked: text }] : []
  })
}
