import type { NetworkPollResponse } from '../../api/index.ts'
import type { Fill, Json } from '../../contracts/index.ts'
import type { Entry } from '../../transactions/entry.ts'
import { fromRaw, priceOf } from '../../decimal.ts'
import { readAboutTrade } from '../amm/about-trade.ts'
import { showLiquidityFill } from '../amm/liquidity/about-liquidity.ts'
import { showPositionFill } from '../../handlers/perp/fills.ts'
import type { Directory, NetworkEntry } from '../../handlers/registry.ts'

/** What a transaction really gave, read from its receipt by the connector that made it. */
export function fillOf(
  entry: Entry | undefined,
  receipt: Json,
  { chain, network }: NetworkEntry,
  directory: Directory,
): Pick<NetworkPollResponse, 'fill'> {
  if (!entry || receipt === null) return {}
  const impl = directory.venuesOn(chain, network).find(({ connector }) => connector === entry.connector)?.impl
  if (entry.kind === 'trade') {
    const fill = orNothing(() => impl?.AMM?.fill(receipt, entry.memo))
    return fill ? { fill: showTradeFill(fill, entry.about) } : {}
  }
  if (entry.kind === 'liquidity') {
    const fill = orNothing(() => impl?.AMM_RANGE?.rangeFill(receipt, entry.memo))
    return fill ? { fill: showLiquidityFill(fill, entry.about) } : {}
  }
  if (entry.kind === 'position') {
    const fill = orNothing(() => impl?.PERP_AMM?.perpFill(receipt, entry.memo))
    return fill ? { fill: showPositionFill(fill, entry.about) } : {}
  }
  return {}
}

function showTradeFill(fill: Fill, about: Json) {
  const { side, base, quote } = readAboutTrade(about)
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
    amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
    price: priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down'),
  }
}

/** Nothing where the connector fails, too: its log has the defect, and what became of the transaction is worth more than its fill. */
function orNothing<T>(read: () => T | undefined): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
