import { badFields, type At, type Quote, type Swap, type Token } from '../../contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import { feeDecimal } from './amounts.ts'
import { bestRoute } from './best-route.ts'
import { exactTransfers, type Suspect } from './exact-transfers.ts'
import type { Exchange } from './exchange.ts'
import { gasCostIn } from './gas.ts'
import { noPrice } from './no-price.ts'
import { poolLoader } from './pool-loader.ts'
import { hopsAlong } from './pools.ts'
import { spotAlong, type Route } from './route-amounts.ts'
import { candidatePaths } from './routes.ts'

/** Quotes by one batch of reserves at one block, and integer arithmetic. */
export function quoter(exchange: Exchange, reader: EvmReader): (swap: Swap, at: At) => Promise<Quote> {
  const { fee, router, version = 'v2' } = exchange
  const { intermediates, wrapped } = reader
  const between = intermediates.map(({ address }) => address)
  const trusted = new Set([wrapped.address, ...between])
  const loadPools = poolLoader(exchange, reader)
  const requireExact = exactTransfers(reader)
  const addressOf = (token: Token) => (token.native ? wrapped.address : token.address)

  /** The ends of a route that are not known to move exactly. */
  const suspectsOf = ({ tokenIn, tokenOut }: Swap, route: Route): readonly Suspect[] => {
    const [first, last] = [route.at(0), route.at(-1)]
    if (!first || !last) return []
    return [
      { token: tokenIn, pool: first.pool, reserveRaw: first.reserveInRaw },
      { token: tokenOut, pool: last.pool, reserveRaw: last.reserveOutRaw },
    ].filter(({ token }) => !trusted.has(addressOf(token)))
  }

  return async (swap, at) => {
    const { exact, amountRaw } = swap
    const [tokenIn, tokenOut] = [addressOf(swap.tokenIn), addressOf(swap.tokenOut)]
    if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])

    const paths = candidatePaths(tokenIn, tokenOut, between)
    const { head, poolBetween } = await loadPools(paths, at)
    const routes = paths.map((path) => hopsAlong(path, poolBetween)).filter((route) => route !== undefined)
    const gasCost = gasCostIn(exact === 'in' ? tokenOut : tokenIn, wrapped.address, poolBetween, reader.gasPriceRaw(head))
    const best = bestRoute(routes, swap, fee, gasCost)
    if (!best) throw noPrice(swap, routes, intermediates, fee)
    await requireExact(suspectsOf(swap, best.route), at)

    return {
      swap,
      amountRaw: best.amountRaw,
      spotAmountRaw: spotAlong(best.route, exact, amountRaw),
      gasUnits: best.gasUnits,
      route: best.route.map(({ pool, tokenIn, tokenOut }) => ({ pool, version, tokenIn, tokenOut, fee: feeDecimal(fee) })),
      head,
      spender: router,
    }
  }
}
