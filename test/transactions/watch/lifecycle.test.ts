import { expect } from 'chai'
import type { AttemptStatus } from '../../../core/contracts/index.ts'
import { type Attempt, type Entry, type TransactionState, txStatus } from '../../../core/transactions/entry.ts'
import { advance, type LifecycleInput, type CompetingTransaction } from '../../../core/transactions/lifecycle.ts'
import { newEntry } from '../journal/entries.ts'

const id = '0xaa'
const receipt = { status: 1 }
const landed = (depth: number, ok = true): AttemptStatus => ({ id, is: 'landed', ok, blockNumber: 7, depth, receipt })
const pending: AttemptStatus = { id, is: 'pending', underpriced: false, next: true }
const underpriced: AttemptStatus = { id, is: 'pending', underpriced: true, next: true }
const unseen: AttemptStatus = { id, is: 'unseen', underpriced: false }
const dead: AttemptStatus = { id, is: 'dead', by: '0xff' }
const expired: AttemptStatus = { id, is: 'expired' }
const heir = (final: boolean, kind: CompetingTransaction['kind'] = 'trade'): CompetingTransaction => ({
  txHash: '0xbb',
  kind,
  rank: 1,
  final,
})
const elder = (final: boolean): CompetingTransaction => ({ ...heir(final), rank: -1 })

function attempt(more: Partial<Attempt> = {}): Attempt {
  return { id, raw: new Uint8Array(), fees: null, signedAt: 0, sentAt: 0, sends: 1, ...more }
}

const signed = newEntry({ version: 2, sequence: 5, nonce: 5, state: 'SIGNED', attempts: [attempt()] })
const broadcast: Entry = { ...signed, state: 'BROADCAST', seen: 'pays' }
const mined: Entry = { ...broadcast, state: 'MINED', landed: { id, ok: true, blockNumber: 7, receipt } }
const replaced: Entry = { ...broadcast, replacedBy: '0xbb' }

function observed(
  statuses: readonly AttemptStatus[],
  { nowMs = 500, ...more }: Partial<LifecycleInput> & { nowMs?: number } = {},
): LifecycleInput {
  const head = { number: 100n, timestamp: 0 }
  const replacing = { bumpAfterSeconds: 100, mayCancel: () => true }
  return {
    observations: new Map(statuses.map((each) => [each.id, each])),
    head,
    confirmations: 3,
    missedBlocks: 9,
    replacing,
    costOf: () => undefined,
    waited: ({ signedAt, sentAt = -Infinity }) => ({ signedMs: nowMs - signedAt, sentMs: nowMs - sentAt }),
    ...more,
  }
}

/** How often a poll at that time has one sent again that was lost before. */
function sentAfter(sends: number, nowMs: number): number {
  const waiting: Entry = { ...broadcast, attempts: [attempt({ sends })], seen: 'lost' }
  return advance(waiting, observed([unseen], { nowMs })).actions.length
}

interface Case {
  when: string
  entry: Entry
  polls: readonly LifecycleInput[]
  state: TransactionState
  status: number
  sends?: number
}

