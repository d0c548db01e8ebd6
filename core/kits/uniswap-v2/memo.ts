import type { Json, Quote } from '../../contracts/index.ts'

/** What `fill` needs to find a swap in a receipt. All are addresses. */
export interface SwapMemo {
  readonly router: string
  readonly recipient: string
  /** The coin went in: the router, not the wallet, pays the first pool. */
  readonly nativeIn: boolean
  /** The coin came out: the last pool pays the router, which unwraps. */
  readonly nativeOut: boolean
  readonly hops: readonly MemoHop[]
}

interface MemoHop {
  readonly pool: string
  readonly tokenIn: string
  readonly tokenOut: string
}

export function memoOf({ swap, route, spender }: Quote, recipient: string): Json {
  return {
    router: spender,
    recipient,
    nativeIn: swap.tokenIn.native === true,
    nativeOut: swap.tokenOut.native === true,
    hops: route.map(({ pool, tokenIn, tokenOut }) => ({ pool, tokenIn, tokenOut })),
  }
}

/** Undefined where it is no memo of a swap. */
export function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { router, recipient, nativeIn, nativeOut, hops } = memo
  if (typeof router !== 'string' || typeof recipient !== 'string' || !Array.isArray(hops)) return undefined
  if (typeof nativeIn !== 'boolean' || typeof nativeOut !== 'boolean') return undefined
  const parsed = hops.map(parseHop)
  return parsed.every((hop) => hop !== undefined) ? { router, recipient, nativeIn, nativeOut, hops: parsed } : undefined
}

function parseHop(hop: Json): MemoHop | undefined {
  if (!isObject(hop)) return undefined
  const { pool, tokenIn, tokenOut } = hop
  return typeof pool === 'string' && typeof tokenIn === 'string' && typeof tokenOut === 'string' ? { pool, tokenIn, tokenOut } : undefined
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
