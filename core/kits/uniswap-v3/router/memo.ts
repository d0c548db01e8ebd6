import type { Hop, Json, Quote } from '../../../contracts/index.ts'
import type { RoutePart } from '../../../../kits/amm/index.ts'
import type { Kind } from './legs.ts'

/** What `fill` needs to find a swap in a receipt. */
export interface SwapMemo {
  readonly router: string
  readonly exact: 'in' | 'out'
  /** In the order in which they are called. */
  readonly parts: readonly MemoPart[]
}

export interface MemoPart {
  /** The exact amount. */
  readonly amountRaw: bigint
  readonly hops: readonly MemoHop[]
}

/** All but `kind` are addresses. */
export interface MemoHop {
  readonly kind: Kind
  readonly pool: string
  readonly tokenIn: string
  readonly tokenOut: string
  /** Whom the pool pays. */
  readonly to: string
}

/** A swap of one part is written without them, as it was before there were others. */
export function memoOf(
  { swap }: Quote,
  parts: readonly RoutePart[],
  recipient: string,
  { router, kindOf }: { router: string; kindOf: (hop: Hop) => Kind },
): Json {
  const { exact, tokenOut } = swap
  const written = parts.map(({ route, exactRaw }) => ({
    amountRaw: exactRaw.toString(),
    hops: route.map((hop, index) => {
      const { pool, tokenIn, tokenOut: token } = hop
      const next = route[index + 1]
      // Constant-product pools pay each other, and so do all where the amount out is exact: the last one is swapped first.
      const paysNext = exact === 'out' || (next && kindOf(hop) === 'constant-product' && kindOf(next) === 'constant-product')
      const to = next ? (paysNext ? next.pool : router) : tokenOut.native ? router : recipient
      return { kind: kindOf(hop), pool, tokenIn, tokenOut: token, to }
    }),
  }))
  const [only, ...others] = written
  return others.length === 0 ? { router, exact, ...only } : { router, exact, parts: written }
}

/** Undefined where it is no memo of such a swap. */
export function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { router, exact, parts = [memo] } = memo
  if (typeof router !== 'string' || (exact !== 'in' && exact !== 'out') || !Array.isArray(parts)) return undefined
  const parsed = parts.map(parsePart)
  return parsed.every((part) => part !== undefined) ? { router, exact, parts: parsed } : undefined
}

function parsePart(part: Json): MemoPart | undefined {
  if (!isObject(part)) return undefined
  const { amountRaw, hops } = part
  if (typeof amountRaw !== 'string' || !/^\d+$/.test(amountRaw) || !Array.isArray(hops)) return undefined
  const parsed = hops.map(parseHop)
  return parsed.every((hop) => hop !== undefined) ? { amountRaw: BigInt(amountRaw), hops: parsed } : undefined
}

function parseHop(hop: Json): MemoHop | undefined {
  if (!isObject(hop)) return undefined
  const { kind, pool, tokenIn, tokenOut, to } = hop
  if (kind !== 'range' && kind !== 'constant-product') return undefined
  if (typeof pool !== 'string' || typeof tokenIn !== 'string' || typeof tokenOut !== 'string' || typeof to !== 'string') return undefined
  return { kind, pool, tokenIn, tokenOut, to }
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
