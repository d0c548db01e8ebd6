import type { Engine } from '../engine.ts'
import { one } from '../amounts/units.ts'
import type { Token } from '../listing/tokens.ts'

/** What a token is worth in US dollars: the middle one of its prices, on the spot market and as a perpetual. */
export function borrowOraclePx({ listing, states }: Engine, token: Token): bigint {
  if (token.index === 0) return one
  const spot = listing.spot.find(({ base }) => base.index === token.index)
  const perp = listing.byCoin(token.name.replace(/^U(?=BTC$)/, ''))
  const prices = [spot && states.get(spot.coin)?.markPx]
  if (perp?.kind === 'perp') prices.push(states.get(perp.coin)?.markPx, states.get(perp.coin)?.oraclePx)
  const known = prices.filter((price) => price !== undefined).toSorted((a, b) => (a < b ? -1 : 1))
  return known[known.length >> 1] ?? 0n
}

/** In 10^-6 US dollars, rounded down. */
export const usdOf = (engine: Engine, token: Token, wei: bigint): bigint =>
  (wei * borrowOraclePx(engine, token) * 10n ** 6n) / 10n ** BigInt(8 + token.weiDecimals)
