import { expect } from 'chai'
import { checkHistory } from '../checker/check-history.ts'
import { answered, close, closing, entry, history, lost, mined, refused, signed, trade, wallet } from './made-history.ts'

const found = (of: Parameters<typeof history>[0]) => checkHistory(history(of)).map(({ invariant, what }) => `${invariant} ${what}`)

const first = signed(0, 1n)
const second = signed(1, 2n)

describe('the checker of what chaos leaves behind', () => {
  it('finds nothing where every request has its one outcome', () => {
    const bumped = signed(1, 2n, 2n)
    const cancel = signed(2, 0n)
    const cancelled = signed(2, 3n)
    const violations = found({
      requests: [trade(1), trade(2, 'key'), trade(3), trade(4), trade(5)],
      calls: [
        answered(1, first),
        lost(2),
        answered(2, second, [3, 4]),
        answered(2, second, [5, 6]),
        answered(3, cancelled),
        refused(4, 'TRADE_FAILED'),
        lost(5),
      ],
      journal: [
        entry('CONFIRMED', [first]),
        entry('CONFIRMED', [second, bumped], { idempotencyKey: 'key' }),
        entry('CANCELLED', [cancelled], { replacedBy: cancel.txHash }),
        entry('CONFIRMED', [cancel], { kind: 'cancel', rank: 1 }),
        entry('EXPIRED', []),
      ],
      mined: [mined(first), mined(bumped), mined(cancel)],
      samples: [
        { at: 1, via: 'poll', txHash: first.txHash, txStatus: 0, txState: 'SIGNED' },
        { at: 9, via: 'poll', txHash: second.txHash, txStatus: 1, txState: 'CONFIRMED' },
        { at: 9, via: 'poll', txHash: cancelled.txHash, txStatus: -1, txState: 'CANCELLED' },
      ],
    })
    expect(violations).to.deep.equal([])
  })

  describe('I1: one effect, or a definite failure with none', () => {
    it('finds a request that was mined twice', () => {
      const again = signed(1, 1n)
      const violations = found({
        requests: [trade(1)],
        calls: [answered(1, first)],
        journal: [entry('CONFIRMED', [first]), entry('CONFIRMED', [again])],
        mined: [mined(first), mined(again)],
      })
      expect(violations).to.deep.equal(['I1 one request was mined more than once'])
    })

    it('finds an effect that the journal knows nothing of', () => {
      expect(found({ requests: [trade(1)], calls: [lost(1)], sent: [{ at: 1, raw: first.raw }], mined: [mined(first)] })).to.deep.equal([
        'I1 a transaction was mined that is not in the journal',
      ])
    })

    it('finds an answer whose transaction the journal lost', () => {
      expect(found({ requests: [trade(1)], calls: [answered(1, first)] })).to.deep.equal([
        'I1 an answer had a transaction that is not in the journal',
      ])
    })

    it("finds an answer with another request's transaction", () => {
      const of = { requests: [trade(1), trade(2)], calls: [answered(1, first), answered(2, first)] }
      expect(found({ ...of, journal: [entry('CONFIRMED', [first])], mined: [mined(first)] })).to.deep.equal([
        "I1 an answer had another request's transaction",
      ])
    })

    for (const state of ['REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED']) {
      it(`finds an effect of what the journal calls ${state}`, () => {
        const of = { requests: [trade(1)], calls: [answered(1, first)], journal: [entry(state, [first])], mined: [mined(first)] }
        expect(found(of)).to.deep.equal([`I1 the journal says ${state} and the chain shows the effect`])
      })
    }

    it('finds a success that the chain does not show', () => {
      const of = { requests: [trade(1)], calls: [answered(1, first)], journal: [entry('CONFIRMED', [first])], mined: [mined(first, false)] }
      expect(found(of)).to.deep.equal(['I1 the journal says CONFIRMED and the chain shows no effect'])
    })

    it('finds a trade that nobody asked for', () => {
      expect(found({ journal: [entry('CONFIRMED', [first])], mined: [mined(first)] })).to.deep.equal([
        'I1 a trade was mined that nobody asked for',
      ])
    })

    it('finds an effect that its bot cannot find, since the journal has it under another request', () => {
      const of = {
        requests: [trade(1)],
        calls: [lost(1)],
        journal: [entry('CONFIRMED', [first], { requestId: 'strange' })],
        mined: [mined(first)],
      }
      expect(found(of)).to.deep.equal(['I1 a bot that got no answer cannot find its transaction by its request'])
    })
  })

  describe('I2: nothing after a definite error', () => {
    it('finds an effect', () => {
      const of = {
        requests: [trade(1)],
        calls: [refused(1, 'TRADE_FAILED')],
        journal: [entry('CONFIRMED', [first])],
        mined: [mined(first)],
      }
      expect(found(of)).to.include('I2 an effect after a definite error')
    })

    it('finds bytes that were sent, though they came to nothing', () => {
      const of = {
        requests: [trade(1), trade(2)],
        calls: [refused(1, 'NETWORK'), answered(2, signed(0, 2n))],
        journal: [entry('DROPPED', [first]), entry('CONFIRMED', [signed(0, 2n)], { rank: 1 })],
        mined: [mined(signed(0, 2n))],
      }
      expect(found(of)).to.include('I2 bytes were sent after a definite error')
    })

    it('finds signed bytes that wait in the journal to be sent', () => {
      const of = { requests: [trade(1)], calls: [refused(1, 'OVERLOADED')], journal: [entry('SIGNED', [first])], sent: [] }
      expect(found(of)).to.include('I2 signed bytes could still be mined after a definite error')
    })

    it('takes a definite error to a repeat for the last word on the calls before it', () => {
      const of = {
        requests: [trade(1, 'key')],
        calls: [lost(1, [1, 2]), refused(1, 'TRADE_FAILED', [3, 4])],
        journal: [entry('CONFIRMED', [first])],
        mined: [mined(first)],
      }
      expect(found(of)).to.include('I2 an effect after a definite error')
    })

    it('does not hold an error against another call that was under way beside it or came later', () => {
      const journal = [entry('CONFIRMED', [first], { idempotencyKey: 'key' })]
      const requests = [trade(1, 'key')]
      const beside = [refused(1, 'NETWORK', [1, 5]), answered(1, first, [4, 8])]
      const later = [refused(1, 'NETWORK', [1, 2]), answered(1, first, [3, 4])]
      for (const calls of [beside, later]) expect(found({ requests, calls, journal, mined: [mined(first)] })).to.deep.equal([])
    })

    for (const name of ['TIMEOUT', 'IN_FLIGHT']) {
      it(`takes ${name} for no definite error`, () => {
        const requestId = 'call-x'
        const of = {
          requests: [trade(1)],
          calls: [{ ...refused(1, name), requestId }],
          journal: [entry('CONFIRMED', [first], { requestId })],
          mined: [mined(first)],
        }
        expect(found(of)).to.deep.equal([])
      })
    }
  })

  describe('I3: one key, one effect, one answer', () => {
    it('finds two answers', () => {
      const of = {
        requests: [trade(1, 'key')],
        calls: [answered(1, first, [1, 2]), answered(1, signed(0, 1n, 2n), [3, 4])],
        journal: [entry('CONFIRMED', [first, signed(0, 1n, 2n)], { idempotencyKey: 'key' })],
        mined: [mined(first)],
      }
      expect(found(of)).to.deep.equal(['I3 one key got different answers'])
    })

    it('finds two transactions, though one of them came to nothing', () => {
      const of = {
        requests: [trade(1, 'key')],
        calls: [answered(1, first)],
        journal: [entry('CONFIRMED', [first], { idempotencyKey: 'key' }), entry('DROPPED', [signed(1, 1n)], { idempotencyKey: 'key' })],
        mined: [mined(first)],
        nextNonces: new Map([[wallet, 2]]),
      }
      expect(found(of)).to.have.members(['I3 one key made several transactions', 'I3 one key was signed on several nonces'])
    })
  })

  describe('I4: no nonce twice, and no gap', () => {
    it('finds two trades on one nonce', () => {
      const rival = signed(0, 2n)
      const of = {
        requests: [trade(1), trade(2)],
        calls: [answered(1, first), answered(2, rival)],
        journal: [entry('CONFIRMED', [first]), entry('DROPPED', [rival])],
        mined: [mined(first)],
      }
      expect(found(of)).to.deep.equal([
        'I4 two trades were signed on one nonce',
        'I4 two entries are on one nonce and neither replaces the other',
      ])
    })

    it('finds what waits behind an empty nonce', () => {
      const of = { requests: [trade(2)], calls: [answered(2, second)], journal: [entry('BROADCAST', [second])] }
      expect(found(of)).to.include('I4 a nonce was left empty and others wait behind it')
    })
  })

  describe('what shows no amount is known by its transaction', () => {
    const closed = signed(0, 0n, 1n, closing)
    const again = signed(1, 0n, 1n, closing)
    const told = answered(1, closed)
    const byCall = { requestId: told.requestId }

    it('finds nothing where it has its one outcome', () => {
      const refusal = refused(2, 'UNKNOWN_POSITION')
      const keyed = { idempotencyKey: 'key' }
      const violations = found({
        requests: [close(1), close(2), close(3, 'key')],
        calls: [told, refusal, lost(3), answered(3, again, [5, 6])],
        journal: [entry('CONFIRMED', [closed], byCall), entry('REVERTED', [again], keyed)],
        mined: [mined(closed), mined(again, false)],
      })
      expect(violations).to.deep.equal([])
    })

    it('finds a request that was mined twice', () => {
      const journal = [entry('CONFIRMED', [closed], byCall), entry('CONFIRMED', [again], byCall)]
      const of = { requests: [close(1)], calls: [told], journal, mined: [mined(closed), mined(again)] }
      expect(found(of)).to.deep.equal(['I1 one request was mined more than once'])
    })

    it('finds two answers of one transaction', () => {
      const of = { requests: [close(1), close(2)], calls: [told, answered(2, closed)], mined: [mined(closed)] }
      expect(found({ ...of, journal: [entry('CONFIRMED', [closed], byCall)] })).to.deep.equal([
        "I1 an answer had another request's transaction",
      ])
    })

    it('finds one that nobody asked for', () => {
      expect(found({ journal: [entry('CONFIRMED', [closed])], mined: [mined(closed)] })).to.deep.equal([
        'I1 a trade was mined that nobody asked for',
      ])
    })

    it('finds one that did something else', () => {
      const sold = answered(2, first)
      const journal = [entry('CONFIRMED', [first], { requestId: sold.requestId })]
      expect(found({ requests: [close(2)], calls: [sold], journal, mined: [mined(first)] })).to.deep.equal([
        'I1 a trade was mined that nobody asked for',
      ])
    })

    it('finds an effect after a definite error', () => {
      const refusal = refused(1, 'UNKNOWN_POSITION')
      const journal = [entry('CONFIRMED', [closed], { requestId: refusal.requestId })]
      expect(found({ requests: [close(1)], calls: [refusal], journal, mined: [mined(closed)] })).to.deep.equal([
        'I2 an effect after a definite error',
      ])
    })

    it('finds it on a nonce that another has', () => {
      const of = { requests: [close(1), trade(2)], calls: [told, answered(2, signed(0, 2n))], mined: [mined(closed)] }
      const journal = [entry('CONFIRMED', [closed], byCall), entry('DROPPED', [signed(0, 2n)], { rank: 1 })]
      expect(found({ ...of, journal })).to.deep.equal(['I4 two trades were signed on one nonce'])
    })
  })

  it('finds a wallet that took too long to heal', () => {
    const healed = [{ trouble: 'a gap', wallet, blocks: 5, allowed: 3 }]
    expect(found({ healed })).to.deep.equal(['I4 a wallet did not heal itself in time'])
  })

  describe('I5: nothing is called lost, or final, that turns out otherwise', () => {
    const of = { requests: [trade(1)], calls: [answered(1, first)], journal: [entry('CONFIRMED', [first])], mined: [mined(first)] }
    const said = (sample: { txStatus?: number; txState?: string }) =>
      found({ ...of, samples: [{ at: 1, via: 'poll', txHash: first.txHash, ...sample }] })

    it('finds -1 of a transaction that is mined', () => {
      expect(said({ txStatus: -1 })).to.deep.equal(['I5 said -1 of a transaction that is mined'])
    })

    it('finds -1 of an attempt in whose place another one of its transaction is mined', () => {
      const bumped = signed(0, 1n, 2n)
      const samples = [{ at: 1, via: 'poll', txHash: first.txHash, txStatus: -1 }] as const
      const journal = [entry('CONFIRMED', [first, bumped])]
      expect(found({ ...of, journal, mined: [mined(bumped)], samples })).to.deep.equal(['I5 said -1 of a transaction that is mined'])
    })

    for (const txState of ['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED']) {
      it(`finds ${txState} of a transaction that is mined`, () => {
        expect(said({ txState })).to.deep.equal([`I5 said ${txState} of a transaction that is mined`])
      })
    }

    it('finds REVERTED of one that did not, and CONFIRMED of one that a reorganisation took away', () => {
      expect(said({ txState: 'REVERTED' })).to.deep.equal(['I5 said REVERTED of a transaction that did not revert'])
      const samples = [{ at: 1, via: 'poll', txHash: first.txHash, txState: 'CONFIRMED' }] as const
      expect(found({ ...of, journal: [entry('DROPPED', [first])], mined: [], nextNonces: new Map([[wallet, 1]]), samples })).to.deep.equal([
        'I5 said CONFIRMED of a transaction that has no effect',
      ])
    })
  })

  describe('I6: everything ends in time', () => {
    it('finds what is still open', () => {
      const of = { requests: [trade(1)], calls: [answered(1, first)], journal: [entry('MINED', [first])], mined: [mined(first)] }
      expect(found(of)).to.deep.equal(['I6 still MINED 11 blocks after the faults ended'])
    })

    it('finds bytes that nobody minds any more and that can still be mined', () => {
      const of = { requests: [trade(1)], calls: [answered(1, first)], journal: [entry('DROPPED', [first])] }
      expect(found(of)).to.deep.equal(['I6 signed bytes are not mined and still can be'])
    })

    it('does not judge before its time', () => {
      const of = history({ journal: [entry('MINED', [first])], settled: { blocks: 3, allowed: 11 } })
      expect(() => checkHistory(of)).to.throw('before 11 had passed')
    })
  })
})
