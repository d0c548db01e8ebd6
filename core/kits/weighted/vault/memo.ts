import type { Json, Quote } from '../../../contracts/index.ts'

/** What `fill` needs to find a swap in a receipt. */
export interface SwapMemo {
  readonly vault: string
  /** In the order in which the Vault swaps them: backward where the amount out is exact. */
  readonly swaps: readonly { readonly poolId: string; readonly tokenIn: string; readonly tokenOut: string }[]
  readonly exact: 'in' | 'out'
}

export function memoOf({ swap: { exact }, route, spender }: Quote, idOf: (pool: string) => string): Json {
  const hops = route.map(({ pool, tokenIn, tokenOut }) => ({ poolId: idOf(pool), tokenIn, tokenOut }))
  return { vault: spender, swaps: exact === 'in' ? hops : hops.toReversed(), exact }
}

/** Undefined where it is no memo of such a swap. */
export function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { vault, swaps, exact } = memo
  if (typeof vault !== 'string' || !Array.isArray(swaps) || (exact !== 'in' && exact !== 'out')) return undefined
  const parsed = swaps.map(parseSwap)
  return parsed.every((swap) => swap !== undefined) ? { vault, swaps: parsed, exact } : undefined
}

function parseSwap(swap: Json): SwapMemo['swaps'][number] | undefined {
  if (!isObject(swap)) return undefined
  const { poolId, tokenIn, tokenOut } = swap
  return typeof poolId === 'string' && typeof tokenIn === 'string' && typeof tokenOut === 'string'
    ? { poolId, tokenIn, tokenOut }
    : undefined
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