const cases: readonly Case[] = [
  { when: 'it is pending at a node', entry: signed, polls: [observed([pending])], state: 'BROADCAST', status: 2 },
  { when: 'it is pending and pays too little', entry: signed, polls: [observed([underpriced])], state: 'BROADCAST', status: 3 },
  { when: 'no node has ever had it', entry: signed, polls: [observed([unseen])], state: 'SIGNED', status: 0 },
  { when: 'the node said nothing about it', entry: broadcast, polls: [observed([])], state: 'BROADCAST', status: 2 },
  { when: 'it is in the newest block', entry: broadcast, polls: [observed([landed(1)])], state: 'MINED', status: 1 },
  { when: 'it is mined without ever being seen as pending', entry: signed, polls: [observed([landed(1)])], state: 'MINED', status: 1 },
  { when: 'one confirmation is missing', entry: mined, polls: [observed([landed(2)])], state: 'MINED', status: 1 },
  { when: 'it has all confirmations', entry: mined, polls: [observed([landed(3)])], state: 'CONFIRMED', status: 1 },
  {
    when: 'it was first seen deep in the chain, after an outage',
    entry: signed,
    polls: [observed([landed(50)])],
    state: 'CONFIRMED',
    status: 1,
  },
  { when: 'it reverted in the newest block', entry: broadcast, polls: [observed([landed(1, false)])], state: 'MINED', status: 1 },
  { when: 'the revert has all confirmations', entry: mined, polls: [observed([landed(3, false)])], state: 'REVERTED', status: 1 },
  { when: 'a reorganisation put it back into the mempool', entry: mined, polls: [observed([pending])], state: 'BROADCAST', status: 2 },
  { when: 'a reorganisation made the node forget it', entry: mined, polls: [observed([unseen])], state: 'BROADCAST', status: 3 },
  {
    when: 'it went back and forth',
    entry: mined,
    polls: [observed([unseen]), observed([pending]), observed([landed(1)])],
    state: 'MINED',
    status: 1,
  },
  { when: 'the mempool dropped it', entry: broadcast, polls: [observed([unseen])], state: 'BROADCAST', status: 3 },
  {
    when: 'the mempool dropped it a while ago',
    entry: broadcast,
    polls: [observed([unseen], { nowMs: 5_000 })],
    state: 'BROADCAST',
    status: 3,
    sends: 1,
  },
  {
    when: 'it never reached a node, a while ago',
    entry: signed,
    polls: [observed([unseen], { nowMs: 5_000 })],
    state: 'SIGNED',
    status: 0,
    sends: 1,
  },
  {
    when: 'it was never sent (the server ended)',
    entry: { ...signed, attempts: [{ id, raw: new Uint8Array(), fees: null, signedAt: 0, sends: 0 }] },
    polls: [observed([unseen], { nowMs: Date.now() })],
    state: 'SIGNED',
    status: 0,
    sends: 1,
  },
  { when: 'a node may lag: dead once', entry: broadcast, polls: [observed([dead])], state: 'BROADCAST', status: 3 },
  { when: 'dead twice in a row', entry: broadcast, polls: [observed([dead]), observed([dead])], state: 'DROPPED', status: -1 },
  {
    when: 'dead, seen, and dead again',
    entry: broadcast,
    polls: [observed([dead]), observed([pending]), observed([dead])],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'dead, unseen, and dead again',
    entry: broadcast,
    polls: [observed([dead]), observed([unseen]), observed([dead])],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'a lagging node called a mined one dead, once',
    entry: mined,
    polls: [observed([dead]), observed([landed(2)])],
    state: 'MINED',
    status: 1,
  },
  { when: 'a node may lag: expired once', entry: broadcast, polls: [observed([expired])], state: 'BROADCAST', status: 3 },
  {
    when: 'expired twice in a row',
    entry: broadcast,
    polls: [observed([expired]), observed([expired])],
    state: 'EXPIRED',
    status: -1,
  },
  {
    when: 'it was never sent and has expired',
    entry: { ...signed, attempts: [{ id, raw: new Uint8Array(), fees: null, signedAt: 0, sends: 0 }] },
    polls: [observed([expired]), observed([expired])],
    state: 'EXPIRED',
    status: -1,
  },
  {
    when: 'expired, not expired, and expired again',
    entry: broadcast,
    polls: [observed([expired]), observed([pending]), observed([expired])],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'expired by a node that lags, and then in a block',
    entry: broadcast,
    polls: [observed([expired]), observed([landed(1)])],
    state: 'MINED',
    status: 1,
  },
  {
    when: 'a reorganisation removed its block and it has expired',
    entry: mined,
    polls: [observed([expired]), observed([expired])],
    state: 'EXPIRED',
    status: -1,
  },
  { when: 'a replacement is signed and both are pending', entry: replaced, polls: [observed([pending])], state: 'BROADCAST', status: 3 },
  {
    when: 'it is being replaced and gone from the mempool: it is not sent again',
    entry: replaced,
    polls: [observed([unseen], { nowMs: 5_000 })],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'its replacement is mined',
    entry: replaced,
    polls: [observed([unseen], { competing: heir(false) })],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'its replacement is final',
    entry: replaced,
    polls: [observed([dead], { competing: heir(true) })],
    state: 'REPLACED',
    status: -1,
  },
  {
    when: 'its cancel is final',
    entry: replaced,
    polls: [observed([dead], { competing: heir(true, 'cancel') })],
    state: 'CANCELLED',
    status: -1,
  },
  { when: 'it was mined in spite of its replacement', entry: replaced, polls: [observed([landed(3)])], state: 'CONFIRMED', status: 1 },
  {
    when: 'a reorganisation swapped it for its replacement',
    entry: { ...mined, replacedBy: '0xbb' },
    polls: [observed([unseen], { competing: heir(false) })],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'the transaction that it was to replace is mined',
    entry: { ...broadcast, rank: 1 },
    polls: [observed([unseen], { competing: { ...elder(false), rank: 0 } })],
    state: 'BROADCAST',
    status: 3,
  },
  {
    when: 'the transaction that it was to replace is final',
    entry: { ...broadcast, rank: 1 },
    polls: [observed([dead], { competing: { ...elder(true), rank: 0 } })],
    state: 'OVERTAKEN',
    status: -1,
  },
  {
    when: 'its replacement is dead too, by another program',
    entry: replaced,
    polls: [observed([dead]), observed([dead])],
    state: 'DROPPED',
    status: -1,
  },
  {
    when: 'it was never signed',
    entry: { ...signed, state: 'QUEUED', attempts: [] },
    polls: [observed([unseen])],
    state: 'QUEUED',
    status: 0,
  },
  { when: 'it expired before', entry: { ...signed, state: 'EXPIRED' }, polls: [observed([landed(3)])], state: 'EXPIRED', status: -1 },
  {
    when: 'it was final before',
    entry: { ...mined, state: 'CONFIRMED' },
    polls: [observed([dead]), observed([dead])],
    state: 'CONFIRMED',
    status: 1,
  },
]

