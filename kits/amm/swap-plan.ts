import type { Json, Need, Plan, Quote, SwapTerms, Hop } from '../../core/contracts/index.ts'
import type { GasProfile, Evm } from '../evm/types.ts'

/** How one router does a swap. */
interface RouterCall {
  router: string
  /** With the bound and the deadline in it, which the router enforces. */
  data: string
  memo: Json
  /** Beside those of the payment. */
  needs?: readonly Need[]
}

/** One call to a router that pays at most what the terms allow: as its value where it is the coin, else by an allowance. */
export function swapPlan(quote: Quote, { boundRaw, deadline }: SwapTerms, { router, data, memo, needs = [] }: RouterCall): Plan<Evm> {
  const { tokenIn, exact, amountRaw } = quote.swap
  const mostInRaw = exact === 'in' ? amountRaw : boundRaw
  const allowance: Need = { is: 'allowance', token: tokenIn.address, spender: router, amountRaw: mostInRaw }
  return {
    steps: [{ to: router, data, value: (tokenIn.native ? mostInRaw : 0n).toString(), alike: alikeOf(quote) }],
    needs: [{ is: 'balance', token: tokenIn.address, amountRaw: mostInRaw }, ...(tokenIn.native ? [] : [allowance]), ...needs],
    deadline,
    memo,
  }
}

/** Swaps of one shape through pools of the same versions use as much gas, but for what the pools say themselves. */
function alikeOf({ swap: { tokenIn, tokenOut, exact }, route, parts = [], gasUnits, firstWriteUnits = 0n }: Quote): GasProfile {
  const coins = [tokenIn, tokenOut].map(({ native }) => (native ? 'coin' : 'token'))
  const ways = parts.length > 0 ? parts.map(({ hops }) => hops) : [route.length]
  return {
    kind: [exact, ...coins, ...route.map(({ version }) => version), ...ways].join(' '),
    units: gasUnits.toString(),
    firstWriteUnits: firstWriteUnits.toString(),
    through: route.map((hop) => `${hop.pool} ${hop.tokenIn} ${hop.tokenOut}`),
  }
}

/** One way of a swap, in order, with what goes in and comes out of it. */
export interface RoutePart {
  readonly route: readonly Hop[]
  /** Of the exact amount. */
  readonly exactRaw: bigint
  /** Of the other side. */
  readonly otherRaw: bigint
}

/** The ways that a quote goes: one, where it has no `parts`. */
export function partsOf({ swap, amountRaw, route, parts }: Pick<Quote, 'swap' | 'amountRaw' | 'route' | 'parts'>): readonly RoutePart[] {
  if (!parts) return [{ route, exactRaw: swap.amountRaw, otherRaw: amountRaw }]
  let from = 0
  return parts.map(({ hops, exactRaw, otherRaw }) => ({ route: route.slice(from, (from += hops)), exactRaw, otherRaw }))
}

/**
 * A swap's bound, divided among its parts by what each was quoted: together they are the bound, to the unit, so that what it says is what
 * the chain holds to. As long as the quote keeps within the bound, each part of it keeps within its own: what rounding left goes where
 * there is room for it.
 */
export function boundsOf(parts: readonly Pick<RoutePart, 'otherRaw'>[], boundRaw: bigint): readonly bigint[] {
  const quotedRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const bounds = parts.map(({ otherRaw }) => (otherRaw * boundRaw) / quotedRaw)
  let leftRaw = boundRaw - bounds.reduce((sum, each) => sum + each, 0n)
  return parts.map(({ otherRaw }, index) => {
    const ownRaw = bounds[index] ?? 0n
    const roomRaw = otherRaw > ownRaw ? otherRaw - ownRaw : 0n
    const moreRaw = index === parts.length - 1 || leftRaw < roomRaw ? leftRaw : roomRaw
    leftRaw -= moreRaw
    return ownRaw + moreRaw
  })
}

/** The tokens that a route passes, in order: one more than it has hops. */
export const tokensAlong = (route: readonly Pick<Hop, 'tokenIn' | 'tokenOut'>[]): readonly string[] => [
  ...route.slice(0, 1).map(({ tokenIn }) => tokenIn),
  ...route.map(({ tokenOut }) => tokenOut),
]
