import { readBy, type PoolProtocol } from '../index.ts'
import { feeDecimal, getAmountIn, getAmountOut, mostReserveRaw, type Fee } from './math.ts'
import { loanOf } from '../../../core/kits/uniswap-v2/loan.ts'
import { pairMemory } from '../../../core/kits/uniswap-v2/pair-memory.ts'
import type { Deployment } from '../../../core/kits/uniswap-v2/pairs.ts'
import { reservesAlong, type Reserves } from '../../../core/kits/uniswap-v2/reserves.ts'

// Measured on the devnet with plain tokens: what another hop adds, through pools that have traded before.
const passUnits = 60_000n

/** Pools of two tokens whose product of reserves never shrinks, one for each two tokens. */
export function pairProtocol(version: string, fee: Fee, deployment: Deployment): PoolProtocol<Reserves> {
  const memory = pairMemory(deployment)
  const feeText = feeDecimal(fee)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      const otherRaw = (exact === 'in' ? getAmountOut : getAmountIn)(amountRaw, reserveInRaw, reserveOutRaw, fee)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot(pool, passage) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      return { numerator: reserveOutRaw, denominator: reserveInRaw }
    },
    fee: () => feeText,
    mostIn: (pool, passage) => mostReserveRaw - reservesAlong(pool, passage).reserveInRaw,
    spotIsBest: true,
    loan: loanOf,
  }
}
