import type { EvmReader } from '../../evm/types.ts'
import type { Router } from '../index.ts'
import type { Exchange } from './exchange.ts'
import { readFill } from '../../../core/kits/uniswap-v2/fill.ts'
import { planSwap } from '../../../core/kits/uniswap-v2/plan.ts'
import { routerCheck } from '../../../core/kits/uniswap-v2/router-check.ts'

/** UniswapV2Router02, and those that forks made of it. */
export function pairRouter(exchange: Exchange, reader: EvmReader): Router {
  const { version, router, abi } = exchange
  return {
    address: router,
    name: version,
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, abi),
    fill: readFill,
    check: routerCheck(exchange, reader),
  }
}
