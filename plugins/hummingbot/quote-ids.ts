// The id of a quote is the trade that it offers, so that every server knows it, also after a restart. Who writes one by hand asks for a swap in
// other words: it goes through the same checks and limits.
import { randomBytes } from 'node:crypto'
import { badFields } from 'sluice/interface'

/** What /amm/trade is asked, but for the wallet. */
export interface QuotedTrade {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly base: string
  readonly quote: string
  readonly amount: string
  readonly side: 'BUY' | 'SELL'
  readonly limitPrice: string
  readonly pool?: string
  readonly version?: string
}

/** Two of equal quotes differ. */
export function newQuoteId({
  chain,
  network,
  connector,
  base,
  quote,
  amount,
  side,
  limitPrice,
  pool = '',
  version = '',
}: QuotedTrade): string {
  const parts = [Date.now().toString(36), randomBytes(6).toString('base64url'), chain, network, connector, base, quote, amount, side]
  return Buffer.from(JSON.stringify([...parts, limitPrice, pool, version])).toString('base64url')
}

const partCount = 12

/** @throws SluiceError INCOMPLETE_PARAMS */
export function readQuoteId(quoteId: string): { readonly trade: QuotedTrade; readonly quotedAt: number } {
  const [at, nonce, chain, network, connector, base, quote, amount, side, limitPrice, pool, version, ...others] = partsOf(quoteId)
  const quotedAt = Number.parseInt(at ?? '', 36)
  if (
    !(quotedAt > 0) ||
    nonce === undefined ||
    chain === undefined ||
    network === undefined ||
    connector === undefined ||
    base === undefined ||
    quote === undefined ||
    amount === undefined ||
    (side !== 'BUY' && side !== 'SELL') ||
    limitPrice === undefined ||
    pool === undefined ||
    version === undefined ||
    others.length > 0
  )
    throw badFields([{ field: 'quoteId', problem: 'is none that quote-swap has given' }])
  const trade: QuotedTrade = {
    chain,
    network,
    connector,
    base,
    quote,
    amount,
    side,
    limitPrice,
    ...(pool && { pool }),
    ...(version && { version }),
  }
  return { trade, quotedAt }
}

function partsOf(quoteId: string): readonly (string | undefined)[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(quoteId, 'base64url').toString('utf8'))
    return Array.isArray(parts) && parts.length === partCount && parts.every((part) => typeof part === 'string') ? parts : []
  } catch {
    return []
  }
}
