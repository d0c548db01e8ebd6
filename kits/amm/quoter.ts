import type { At, Quote, Swap } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import { poolToken, price } from './price.ts'
import type { exactTransfers } from './fee-on-transfer.ts'
import { suspectsOf } from '../../core/kits/pools/exact-transfers/suspects.ts'
import type { PoolExchange } from '../../core/kits/pools/pool-exchange.ts'
import { pairsOf } from '../../core/kits/pools/reading/pairs-of.ts'
import { poolLoader } from '../../core/kits/pools/reading/pool-loader.ts'
import { rememberWanted } from '../../core/kits/pools/reading/remember-wanted.ts'
import type { RouterChecks } from '../../core/kits/pools/reading/router-checks.ts'
import { requireTwo } from '../../core/kits/pools/require-two.ts'
import { waysOf } from '../../core/kits/pools/routing/ways.ts'

// The first, and some more where pools turn out to be wanting. What is unknown after that counts as unable.
const mostReads = 4

export interface QuoterParts {
  readonly exchange: PoolExchange
  readonly reader: EvmReader
  readonly checks: RouterChecks
  readonly requireExact: ReturnType<typeof exactTransfers>
  /** Tokens that are known to move exactly. */
  readonly trusted: ReadonlySet<string>
}

/** Quotes by one batch of pools at one block, and integer arithmetic. */
export function quoter({ exchange, reader, checks, requireExact, trusted }: QuoterParts) {
  const { intermediates, wrapped } = reader
  const between = intermediates.map(({ address }) => address)
  const load = poolLoader(reader, checks)
  const wantedLately = rememberWanted()

  return async (swap: Swap, version: string | undefined, at: At): Promise<Quote> => {
    const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
    requireTwo(tokenIn, tokenOut)
    const ways = waysOf(exchange, swap.exact, version)
    const pairs = pairsOf(tokenIn, tokenOut, between)
    let wanted = wantedLately.of(tokenIn, tokenOut)
    for (let reads = 1; ; reads += 1) {
      const { head, lanes } = await load(ways, pairs, wanted, at)
      const board = { head, lanes, ways, version, wrapped, intermediates, gasPriceRaw: reader.gasPriceRaw(head) }
      const priced = price(board, swap, mostReads - reads)
      if ('wanted' in priced) {
        wanted = [...wanted, ...priced.wanted]
        continue
      }
      // Only what was good for something: whoever asks for more than there is makes nobody else's quotes any slower.
      if (reads > 1) wantedLately.put(tokenIn, tokenOut, wanted)
      await requireExact(suspectsOf(swap, priced.lanes, lanes, trusted), at)
      return priced.quote
    }
  }
}
