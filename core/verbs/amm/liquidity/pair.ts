import { badFields } from '../../../api/index.ts'
import type { At, RangeAmounts, RangePool, Token } from '../../../contracts/index.ts'
import type { NetworkEntry } from '../../../handlers/registry.ts'

/** Two tokens as the caller ordered them. */
export type Pair = readonly [Token, Token]

/** Two tokens as the caller ordered them, and whether a pool has them the other way round. */
export interface OrderedPair {
  pair: Pair
  reversed: boolean
}

export async function readPair(request: { token0: string; token1: string }, { tokens }: NetworkEntry, at: At): Promise<Pair> {
  const pair = await Promise.all([tokens.resolve(request.token0, 'token0', at), tokens.resolve(request.token1, 'token1', at)])
  if (pair[0].address === pair[1].address) throw badFields([{ field: 'token1', problem: 'is the same token as token0' }])
  return pair
}

/** Of a pool of these two. Where one is the native coin, the pool has its wrapped form: the other one tells. */
export const orderIn = ({ token0, token1 }: RangePool, pair: Pair): OrderedPair => ({
  pair,
  reversed: pair[0].native ? pair[1].address === token0 : pair[1].native ? pair[0].address === token1 : pair[0].address !== token0,
})

/** Between the caller's order and the pool's: the same either way. */
export const reorder = ({ reversed }: Pick<OrderedPair, 'reversed'>, { amount0Raw, amount1Raw }: RangeAmounts): RangeAmounts =>
  reversed ? { amount0Raw: amount1Raw, amount1Raw: amount0Raw } : { amount0Raw, amount1Raw }
