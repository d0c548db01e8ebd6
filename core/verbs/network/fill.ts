import type { NetworkPollResponse } from '../../api/index.ts'
import type { AMM, Fill, Json } from '../../contracts/index.ts'
import type { Entry } from '../../transactions/index.ts'
import { fromRaw, priceOf } from '../amounts.ts'
import { readAboutTrade } from '../amm/about-trade.ts'
import type { Directory, NetworkEntry } from '../directory.ts'

/** What a trade really gave, read from its receipt by the connector that made it. */
export function fillOf(
  entry: Entry | undefined,
  receipt: Json,
  { chain, network }: NetworkEntry,
  directory: Directory,
): Pick<NetworkPollResponse, 'fill'> {
  if (entry?.kind !== 'trade' || receipt === null) return {}
  const amm = directory.venuesOn(chain, network).find(({ connector }) => connector === entry.connector)?.impl.AMM
  const fill = readFill(amm, receipt, entry.memo)
  const { side, base, quote } = readAboutTrade(entry.about)
  if (!fill) return {}
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    fill: {
      amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
      amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
      price: priceOf(
        { raw: quoteRaw, decimals: quote.decimals },
        { raw: baseRaw, decimals: base.decimals },
        side === 'BUY' ? 'up' : 'down',
      ),
    },
  }
}

/** Nothing where the connector fails, too: its log has the defect, and what became of the transaction is worth more than its fill. */
function readFill(amm: AMM | undefined, receipt: Json, memo: Json): Fill | undefined {
  try {
    return amm?.fill(receipt, memo)
  } catch {
    return undefined
  }
}
