// A model: states of an entry × what polls may say of it. In none of them is it left without a next look, and what was dropped ends.
import { expect } from 'chai'
import type { AttemptStatus } from '../../../core/contracts/index.ts'
import { isFinal, type Attempt, type Entry } from '../../../core/transactions/entry.ts'
import { advance, type LifecycleInput } from '../../../core/transactions/lifecycle.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { newEntry } from '../journal/entries.ts'

const id = '0xa'
const bumpAfterSeconds = 3
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  id,
  raw: new Uint8Array(),
  fees: null,
  signedAt: 0,
  sentAt: 0,
  sends: 1,
  ...more,
})
const signed = newEntry({ version: 3, sequence: 5, nonce: 5, state: 'SIGNED', attempts: [attempt()] })
const landed = { id, is: 'landed', ok: true, blockNumber: 7, depth: 1, receipt: {} } as const satisfies AttemptStatus

/** Each open state, with whatever an earlier poll or server may have left in it. */
const states: readonly Entry[] = [
  signed,
  { ...signed, attempts: [attempt({ sends: 0 })] },
  ...(['pays', 'underpriced', 'lost'] as const).flatMap((seen): Entry[] => [
    { ...signed, state: 'BROADCAST', seen },
    { ...signed, state: 'BROADCAST', seen, deadLooks: 1, deadSince: 3 },
    { ...signed, state: 'BROADCAST', seen, replacedBy: '0xbb' },
    { ...signed, state: 'BROADCAST', seen, deadline: 1 },
    { ...signed, state: 'BROADCAST', seen, feesGiven: true },
    { ...signed, state: 'BROADCAST', seen, privateOnly: true },
    { ...signed, state: 'BROADCAST', seen, attempts: [attempt({ sends: 40, sendsSinceLost: 40 })] },
    { ...signed, state: 'BROADCAST', seen, attempts: [attempt({ refused: 'invalid' })] },
  ]),
  { ...signed, state: 'MINED', landed: { id, ok: true, blockNumber: 7, receipt: {} } },
]

/** What a poll may say while nodes are away, lag, lie, restart or reorganise. */
const faults: readonly (readonly AttemptStatus[])[] = [
  [],
  [{ id, is: 'unseen', underpriced: false }],
  [{ id, is: 'pending', underpriced: false, next: true }],
  [{ id, is: 'pending', underpriced: false, kept: false }],
  [{ id, is: 'pending', underpriced: true, next: false }],
  [{ id, is: 'expired' }],
  [{ id, is: 'dead' }],
  [landed],
]

function input(statuses: readonly AttemptStatus[], poll: number, isReplaceable: boolean, isHealed: boolean): LifecycleInput {
  const nowMs = poll * 5_000
  return {
    observations: new Map(statuses.map((each) => [each.id, each])),
    head: { number: BigInt(poll), timestamp: nowMs / 1000 },
    confirmations: 32,
    missedBlocks: poll,
    // The transaction that was to replace it ended as well.
    ...(isHealed && { competing: 'gone' }),
    ...(isReplaceable && { replacing: { bumpAfterSeconds, mayCancel: () => true } }),
    costOf: () => undefined,
    waited: () => ({ signedMs: nowMs, sentMs: nowMs }),
  }
}

describe('an open transaction', () => {
  it('ends in the second poll that proves it expired, whatever the polls before it said: of 10,000 that were dropped, all', () => {
    const { below } = randomBits(29)
    const ended = new Map<string, number>()
    for (let count = 0; count < 10_000; count += 1) {
      let entry = states[count % states.length]!
      const polls = below(12)
      for (let poll = 1; poll <= polls; poll += 1) {
        // Faults never prove: what polls say twice of a dropped transaction is true of it.
        const statuses = faults[below(faults.length)]!
        entry = advance(entry, input(statuses, poll, false, below(2) === 0)).entry
      }
      for (let poll = polls + 1; poll <= polls + 2; poll += 1)
        entry = advance(entry, input([{ id, is: 'expired' }], poll, false, true)).entry
      ended.set(entry.state, (ended.get(entry.state) ?? 0) + 1)
    }
    expect([...ended.keys()].filter((state) => state !== 'EXPIRED' && state !== 'DROPPED')).to.deep.equal([])
    expect([...ended.values()].reduce((sum, each) => sum + each, 0)).to.equal(10_000)
  })

  for (const isReplaceable of [true, false])
    it(`that no node has is sent again, cancelled or raised after each fault, ${isReplaceable ? 'where it can be replaced' : 'where it cannot'}`, () => {
      for (const [index, state] of states.entries())
        for (const fault of faults) {
          const { entry } = advance(state, input(fault, 1, isReplaceable, false))
          if (isFinal(entry)) continue
          let actions = 0
          let next = entry
          for (let poll = 2; poll <= 20 && actions === 0; poll += 1) {
            const step = advance(next, input([{ id, is: 'unseen', underpriced: false }], poll, isReplaceable, true))
            next = step.entry
            actions += step.actions.length
          }
          expect(actions, `state ${index} (${entry.state}) after ${JSON.stringify(fault)}`).to.be.above(0)
        }
    })
})
