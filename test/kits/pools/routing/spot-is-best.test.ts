import * as fc from 'fast-check'
import type { Passage, Pool, PoolProtocol } from '../../../../kits/amm/index.ts'
import { rateX128Of } from '../../../../kits/pools/routing/graph.ts'
import { address, aPool, asked, pairsOf, ranges, reserveRaw, tokens } from './any-pool.ts'
import { weightedProtocol } from '../../../../kits/amm/weighted/pools.ts'

/** Neither more out for what goes in than that price, nor less in for what comes out. */
function keepsTo<State>(
  protocol: PoolProtocol<State>,
  pool: Pool<State>,
  { zeroForOne, exact, amountRaw }: { zeroForOne: boolean; exact: 'in' | 'out'; amountRaw: bigint },
): boolean {
  const [tokenIn, tokenOut] = zeroForOne ? tokens : [tokens[1], tokens[0]]
  const passage: Passage = { tokenIn, tokenOut }
  const passed = protocol.pass(pool, passage, exact, amountRaw)
  fc.pre(passed !== undefined && !('missing' in passed))
  if (!passed || 'missing' in passed) return false
  const [inRaw, outRaw] = exact === 'in' ? [amountRaw, passed.amountRaw] : [passed.amountRaw, amountRaw]
  return protocol.spotIsBest === true && outRaw << 128n <= inRaw * rateX128Of(protocol, pool, passage)
}

describe('the marginal price of a pool is a bound for every amount', () => {
  it('in a pool of constant product', () => {
    fc.assert(
      fc.property(fc.record(asked), reserveRaw, reserveRaw, fc.bigInt(0n, 100n), (question, reserve0Raw, reserve1Raw, kept) =>
        keepsTo(pairsOf(kept), { address, tokens, state: { reserve0Raw, reserve1Raw } }, question),
      ),
      { numRuns: 20_000 },
    )
  })

  it('in a weighted pool', () => {
    const balanceRaw = fc.nat(111).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits)))
    const weight = fc.bigInt(10n ** 16n, 98n * 10n ** 16n)
    // Powers of 1, 2 and 4 are computed apart.
    const weights = fc.oneof(fc.tuple(weight, weight), fc.constantFrom<[bigint, bigint]>([5n, 5n], [8n, 2n], [2n, 8n], [2n, 4n]))
    const pause = { paused: false, bufferEnds: 0n }
    const aWeighted = fc
      .record({
        balances: fc.tuple(balanceRaw, balanceRaw),
        weights,
        decimals: fc.tuple(fc.nat(18), fc.nat(18)),
        swapFee: fc.bigInt(10n ** 12n, 10n ** 17n),
        squares: fc.boolean(),
      })
      .map(({ balances, weights: [one, other], decimals, swapFee, squares }) => {
        const holdings = [one, other].map((each, index) => ({
          balanceRaw: balances[index] ?? 1n,
          weight: each < 10n ? each * 10n ** 17n : each,
          scale: 10n ** BigInt(decimals[index] ?? 0),
        }))
        return { address, tokens, state: { holdings, swapFee, squares, ofPool: pause, ofVault: pause } }
      })
    fc.assert(
      fc.property(fc.record(asked), aWeighted, (question, pool) => keepsTo(weightedProtocol('weighted', address, []), pool, question)),
      { numRuns: 20_000 },
    )
  })

  it('in a pool of concentrated liquidity, however much lies beyond the price', () => {
    fc.assert(
      fc.property(fc.record(asked), aPool, (question, pool) => keepsTo(ranges, pool, question)),
      { numRuns: 5_000 },
    )
  })
})
