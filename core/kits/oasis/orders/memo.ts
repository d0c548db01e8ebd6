import type { Json } from '../../../contracts/index.ts'

interface Acted {
  /** The contract. */
  readonly market: string
  readonly owner: string
}

/** What is known of an order by its transaction alone: in the journal, so that it outlives a restart. */
export interface CreateMemo extends Acted {
  readonly side: 'BUY' | 'SELL'
  /** Filled whole or not at all. */
  readonly atOnce: boolean
  readonly base: string
  readonly quote: string
  /** Of the quote above those of the base. */
  readonly decimals: number
  readonly baseDecimals: number
  readonly amountRaw: bigint
  /** What the amount is worth at the order's price. */
  readonly quoteRaw: bigint
}

export interface CancelMemo extends Acted {
  readonly id: string
}

export const writeCreate = ({ amountRaw, quoteRaw, ...memo }: CreateMemo): Json => ({
  ...memo,
  amountRaw: String(amountRaw),
  quoteRaw: String(quoteRaw),
})

export const writeCancel = ({ market, owner, id }: CancelMemo): Json => ({ market, owner, id })

/** Undefined where it is neither. */
export function readMemo(memo: Json): CreateMemo | CancelMemo | undefined {
  if (!isObject(memo)) return undefined
  const { market, owner, id, side, atOnce, base, quote, decimals, baseDecimals, amountRaw, quoteRaw } = memo
  if (typeof market !== 'string' || typeof owner !== 'string') return undefined
  if (typeof id === 'string') return { market, owner, id }
  if ((side !== 'BUY' && side !== 'SELL') || typeof atOnce !== 'boolean') return undefined
  if (typeof base !== 'string' || typeof quote !== 'string' || typeof amountRaw !== 'string' || typeof quoteRaw !== 'string')
    return undefined
  if (typeof decimals !== 'number' || typeof baseDecimals !== 'number') return undefined
  const amounts = { amountRaw: BigInt(amountRaw), quoteRaw: BigInt(quoteRaw) }
  return { market, owner, side, atOnce, base, quote, decimals, baseDecimals, ...amounts }
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
