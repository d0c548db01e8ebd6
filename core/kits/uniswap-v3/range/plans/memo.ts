import type { Json } from '../../../../contracts/index.ts'

/** What `rangeFill` needs to find in a receipt what was done to a position. */
export interface RangeMemo {
  readonly is: 'mint' | 'increase' | 'decrease' | 'collect'
  readonly positionManager: string
  readonly pool: string
  readonly owner: string
  readonly tickLower: number
  readonly tickUpper: number
  /** A decimal string; null for one that is to be made. */
  readonly tokenId: string | null
}

export function memoOf(memo: RangeMemo): Json {
  return { ...memo }
}

const kinds = ['mint', 'increase', 'decrease', 'collect'] as const

/** Undefined where it is no memo of a position. */
export function parseMemo(memo: Json): RangeMemo | undefined {
  if (!isObject(memo)) return undefined
  const { positionManager, pool, owner, tickLower, tickUpper, tokenId } = memo
  const is = kinds.find((kind) => kind === memo['is'])
  if (is === undefined || typeof positionManager !== 'string' || typeof pool !== 'string' || typeof owner !== 'string') return undefined
  if (typeof tickLower !== 'number' || typeof tickUpper !== 'number') return undefined
  if (is === 'mint' ? tokenId !== null : typeof tokenId !== 'string' || !/^\d+$/.test(tokenId)) return undefined
  return { is, positionManager, pool, owner, tickLower, tickUpper, tokenId: typeof tokenId === 'string' ? tokenId : null }
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
