import * as fc from 'fast-check'
import type { Pool } from '../../../../kits/amm/index.ts'
import { v2Protocol } from '../../../../kits/amm/v2/pools.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { v3Protocol } from '../../../../kits/amm/v3/pools.ts'
import { TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'

export const address = '0x00000000000000000000000000000000000000AA'
export const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const origin = { factory: address, initCodeHash: `0x${'00'.repeat(32)}` }

export const asked = {
  zeroForOne: fc.boolean(),
  exact: fc.constantFrom('in' as const, 'out' as const),
  // As often a few units as very many.
  amountRaw: fc.nat(90).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits))),
}

export const pairsOf = (kept: bigint) => v2Protocol('v2', [kept, 10_000n], origin)
export const reserveRaw = fc.nat(111).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits)))

export const ranges = v3Protocol({ version: 'v3', fees: [100, 500, 2500, 3000, 10_000], ...origin })
const spacing = 60
const liquidity = fc.nat(80).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits)))
/** Of concentrated liquidity, however much lies beyond the price. */
export const aPool = fc
  .record({
    fee: fc.constantFrom(100, 500, 2500, 3000, 10_000, 250_000, 990_000),
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
