import { expect } from 'chai'
import { array, assert, constant, integer, nat, oneof, property, record } from 'fast-check'
import { createNonceQueue, type NonceQueue } from '../../../core/transactions/nonce-queue.ts'
import { pureRail as rail } from '../never.ts'

const fees = { gasLimit: '21000', maxFeePerGas: '100', maxPriorityFeePerGas: '10' }

function laneAt(latest: number, pending = latest): NonceQueue {
  const queue = createNonceQueue({ rail, address: '0x1', limit: 8, name: '0x1' })
  // Said twice: one word alone is not borne out yet.
  for (const _ of [1, 2]) queue.startSync()({ latest, pending })
  return queue
}

function take(queue: NonceQueue, more: { nonce?: number; count?: number } = {}): readonly unknown[] | string {
  const taken = queue.claim({
    requestId: 'r',
    count: 1,
    chosenByCaller: more.nonce !== undefined,
    fees: [fees],
    costsRaw: [1n],
    mayReplace: false,
    ...more,
  })
  return 'conflict' in taken ? taken.conflict.is : taken.sequences
}

const occupy = (queue: NonceQueue, nonce: number) =>
  queue.setPending(nonce, { key: `k${nonce}`, txHash: `0x${nonce}`, kind: 'trade', rank: 0, fees, costRaw: 1n })

