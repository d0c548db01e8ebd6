import type { Missing, Passage, Passed, Pool, PoolProtocol } from '../protocol.ts'
import { rateX128Of } from '../../../core/kits/pools/routing/rate.ts'

/** One pool in one direction. */
export interface Lane {
  readonly protocol: PoolProtocol
  readonly pool: Pool
  readonly passage: Passage
  pass(exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** Its price, fee included: out per in, in smallest units, rounded up. */
  rateX128(): bigint
  /** The same as floating point where no amount gets a better one, and else infinite. */
  bestRate(): number
}

/** The lanes from one token to another. */
export interface Lanes {
  readonly none: boolean
  between(tokenIn: string, tokenOut: string): readonly Lane[]
  /** All through which a token comes in. */
  from(token: string): readonly Lane[]
}

const x128 = 2 ** 128
const nowhere: readonly Lane[] = []

export function lanesOf(pools: readonly { readonly protocol: PoolProtocol; readonly pool: Pool }[]): Lanes {
  const known = new Map<string, Map<string, Lane[]>>()
  for (const { protocol, pool } of pools) {
    for (const tokenIn of pool.tokens) {
      let beyond = known.get(tokenIn)
      if (!beyond) known.set(tokenIn, (beyond = new Map<string, Lane[]>()))
      for (const tokenOut of pool.tokens) {
        if (tokenOut === tokenIn) continue
        const lane = laneOf(protocol, pool, { tokenIn, tokenOut })
        const beside = beyond.get(tokenOut)
        if (beside) beside.push(lane)
        else beyond.set(tokenOut, [lane])
      }
    }
  }
  return {
    none: known.size === 0,
    between: (tokenIn, tokenOut) => known.get(tokenIn)?.get(tokenOut) ?? nowhere,
    from: (token) => [...(known.get(token)?.values() ?? [])].flat(),
  }
}

/** Routes of one version and of several ask the same of their first pools: the last answer is remembered. */
function laneOf(protocol: PoolProtocol, pool: Pool, passage: Passage): Lane {
  let bestRate: number | undefined
  let asked: { exact: 'in' | 'out'; amountRaw: bigint; answer: Passed | Missing | undefined } | undefined
  return {
    protocol,
    pool,
    passage,
    pass(exact, amountRaw) {
      if (asked?.exact === exact && asked.amountRaw === amountRaw) return asked.answer
      const answer = protocol.pass(pool, passage, exact, amountRaw)
      asked = { exact, amountRaw, answer }
      return answer
    },
    rateX128: () => rateX128Of(protocol, pool, passage),
    bestRate: () => (bestRate ??= protocol.spotIsBest ? Number(rateX128Of(protocol, pool, passage)) / x128 : Infinity),
  }
}
