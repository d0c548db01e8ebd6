import { chargeCalls, chargeRaw, chargesOf, typicalSwap } from '../../../../kits/evm/op-stack.ts'
import type { Charge } from '../../../../kits/evm/op-stack.ts'
import type { Call, CallResult } from '../../../../kits/evm/types.ts'

/** What a rollup charges for a typical swap on top of gas, as the last reading saw it. */
export interface RollupFees {
  /** They ride along with every reading. */
  readonly calls: readonly Call[]
  /** False where these are no answers to the calls. */
  saw(results: readonly CallResult[]): boolean
  /** Wei for a transaction of so much gas; undefined where that is not known, or is older than `ms`. */
  costRaw(gas: bigint, ms: number): bigint | undefined
}

export function createRollupFees(chainId: number): RollupFees {
  let last: { charge: Charge; atMs: number } | undefined
  return {
    calls: chargeCalls([typicalSwap], chainId),
    saw(results) {
      const [charge] = chargesOf(results) ?? []
      if (charge) last = { charge, atMs: performance.now() }
      return charge !== undefined
    },
    costRaw: (gas, ms) => (last && performance.now() - last.atMs <= ms ? chargeRaw(last.charge, gas) : undefined),
  }
}
