import { expect } from 'chai'
import { initialQuery, readLens } from '../../../../kits/amm/v3/lens.ts'
import { swap } from '../../../../kits/amm/v3/swap.ts'

const hex = (value: number | bigint, bytes: number) =>
  BigInt.asUintN(8 * bytes, BigInt(value))
    .toString(16)
    .padStart(2 * bytes, '0')

const pool = `0x${'11'.repeat(32)}`
/** The widest that Uniswap v4 takes: TickMath.MAX_TICK_SPACING of @uniswap/v4-core@1.0.2. */
const widest = 32_767

/** An answer of the lens about a pool at price 1 with one position over two ticks in both directions. */
function answerOf(tickSpacing: number): string {
  const liquidity = 10n ** 18n
  const tick = (at: number, net: bigint) => hex(at, 3) + hex(liquidity, 16) + hex(net, 16)
  const look = (end: number, ticks: string) => `01${hex(1, 2)}${hex(end, 3)}${ticks}`
  // Behind a word of the bitmap, as contracts/PoolLens.sol says it.
  const below = look(-257 * tickSpacing, tick(-2 * tickSpacing, liquidity))
  const above = look(256 * tickSpacing, tick(2 * tickSpacing, -liquidity))
  return `0x01${hex(2n ** 96n, 20)}${hex(0, 3)}${hex(liquidity, 16)}${hex(3000, 3)}${hex(tickSpacing, 3)}${hex(0, 3)}${below}${above}`
}

const keptBy = (tickSpacing: number) => ({ ...initialQuery(pool), keptBy: { address: `0x${'22'.repeat(20)}`, tickSpacing } })

describe('what the lens says of a pool with wide ticks', () => {
  for (const tickSpacing of [32_000, widest])
    it(`gives amounts in both directions at a tick spacing of ${tickSpacing}`, () => {
      const [state] = readLens({ ok: true, data: answerOf(tickSpacing) }, [keptBy(tickSpacing)])
      if (!state) throw new Error('The pool was not read.')
      for (const zeroForOne of [true, false])
        for (const exact of ['in', 'out'] as const) expect(swap(state, zeroForOne, exact, 10n ** 15n)).to.have.property('amountRaw')
    })
})
