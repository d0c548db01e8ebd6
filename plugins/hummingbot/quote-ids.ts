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

/** Makes ids of quotes that offer this trade: two of them differ. */
export function quoteIdsOf({ chain, network, connector, base, quote, amount, side, limitPrice, pool = '', version = '' }: QuotedTrade) {
  let end: string | undefined
  return (): string => {
    const [at, unique] = [Date.now().toString(36), randomPart()]
    // What is before the trade has whole groups of three bytes, so that what base64 makes of the trade is always the same.
    end ??= base64Of(JSON.stringify([chain, network, connector, base, quote, amount, side, limitPrice, pool, version]).slice(beforeTrade))
    return base64Of(`["${at}","${unique}","`) + end
  }
}

export const newQuoteId = (trade: QuotedTrade): string => quoteIdsOf(trade)()

/** The bracket and the quote that the list of its parts begins with. */
const beforeTrade = 2

const base64Of = (text: string): string => Buffer.from(text).toString('base64url')

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

const idOf = (parts: readonly string[]): string => base64Of(JSON.stringify(parts))

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
