import type { Fee } from './amounts.ts'
import { gasUnitsOf } from './gas.ts'
import { amountAlong, type Route } from './route-amounts.ts'

export interface PricedRoute {
  readonly route: Route
  /** The other side of the swap. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
}

/**
 * The route that leaves the trader most after paying for gas, of those that give anything; the shorter of equals.
 * @param gasCost what that much gas costs, in the token of `amountRaw`
 */
export function bestRoute(
  routes: readonly Route[],
  { exact, amountRaw }: { exact: 'in' | 'out'; amountRaw: bigint },
  fee: Fee,
  gasCost: (gasUnits: bigint) => bigint,
): PricedRoute | undefined {
  let best: { priced: PricedRoute; gain: bigint } | undefined
  for (const route of routes) {
    const otherRaw = amountAlong(route, exact, amountRaw, fee)
    if (!otherRaw) continue
    const gasUnits = gasUnitsOf(route.length)
    const gain = (exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)
    if (!best || gain > best.gain) best = { priced: { route, amountRaw: otherRaw, gasUnits }, gain }
  }
  return best?.priced
}
