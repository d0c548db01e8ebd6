import type { PoolExchange } from '../pool-exchange.ts'
import type { PoolProtocol } from '../../../../kits/amm/protocol.ts'
import type { Router } from '../router.ts'

/** In what an exchange's routes can differ: pools of which versions, and who carries them. */
export interface Ways {
  /** Each alone, and together what one router carries together. */
  readonly mixes: readonly ReadonlySet<string>[]
  /** Those that have a pool on any of these routes. */
  readonly protocols: readonly PoolProtocol[]
  readonly routers: readonly Router[]
  /** The router that takes such a route. */
  carrier(versions: readonly string[]): Router | undefined
}

/** @param version restricts routes to that one */
export function waysOf({ protocols, routers }: PoolExchange, exact: 'in' | 'out', version: string | undefined): Ways {
  const versions = [...new Set(protocols.map((protocol) => protocol.version))].filter((each) => version === undefined || each === version)
  const carrier = (route: readonly string[]) => routers.find((router) => router.carries(route, exact))
  const alone = versions.filter((each) => carrier([each])).map((each) => new Set([each]))
  const mixes = [...alone, ...together(versions, routers, exact)]
  return {
    mixes,
    protocols: protocols.filter((protocol) => mixes.some((mix) => mix.has(protocol.version))),
    routers: routers.filter((router) => versions.some((each) => router.carries([each], exact))),
    carrier,
  }
}

function together(versions: readonly string[], routers: readonly Router[], exact: 'in' | 'out'): readonly ReadonlySet<string>[] {
  const found = new Map<string, ReadonlySet<string>>()
  for (const router of routers) {
    const mixed = versions.filter((one) =>
      versions.some((other) => other !== one && (router.carries([one, other], exact) || router.carries([other, one], exact))),
    )
    if (mixed.length > 1) found.set(mixed.join(), new Set(mixed))
  }
  return [...found.values()]
}
