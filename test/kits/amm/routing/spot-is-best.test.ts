import * as fc from 'fast-check'
import type { Passage, Pool, PoolProtocol } from '../../../../kits/amm/index.ts'
import { rateX128Of } from '../../../../kits/amm/routing/graph.ts'
import { v2Protocol } from '../../../../kits/amm/v2/pools.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../../kits/amm/v3/pools.ts'

const address = '0x00000000000000000000000000000000000000AA'
const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const origin = { factory: address, initCodeHash: `0x${'00'.repeat(32)}` }

const asked = {
  zeroForOne: fc.boolean(),
  exact: fc.constantFrom('in' as const, 'out' as const),
  // As often a few units as very many.
  amountRaw: fc.nat(90).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits))),
}

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
    const reserveRaw = fc.nat(111).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits)))
    fc.assert(
      fc.property(fc.record(asked), reserveRaw, reserveRaw, fc.bigInt(0n, 100n), (question, reserve0Raw, reserve1Raw, kept) =>
        keepsTo(v2Protocol('v2', [kept, 10_000n], origin), { address, tokens, state: { reserve0Raw, reserve1Raw } }, question),
      ),
      { numRuns: 20_000 },
    )
  })

  it('in a pool of concentrated liquidity, however much lies beyond the price', () => {
    const protocol = v3Protocol({ version: 'v3', fees: [100, 500, 2500, 3000, 10_000], ...origin })
    const spacing = 60
    const liquidity = fc.nat(80).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits)))
    const aPool = fc
      .record({
        fee: fc.constantFrom(100, 500, 2500, 3000, 10_000),
        middle: fc.integer({ min: -3_000, max: 3_000 }),
        held: fc.oneof(fc.constant(0n), liquidity),
        // On one side or the other of the price; each a position of its own.
        beyond: fc.array(fc.record({ from: fc.integer({ min: 1, max: 40 }), width: fc.integer({ min: 1, max: 20 }), liquidity }), {
          maxLength: 6,
        }),
        below: fc.boolean(),
      })
      .map(({ fee, middle, held, beyond, below }): Pool<V3PoolState> => {
        const net = new Map<number, bigint>()
        const put = (lower: number, upper: number, amount: bigint) => {
          net.set(lower * spacing, (net.get(lower * spacing) ?? 0n) + amount)
          net.set(upper * spacing, (net.get(upper * spacing) ?? 0n) - amount)
        }
        put(middle - 80, middle + 80, held)
        for (const { from, width, liquidity: amount } of beyond) {
          if (below) put(middle - from - width, middle - from, amount)
          else put(middle + from, middle + from + width, amount)
        }
        const ticks = [...net.keys()].toSorted((a, b) => a - b)
        const netOf = (index: number) => net.get(ticks[index] ?? 0) ?? 0n
        const known = new TickTable((middle - 100) * spacing, (middle + 100) * spacing, ticks, { gross: () => 1n, net: netOf })
        const tick = middle * spacing + 7
        return {
          address,
          tokens,
          state: { sqrtPriceX96: getSqrtRatioAtTick(tick) + 5n, tick, liquidity: held, fee, tickSpacing: spacing, ticks: known },
        }
      })
    fc.assert(
      fc.property(fc.record(asked), aPool, (question, pool) => keepsTo(protocol, pool, question)),
      { numRuns: 5_000 },
    )
  })
})
