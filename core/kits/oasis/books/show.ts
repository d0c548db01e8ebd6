import type { Book, LastTrades, Level } from '../../../contracts/index.ts'
import { amountText } from '../../../../kits/oasis/decimal.ts'
import type { OasisState, SideState } from './state.ts'

export function show({ pair, sides, lastPrice }: OasisState): Book & LastTrades {
  const levels = ({ offers }: SideState): readonly Level[] => {
    const summed: { price: string; baseRaw: bigint }[] = []
    for (const { price, baseRaw } of offers) {
      const last = summed.at(-1)
      if (last?.price === price) last.baseRaw += baseRaw
      else summed.push({ price, baseRaw })
    }
    return summed.map(({ price, baseRaw }) => ({ price, quantity: amountText(baseRaw, pair.base.decimals) }))
  }
  return { buys: levels(sides.buys), sells: levels(sides.sells), ...(lastPrice !== undefined && { lastPrice }) }
}
