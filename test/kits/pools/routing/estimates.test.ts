import { expect } from 'chai'
import * as fc from 'fast-check'
import { algebraProtocol } from '../../../../kits/amm/algebra/pools.ts'
import { withFee } from '../../../../kits/amm/algebra/block-fees.ts'
import type { Pool, PoolProtocol } from '../../../../kits/amm/index.ts'
import { maxEstimateError, maxSteepness } from '../../../../kits/pools/protocol.ts'
import { address, aPool, asked, pairsOf, ranges, reserveRaw, tokens } from './any-pool.ts'

const deployment = { factory: address, poolDeployer: address, initCodeHash: `0x${'00'.repeat(32)}` }
const listed = algebraProtocol({ version: 'integral', kind: 'integral', deployment })
/** The plugin sets the fee before each swap. */
const setsFee = 1

interface Question {
  readonly zeroForOne: boolean
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

/** Whether the estimate, if there is one, is as close as it says, and no steeper than it may be. */
function isClose<State>(
  protocol: PoolProtocol<State>,
  pool: Pool<State>,
  { zeroForOne, exact, amountRaw }: Question,
  seen: { count: number },
) {
  const [tokenIn, tokenOut] = zeroForOne ? tokens : [tokens[1], tokens[0]]
  const estimate = protocol.estimate?.(pool, { tokenIn, tokenOut }, exact, Number(amountRaw))
  if (!estimate) return true
  const passed = protocol.pass(pool, { tokenIn, tokenOut }, exact, amountRaw)
  if (!passed || 'missing' in passed) return false
  seen.count += 1
  const off = Math.abs(estimate.amount - Number(passed.amountRaw))
  const more = protocol.pass(pool, { tokenIn, tokenOut }, exact, amountRaw + amountRaw / 1_000_000n)
  const moreRaw = more && !('missing' in more) ? more.amountRaw - passed.amountRaw : 0n
  const isSteep = Number(moreRaw) > maxSteepness * 1.01e-6 * estimate.amount + 4
  return (
    estimate.error < maxEstimateError &&
    off <= estimate.error * estimate.amount &&
    BigInt(estimate.gasUnits) === passed.gasUnits &&
    !isSteep
  )
}

describe('what a pool gives by an estimate', () => {
  it('is as close to the exact amount as it says, in a pool of constant product', () => {
    const seen = { count: 0 }
    fc.assert(
      fc.property(fc.record(asked), reserveRaw, reserveRaw, fc.bigInt(0n, 100n), (question, reserve0Raw, reserve1Raw, kept) =>
        isClose(pairsOf(kept), { address, tokens, state: { reserve0Raw, reserve1Raw } }, question, seen),
      ),
      { numRuns: 20_000 },
    )
    expect(seen.count).to.be.above(1_000)
  })

  it('is as close to the exact amount as it says, in a pool of concentrated liquidity', () => {
    const seen = { count: 0 }
    fc.assert(
      fc.property(fc.record(asked), aPool, (question, pool) => isClose(ranges, pool, question, seen)),
      { numRuns: 10_000 },
    )
    expect(seen.count).to.be.above(500)
  })

  it('is as close to the exact amount as it says, in a pool of Algebra by the fee of its block', () => {
    const seen = { count: 0 }
    const anyFee = fc.oneof(fc.nat(65_535), fc.integer({ min: 900_000, max: 1_000_000 }))
    fc.assert(
      fc.property(fc.record(asked), aPool, anyFee, fc.boolean(), (question, { state }, fee, hasTickList) => {
        const range = { ...state, hasTickList }
        const priced = { zeroForOne: withFee(range, fee), oneForZero: withFee(range, fee) }
        return isClose(listed, { address, tokens, state: { range, pluginConfig: setsFee, hasBlockFees: true, priced } }, question, seen)
      }),
      { numRuns: 10_000 },
    )
    expect(seen.count).to.be.above(500)
  })

  it('is none in a pool of Algebra whose fee is not known, or differs by the amount', () => {
    const [pool] = fc.sample(aPool, 1)
    if (!pool) throw new Error('There is one.')
    const state = { range: pool.state, pluginConfig: setsFee }
    for (const each of [
      { ...state, hasBlockFees: true },
      { ...state, hasBlockFees: false },
    ])
      expect(listed.estimate?.({ address, tokens, state: each }, { tokenIn: tokens[0], tokenOut: tokens[1] }, 'in', 1e6)).to.equal(
        undefined,
      )
  })
})
