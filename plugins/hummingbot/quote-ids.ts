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

/**
 * Makes ids of quotes that offer this trade: two of them differ. An id is the list of its parts as JSON in base64. What each part begins with has whole
 * groups of three bytes, so that the parts become base64 by themselves: the moment once a millisecond, what is random for many ids at once, and
 * the trade once.
 */
export function quoteIdsOf(trade: QuotedTrade): () => string {
  let end: string | undefined
  return () => timePart() + randomPart() + (end ??= base64Of(tradePart(trade)))
}

export const newQuoteId = (trade: QuotedTrade): string => quoteIdsOf(trade)()

/** Of texts that are shorter than a quarter of it. */
const scratch = Buffer.alloc(4096)

function base64Of(text: string): string {
  if (text.length * 4 > scratch.length) return Buffer.from(text).toString('base64url')
  return scratch.toString('base64url', 0, scratch.write(text))
}

let timeAt = 0
let timeText = ''

function timePart(): string {
  const now = Date.now()
  if (now !== timeAt) {
    timeAt = now
    timeText = base64Of(`["${now.toString(36)}",`)
  }
  return timeText
}

/** Of each id six bytes, in base64. */
const [randomBytes, randomLength, idsAtOnce] = [6, 8, 512]
/** As they are in base64 once more, with what is around them. */
const randomWidth = 16
let randomParts = ''
let used = 0

function randomPart(): string {
  if (used === randomParts.length) {
    const random = randomFillSync(Buffer.alloc(randomBytes * idsAtOnce)).toString('base64url')
    randomParts = Array.from({ length: idsAtOnce }, (_, index) =>
      base64Of(`"${random.slice(index * randomLength, (index + 1) * randomLength)}","`),
    ).join('')
    used = 0
  }
  return randomParts.slice(used, (used += randomWidth))
}

/** JSON of the trade's parts, from the first character of the first on. */
function tradePart({ chain, network, connector, base, quote, amount, side, limitPrice, pool = '', version = '' }: QuotedTrade): string {
  const text = `${chain}","${network}","${connector}","${base}","${quote}","${amount}","${side}","${limitPrice}","${pool}","${version}"]`
  // A quotation mark in one of them is escaped, and there would be more of them.
  if (unescaped.test(text)) return text
  return JSON.stringify([chain, network, connector, base, quote, amount, side, limitPrice, pool, version]).slice(beforeTrade)
}

/** Ten texts that JSON has as they are. */
const unescaped = /^(?:[ !#-[\]-~]*","){9}[ !#-[\]-~]*"\]$/

/** The bracket and the quote that the list of its parts begins with. */
const beforeTrade = 2

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
