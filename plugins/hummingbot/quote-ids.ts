// The id of a quote is the trade that it offers, so that every server knows it, also after a restart. Who writes one by hand asks for a swap in
// other words: it goes through the same checks and limits.
import { randomFillSync } from 'node:crypto'
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
  const parts = [Date.now().toString(36), randomPart(), chain, network, connector, base, quote, amount, side]
  return idOf([...parts, limitPrice, pool, version])
}

/** Of many ids at once: to ask for each alone takes longer than all else that makes it. */
const randomness = Buffer.alloc(6 * 512)
let used = randomness.length

function randomPart(): string {
  if (used === randomness.length) {
    randomFillSync(randomness)
    used = 0
  }
  return randomness.toString('base64url', used, (used += 6))
}

const idOf = (parts: readonly string[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

/**
 * Only as it was given: base64 reads the same with spaces and padding, and one quote would be two swaps.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export function readQuoteId(quoteId: string): { readonly trade: QuotedTrade; readonly quotedAt: number } {
  const [at, unique, chain, network, connector, base, quote, amount, side, limitPrice, pool, version] = partsOf(quoteId) ?? noParts
  const quotedAt = Number.parseInt(at, 36)
  if (!(quotedAt > 0) || quotedAt.toString(36) !== at || !/^[\w-]{8}$/.test(unique) || (side !== 'BUY' && side !== 'SELL'))
    throw badFields([{ field: 'quoteId', problem: 'is none that quote-swap has given' }])
  const swap = { chain, network, connector, base, quote, amount, side, limitPrice } as const
  return { trade: { ...swap, ...(pool && { pool }), ...(version && { version }) }, quotedAt }
}

/** When it was given, what makes it another than equal ones, and the fields of its trade, empty where there is none. */
type Parts = readonly [string, string, string, string, string, string, string, string, string, string, string, string]
const noParts: Parts = ['', '', '', '', '', '', '', '', '', '', '', '']

function partsOf(quoteId: string): Parts | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(quoteId, 'base64url').toString('utf8'))
    return isParts(parts) && idOf(parts) === quoteId ? parts : undefined
  } catch {
    return undefined
  }
}

const isParts = (parts: unknown): parts is Parts =>
  Array.isArray(parts) && parts.length === noParts.length && parts.every((part) => typeof part === 'string')
