import type { Router } from '../index.ts'
import type { Exchange } from './exchange.ts'
import { readFill } from './fill.ts'
import type { Kind } from '../../../core/kits/uniswap-v3/router/legs.ts'
import { planSwap } from '../../../core/kits/uniswap-v3/router/plan.ts'
import { routerCheck } from '../../../core/kits/uniswap-v3/router/router-check.ts'

/** Takes routes through pools of concentrated liquidity, mixed ones where an exact amount goes in, and several of both at once. */
export function rangeRouter(exchange: Exchange, wrapped: string): Router {
  const { version, router, routerKind, mixedWith, listed } = exchange
  const check = routerCheck(exchange, wrapped)
  const kindOf = (hop: { readonly version: string }): Kind => (hop.version === version ? 'range' : 'constant-product')
  const passes = (versions: readonly string[], exact: 'in' | 'out') => {
    const others = versions.filter((each) => each !== version)
    return others.length === 0 || (exact === 'in' && check.mixes() && others.every((each) => each === mixedWith?.version))
  }
  return {
    address: router,
    name: version,
    // Of constant-product pools alone: their own router takes those.
    carries: (versions, exact) => versions.includes(version) && passes(versions, exact),
    // The coin would lie with the router while tokens move. Of two parts that begin with a constant-product pool the fill could not be told.
    splits: (parts, { tokenIn, tokenOut, exact }) =>
      !tokenIn.native &&
      !tokenOut.native &&
      parts.every((versions) => passes(versions, exact)) &&
      parts.filter(([first]) => first !== version).length <= 1,
    plan: (quote, terms) => planSwap(quote, terms, { router, routerKind, kindOf, listed }),
    fill: readFill,
    check: { calls: check.calls, verify: check.verify },
  }
}
