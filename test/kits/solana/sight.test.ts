import { expect } from 'chai'
import { createElapsed, isExpired, observe, type NodeView } from '../../../kits/solana/expiry.ts'
import type { BlockhashSequence, DurableNonceSequence } from '../../../kits/solana/sequence.ts'

/** Signed at slot 1000, height 900. */
const sequence: BlockhashSequence = { number: 0, blockhash: 'b', lastValidBlockHeight: 1050, since: 1000 }
const durable: DurableNonceSequence = { number: 0, nonceAccount: 'a', nonce: 'v', since: 1000 }
const view = (over: Partial<NodeView> = {}): NodeView => ({
  final: { slot: 1200, height: 1051 },
  searched: 1232,
  elapsedMs: () => 80_000,
  minSlotMs: 300,
  nonces: new Map([['a', 'w']]),
  noncesAt: 1200,
  ...over,
})

describe('observing whether a transaction on Solana is expired', () => {
  it('reports expiry only past the last valid height', () => {
    expect(isExpired(sequence, view())).to.equal(true)
    expect(isExpired(sequence, view({ final: { slot: 1200, height: 1050 } }))).to.equal(false)
  })

  it('does not count skipped slots', () => {
    expect(isExpired(sequence, view({ final: { slot: 1400, height: 1049 }, searched: 1432, elapsedMs: () => 200_000 }))).to.equal(false)
  })

  it('needs a search that is not older than the finalized state', () => {
    expect(isExpired(sequence, view({ searched: 1199 }))).to.equal(false)
    expect(isExpired(sequence, view({ searched: 1200 }))).to.equal(true)
  })

  it('rejects more blocks than slots', () => {
    expect(isExpired(sequence, view({ final: { slot: 1150, height: 1051 }, searched: 1182 }))).to.equal(false)
  })

  it('rejects more slots than the elapsed time allows, up to ten minutes', () => {
    expect(isExpired(sequence, view({ elapsedMs: () => 59_000 }))).to.equal(false)
    expect(isExpired(sequence, view({ elapsedMs: () => 60_000 }))).to.equal(true)
    const far = { final: { slot: 9_000, height: 8_000 }, searched: 9_032 }
    expect(isExpired(sequence, view({ ...far, elapsedMs: () => 590_000 }))).to.equal(false)
    expect(isExpired(sequence, view({ ...far, elapsedMs: () => 601_000 }))).to.equal(true)
  })

  it('counts the time since it was signed, or for which it was seen where the clock it was signed by is ahead of ours', () => {
    const clock = { steadyMs: 5_000, nowMs: 1_000_000 }
    const elapsedMs = createElapsed(
      () => clock.steadyMs,
      () => clock.nowMs,
    )
    const [fresh, ofAhead] = [
      { ...sequence, number: 990_000 },
      { ...sequence, number: 1_000_000 + 26 * 3_600_000 },
    ]
    expect([elapsedMs(fresh), elapsedMs(ofAhead)]).to.deep.equal([10_000, 0])
    clock.steadyMs += 70_000
    clock.nowMs += 70_000
    expect([elapsedMs(fresh), elapsedMs(ofAhead)]).to.deep.equal([80_000, 70_000])
    expect(isExpired(ofAhead, view({ elapsedMs }))).to.equal(true)
  })

  it('reports expiry of a durable nonce by another value at a finalized slot that is not older', () => {
    expect(isExpired(durable, view())).to.equal(true)
    expect(isExpired(durable, view({ noncesAt: 999 }))).to.equal(false)
    expect(isExpired(durable, view({ nonces: new Map([['a', 'v']]) }))).to.equal(false)
    expect(isExpired(durable, view({ nonces: new Map([['a', undefined]]) }))).to.equal(true)
    expect(isExpired(durable, view({ nonces: new Map() }))).to.equal(false)
    expect(isExpired(durable, view({ searched: 1199 }))).to.equal(false)
  })

  it('reports a transaction in a block as landed, and final only with the finalized slot of the same answer', () => {
    const in1100 = { slot: 1100, err: null }
    expect(observe({ sequence }, { is: 'finalized', ...in1100 }, view())).to.include({ is: 'landed', depth: 32 })
    expect(observe({ sequence }, { is: 'finalized', ...in1100 }, view({ final: { slot: 1099, height: 990 } }))).to.include({ depth: 1 })
    expect(observe({ sequence }, { is: 'confirmed', confirmations: 40, ...in1100 }, view())).to.include({ depth: 31 })
    expect(observe({ sequence }, { is: 'processed', ...in1100 }, view())).to.deep.equal({ is: 'near' })
  })
})
