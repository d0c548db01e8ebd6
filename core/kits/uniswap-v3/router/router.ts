import type { Router } from '../../pools/index.ts'
import type { Exchange } from '../exchange.ts'
import { readFill } from './fill.ts'
import type { Kind } from './legs.ts'
import { planSwap } from './plan.ts'
import { routerCheck } from './router-check.ts'

/** Takes routes through pools of concentrated liquidity, and mixed ones where an exact amount goes in. */
export function rangeRouter(exchange: Exchange, wrapped: string): Router {
  const { version, router, routerKind, mixedWith, listed } = exchange
  const check = routerCheck(exchange, wrapped)
  const kindOf = (hop: { readonly version: string }): Kind => (hop.version === version ? 'range' : 'constant-product')
  return {
    address: router,
    name: version,
    carries(versions, exact) {
      // Of constant-product pools alone: their own router takes those.
      if (!versions.includes(version)) return false
      const others = versions.filter((each) => each !== version)
      return others.length === 0 || (exact === 'in' && check.mixes() && others.every((each) => each === mixedWith?.version))
    },
    plan: (quote, terms) => planSwap(quote, terms, { router, routerKind, kindOf, listed }),
    fill: readFill,
    check: { calls: check.calls, verify: check.verify },
  }
}
