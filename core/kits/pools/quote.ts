import { badFields, type At, type Quote, type Swap, type Token } from '../../contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import { exactTransfers } from './exact-transfers/exact-transfers.ts'
import { suspectsOf } from './exact-transfers/suspects.ts'
import { noPrice } from './no-price.ts'
import type { PoolExchange } from './pool-exchange.ts'
import { pairsOf } from './reading/pairs-of.ts'
import { poolLoader } from './reading/pool-loader.ts'
import { rememberWanted } from './reading/remember-wanted.ts'
import { bestRoute, spotAlong } from './routing/best-route.ts'
import { gasCostIn } from './routing/gas-cost.ts'
import { waysOf } from './routing/ways.ts'

// The first, and some more where pools turn out to be wanting. What is unknown after that counts as unable.
const mostReads = 4

/** Quotes by one batch of pools at one block, and integer arithmetic. */
export function quoter(exchange: PoolExchange, reader: EvmReader): (swap: Swap, version: string | undefined, at: At) => Promise<Quote> {
  const { intermediates, wrapped } = reader
  const between = intermediates.map(({ address }) => address)
  const trusted = new Set([wrapped.address, ...between])
  const load = poolLoader(reader)
  const wantedLately = rememberWanted()
  const requireExact = exactTransfers(reader)
  const addressOf = (token: Token) => (token.native ? wrapped.address : token.address)

  return async (swap, version, at) => {
    const { exact, amountRaw } = swap
    const [tokenIn, tokenOut] = [addressOf(swap.tokenIn), addressOf(swap.tokenOut)]
    if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])

    const ways = waysOf(exchange, exact, version)
    const pairs = pairsOf(tokenIn, tokenOut, between)
    const course = { tokenIn, tokenOut, between, exact, amountRaw }
    const answerToken = exact === 'in' ? tokenOut : tokenIn
    let wanted = wantedLately.of(tokenIn, tokenOut)
    for (let reads = 1; ; reads += 1) {
      const { head, lanes } = await load(ways, pairs, wanted, at)
      const gasCost = gasCostIn(answerToken, wrapped.address, lanes, reader.gasPriceRaw(head))
      const { best, tooLittle, ...found } = bestRoute(lanes, course, ways, gasCost)
      if (found.wanted.length > 0 && reads < mostReads) {
        wanted = [...wanted, ...found.wanted]
        continue
      }
      if (!best) throw noPrice({ swap, course, lanes, ways, tooLittle, intermediates, version })
      // Only what was good for something: whoever asks for more than there is makes nobody else's quotes any slower.
      if (reads > 1) wantedLately.put(tokenIn, tokenOut, wanted)
      await requireExact(suspectsOf(swap, best.lanes, lanes, trusted), at)

      return {
        swap,
        amountRaw: best.amountRaw,
        spotAmountRaw: spotAlong(best.lanes, exact, amountRaw),
        gasUnits: best.gasUnits,
        route: best.lanes.map(({ protocol, pool, passage }) => ({
          pool: pool.address,
          version: protocol.version,
          tokenIn: passage.tokenIn,
          tokenOut: passage.tokenOut,
          fee: protocol.fee(pool),
        })),
        head,
        spender: best.router.address,
      }
    }
  }
}