describe('the lifecycle of a transaction', () => {
  for (const { when, entry, polls, state, status, sends = 0 } of cases) {
    it(`reaches ${state} (${status})${sends > 0 ? ' and sent again' : ''} when ${when}`, () => {
      let current = entry
      let actions = 0
      for (const poll of polls) {
        const step = advance(current, poll)
        current = step.entry
        actions += step.actions.length
      }
      expect(current.state).to.equal(state)
      expect(txStatus(current)).to.equal(status)
      expect(actions).to.equal(sends)
    })
  }

  it('returns the same entry if nothing changed, so that nothing is written', () => {
    const once = advance(mined, observed([landed(2)])).entry
    expect(advance(once, observed([landed(2)])).entry).to.equal(once)
    const lost = advance(broadcast, observed([unseen])).entry
    expect(advance(lost, observed([unseen])).entry).to.equal(lost)
  })

  it('keeps what it cost with its block, and forgets it with it', () => {
    const cost = { feeRaw: '21000' }
    const costOf = () => cost
    for (const ok of [true, false]) expect(advance(broadcast, observed([landed(3, ok)], { costOf })).entry.landed?.cost).to.equal(cost)
    const { entry } = advance(broadcast, observed([landed(1)], { costOf }))
    expect(advance(entry, observed([unseen])).entry.landed).to.equal(undefined)
    // The receipt of the new block does not say it.
    const again: AttemptStatus = { id, is: 'landed', ok: true, blockNumber: 8, blockHash: '0xcc', depth: 3, receipt }
    expect(advance(entry, observed([again])).entry.landed).to.not.have.property('cost')
  })

  it('names the transaction that replaced it', () => {
    expect(advance(replaced, observed([dead], { competing: heir(true) })).entry.replacedBy).to.equal('0xbb')
    expect(advance(replaced, observed([landed(3)])).entry.replacedBy).to.equal(undefined)
  })

  it('waits longer after each broadcast, and never more than a minute', () => {
    expect([
      sentAfter(1, 999),
      sentAfter(1, 1_000),
      sentAfter(4, 7_999),
      sentAfter(4, 8_000),
      sentAfter(30, 59_999),
      sentAfter(30, 60_000),
    ]).to.deep.equal([0, 1, 0, 1, 0, 1])
  })

  it('restarts the backoff for a transaction that a node or block has lost', () => {
    const sentOften = [attempt({ sends: 9, sendsSinceLost: 4, sentAt: 1_000 })]
    for (const was of [
      { ...broadcast, attempts: sentOften, seen: 'pays' as const },
      { ...mined, attempts: sentOften },
    ]) {
      const { entry, actions } = advance(was, observed([unseen], { nowMs: 2_000 }))
      expect(actions).to.have.length(1)
      const again = { ...entry, attempts: [attempt({ sends: 10, sendsSinceLost: 3, sentAt: 2_000 })] }
      expect(advance(again, observed([unseen], { nowMs: 3_999 })).actions).to.deep.equal([])
    }
  })

  it('trusts the chain more than the journal when asked for a status', () => {
    expect(txStatus(broadcast, { blockNumber: 7 })).to.equal(1)
    expect(txStatus(signed, { pays: true })).to.equal(2)
    expect(txStatus(signed, { pays: false })).to.equal(3)
    expect(txStatus(replaced, { pays: true })).to.equal(3)
    expect(txStatus({ ...signed, state: 'DROPPED' }, undefined)).to.equal(-1)
  })
})