describe('a nonce queue', () => {
  it('never assigns a nonce twice or skips one, in any order of claims, failures and updates', () => {
    const step = oneof(
      record({ do: constant('claim' as const), count: integer({ min: 1, max: 3 }) }),
      record({ do: constant('sign' as const), which: nat(20) }),
      record({ do: constant('fail' as const), which: nat(20) }),
      record({ do: constant('mine' as const) }),
      record({ do: constant('stale' as const), back: nat(5) }),
    )
    assert(
      property(array(step, { maxLength: 60 }), (steps) => {
        const queue = laneAt(0)
        const claimed = new Set<number>()
        const signed = new Set<number>()
        let latest = 0
        for (const each of steps) {
          if (each.do === 'claim') {
            const sequences = take(queue, { count: each.count })
            if (typeof sequences === 'string') {
              // Behind a gap that is too small for all of them the others would be ahead of it, or farther than a wallet may be.
              expect(sequences).to.be.oneOf(['ahead', 'far'])
              continue
            }
            for (let nonce = latest; nonce < Number(sequences[0]); nonce += 1)
              expect(claimed.has(nonce) || signed.has(nonce)).to.equal(true)
            for (const sequence of sequences) {
              const nonce = Number(sequence)
              expect(claimed.has(nonce) || signed.has(nonce) || nonce < latest, `nonce ${nonce} given twice`).to.equal(false)
              claimed.add(nonce)
            }
          } else if (each.do === 'sign' || each.do === 'fail') {
            const nonce = [...claimed][each.which % Math.max(1, claimed.size)]
            if (nonce === undefined) continue
            claimed.delete(nonce)
            if (each.do === 'fail') queue.release([nonce])
            else {
              signed.add(nonce)
              occupy(queue, nonce)
            }
          } else if (each.do === 'mine') {
            while (signed.has(latest)) {
              queue.markFinal(latest)
              latest += 1
            }
            queue.startSync()({ latest, pending: latest })
          } else {
            const old = Math.max(0, latest - each.back)
            queue.startSync()({ latest: old, pending: old })
          }
        }
        // The next claim takes the lowest that nobody has.
        const [next] = take(queue)
        const lowest = Array.from({ length: 500 }, (_, index) => index).find(
          (nonce) => nonce >= latest && !claimed.has(nonce) && !signed.has(nonce),
        )
        expect(next).to.equal(lowest)
      }),
      { numRuns: 300 },
    )
  })

  it('trusts the answer to the newest question, whichever arrives first', () => {
    const queue = laneAt(5)
    const older = [queue.startSync(), queue.startSync()]
    for (const _ of older) queue.startSync()({ latest: 5, pending: 6 })
    for (const answer of older) answer({ latest: 5, pending: 5 })
    expect(take(queue)).to.deep.equal([6])
    queue.release([6])
    for (const _ of older) queue.startSync()({ latest: 5, pending: 5 })
    expect(take(queue)).to.deep.equal([5])
  })

  it('does not trust a lagging node about mined nonces', () => {
    const queue = laneAt(9)
    queue.startSync()({ latest: 4, pending: 4 })
    expect(take(queue)).to.deep.equal([9])
    expect(take(queue, { nonce: 8 })).to.equal('past')
  })

  it('never assigns a nonce that is final in our journal, however often a node reports it free', () => {
    const queue = laneAt(5)
    take(queue)
    occupy(queue, 5)
    queue.markFinal(5)
    for (const _ of [1, 2, 3]) queue.startSync()({ latest: 3, pending: 3 })
    expect(take(queue, { nonce: 5 })).to.equal('past')
    expect(take(queue, { count: 2 })).to.deep.equal([6, 7])
  })

  it('gives nonces that the chain has gone back behind to fills and callers, and assigns none of them', () => {
    const queue = laneAt(5)
    for (const nonce of [5, 6, 7]) occupy(queue, nonce)
    for (const nonce of [5, 6, 7]) queue.markFinal(nonce)
    const back = { latest: 5, pending: 5 }
    for (const _ of [1, 2]) queue.startSync()(back)
    expect(queue.undone(back)).to.deep.equal({ first: 5, last: 7 })
    expect(queue.undone({ latest: 8, pending: 8 })).to.equal(undefined)
    expect(queue.undone({ latest: 5, pending: 8 }), 'nodes have them').to.equal(undefined)
    expect(take(queue)).to.deep.equal([8])
    occupy(queue, 8)
    expect([queue.gaps(back), queue.gaps(back), take(queue, { nonce: 6 })]).to.deep.equal([[], [], 'past'])

    queue.reopen(5)
    expect([queue.gaps(back), queue.gaps(back)]).to.deep.equal([[], [5, 6, 7]])
    expect(take(queue, { nonce: 4 })).to.equal('past')
    expect([take(queue, { nonce: 5 }), take(queue)]).to.deep.equal([[5], [9]])
    occupy(queue, 5)
    queue.markFinal(5)
    expect(queue.gaps(back), 'a node that lags').to.deep.equal([6, 7])
    expect(take(queue, { nonce: 5 })).to.equal('past')
    // The chain has them again.
    queue.gaps({ latest: 8, pending: 8 })
    for (const _ of [1, 2]) expect(queue.gaps(back)).to.deep.equal([])
    expect(take(queue, { nonce: 6 })).to.equal('past')
  })

  it('has far more nonces filled that the chain has gone back behind than a gap has otherwise', () => {
    const queue = laneAt(0)
    queue.markFinal(999)
    const back = { latest: 0, pending: 0 }
    for (const _ of [1, 2]) queue.startSync()(back)
    expect(take(queue)).to.deep.equal([1000])
    occupy(queue, 1000)
    queue.reopen(0)
    queue.gaps(back)
    expect(queue.gaps(back)[0]).to.equal(0)
  })

  it('agrees with a cached answer that says the same and is not behind a final transaction', () => {
    const word = (latest: number, pending = latest) => ({ latest, pending })
    const fresh = createNonceQueue({ rail, address: '0x1', limit: 8, name: '0x1' })
    expect(fresh.agreesWith(word(5))).to.equal(false)
    fresh.startSync()(word(5))
    expect(fresh.agreesWith(word(5)), 'one word alone').to.equal(false)
    const queue = laneAt(5)
    occupy(queue, 5)
    for (const known of [word(4), word(5), word(5, 6), word(6)]) expect(queue.agreesWith(known)).to.equal(true)
    expect(queue.agreesWith(word(7)), 'somebody else has used 6').to.equal(false)
    expect(queue.agreesWith(word(5, 7)), 'somebody else waits on 6').to.equal(false)
    queue.startSync()(word(6))
    queue.markFinal(5)
    expect(queue.agreesWith(word(5)), 'from before what is final').to.equal(false)
    expect(queue.agreesWith(word(6))).to.equal(true)
    // It was asked, not told.
    for (let tries = 0; tries < 3; tries += 1) queue.agreesWith(word(9))
    expect(take(queue)).to.deep.equal([6])
  })

  it('names the request that is signing with a nonce, or with the lowest one', () => {
    const queue = laneAt(5)
    expect(queue.signingOn()).to.equal(undefined)
    take(queue)
    take(queue)
    occupy(queue, 5)
    expect(queue.signingOn()).to.deep.equal({ nonce: 6, requestId: 'r' })
    expect(queue.signingOn(5)).to.equal(undefined)
  })

  it('assigns consecutive nonces to steps, and none above a free one', () => {
    const queue = laneAt(5)
    expect(take(queue, { count: 3 })).to.deep.equal([5, 6, 7])
    for (const nonce of [5, 6, 7]) occupy(queue, nonce)
    expect(take(queue, { count: 2 })).to.deep.equal([8, 9])
    occupy(queue, 9)
    expect(queue.release([8])).to.deep.equal([8])
    expect([take(queue, { count: 2 }), take(queue, { nonce: 10 }), take(queue, { nonce: 10, count: 2 })]).to.deep.equal([
      'ahead',
      'ahead',
      'ahead',
    ])
    expect(queue.isAhead(10)).to.deep.equal({ is: 'ahead', nonce: 10, next: 8 })
    expect([queue.isAhead(8), queue.isAhead(9)], 'a gap, and what is pending').to.deep.equal([undefined, undefined])
    expect(take(queue, { nonce: 17 }), 'more than it may wait for').to.equal('far')
    expect([take(queue, { nonce: 8 }), take(queue, { nonce: 10 })]).to.deep.equal([[8], [10]])
  })

  it('takes a gap and what is pending behind it for one plan', () => {
    const queue = laneAt(5)
    take(queue, { count: 2 })
    occupy(queue, 6)
    queue.release([5])
    const over = { ...fees, maxFeePerGas: '120', maxPriorityFeePerGas: '12' }
    const asked = {
      requestId: 'r',
      count: 3,
      nonce: 5,
      chosenByCaller: true,
      fees: [over, over, over],
      costsRaw: [1n, 1n, 1n],
      mayReplace: true,
    }
    expect(queue.claim(asked)).to.deep.include({ sequences: [5, 6, 7] })
  })

  it('reports its own gaps at once, others after two updates, and none below what an earlier version signed ahead', () => {
    const queue = laneAt(5)
    for (const nonce of [5, 6, 7]) {
      take(queue)
      if (nonce !== 6) occupy(queue, nonce)
    }
    expect(queue.release([6])).to.deep.equal([6])
    expect(queue.gaps({ latest: 5, pending: 6 })).to.deep.equal([6])

    const foreign = laneAt(5, 6)
    take(foreign)
    occupy(foreign, 6)
    const dropped = { latest: 5, pending: 5 }
    expect(foreign.gaps(dropped)).to.deep.equal([])
    expect(foreign.gaps(dropped)).to.deep.equal([5])

    const given = laneAt(5)
    for (const nonce of [5, 6]) take(given, { nonce })
    occupy(given, 6)
    const waiting = { latest: 5, pending: 5 }
    expect([given.release([5]), given.gaps(waiting), given.gaps(waiting)], 'its caller may send it again').to.deep.equal([[], [], [5]])

    const held = laneAt(5)
    held.setPending(7, { key: 'k7', txHash: '0x7', kind: 'trade', rank: 0, fees, costRaw: 1n, mayBeHeldBack: true }, true)
    expect([held.gaps(waiting), held.gaps(waiting)]).to.deep.equal([[], []])
    expect([take(held), take(held), take(held, { nonce: 8 })]).to.deep.equal([[5], [6], [8]])
  })
})
