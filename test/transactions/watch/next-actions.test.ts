import { expect } from 'chai'
import { array, assert, boolean, constant, integer, nat, oneof, option, property, record } from 'fast-check'
import type { AttemptStatus } from '../../../core/contracts/index.ts'
import { type Attempt, isFinal, type Entry, type TransactionState } from '../../../core/transactions/entry.ts'
import { advance, createAttemptTimes, type Action, type LifecycleInput } from '../../../core/transactions/lifecycle.ts'
import { newEntry } from '../journal/entries.ts'

const bumpAfterSeconds = 10
const seconds = 1000

function attempt(id: string, more: Partial<Attempt> = {}): Attempt {
  return { id, raw: new Uint8Array(), fees: null, signedAt: 0, sentAt: 0, sends: 1, ...more }
}

/** On a nonce since time 0, signed once. */
const open = newEntry({
  version: 3,
  createdAt: 0,
  updatedAt: 0,
  sequence: 5,
  nonce: 5,
  state: 'BROADCAST',
  seen: 'pays',
  ends: 10_000,
  attempts: [attempt('0xa')],
})
const bumped: Entry = { ...open, attempts: [attempt('0xa'), attempt('0xb')] }
const withDeadline: Entry = { ...open, deadline: 1_000 }

/** By the clock of the chain, and by no contract. */
const ending: Entry = { ...open, ends: 1_000 }

/** At relays alone. */
const hidden: Entry = { ...open, privateOnly: true }

const unseen = (id: string, more: { underpriced?: boolean; next?: boolean } = {}): AttemptStatus => ({
  id,
  is: 'unseen',
  underpriced: false,
  ...more,
})
const pending = (id: string, more: { underpriced?: boolean; next?: boolean; kept?: false } = {}): AttemptStatus => ({
  id,
  is: 'pending',
  underpriced: false,
  next: true,
  ...more,
})
const landed = (id: string, more: { depth?: number; ok?: boolean; blockHash?: string; reason?: string } = {}): AttemptStatus => ({
  id,
  is: 'landed',
  ok: true,
  blockNumber: 7,
  blockHash: '0x7',
  depth: 1,
  receipt: { of: id, in: more.blockHash ?? '0x7' },
  ...more,
})

interface AttemptCase {
  afterSeconds?: number
  chainTime?: number
  block?: number
  /** Whether a cancel ends it: of an exchange's own rail not always. */
  mayCancel?: boolean
  passesLimit?: string
  replacing?: boolean
  missed?: number
  /** Relays may take it for a withdrawal. */
  withdrawal?: boolean
}

function observed(
  statuses: readonly AttemptStatus[],
  {
    afterSeconds = 0,
    chainTime = 0,
    block = 100,
    mayCancel = true,
    replacing = true,
    missed = 9,
    withdrawal = false,
    passesLimit,
  }: AttemptCase = {},
): LifecycleInput {
  return {
    observations: new Map(statuses.map((each) => [each.id, each])),
    head: { number: BigInt(block), timestamp: chainTime },
    confirmations: 3,
    missedBlocks: missed,
    ...(replacing && { replacing: { bumpAfterSeconds, mayBeWithdrawal: withdrawal, mayCancel: () => mayCancel } }),
    ...(passesLimit !== undefined && { passesLimit }),
    costOf: () => undefined,
    waited: ({ signedAt, sentAt = -Infinity }) => ({
      signedMs: afterSeconds * seconds - signedAt,
      sentMs: afterSeconds * seconds - sentAt,
    }),
  }
}

const said = (action: Action) =>
  action.do === 'send' ? `send ${action.attempt.id}` : action.do === 'bump' ? `bump ${action.over.id}` : 'cancel'
const actionsOf = (entry: Entry, statuses: readonly AttemptStatus[], given?: AttemptCase) =>
  advance(entry, observed(statuses, given)).actions.map(said)

interface Case {
  when: string
  entry?: Entry
  seen: readonly AttemptStatus[]
  given?: AttemptCase
  does: readonly string[]
}

const cases: readonly Case[] = [
  { when: 'no node keeps it, and it was sent a moment ago', seen: [pending('0xa', { kept: false })], given: { afterSeconds: 1 }, does: [] },
  {
    when: 'no node keeps it, and it was sent a while ago',
    seen: [pending('0xa', { kept: false })],
    given: { afterSeconds: 2, replacing: false },
    does: ['send 0xa'],
  },
  {
    when: 'no node keeps it, and it is only about to be sent',
    entry: { ...open, attempts: [{ id: '0xa', raw: new Uint8Array(), fees: null, signedAt: 0, sends: 0 }] },
    seen: [pending('0xa', { kept: false })],
    given: { afterSeconds: 1, replacing: false },
    does: [],
  },
  { when: 'it is pending and pays enough', seen: [pending('0xa')], given: { afterSeconds: 20 }, does: [] },
  { when: 'it pays too little, but not for long', seen: [pending('0xa', { underpriced: true })], given: { afterSeconds: 9 }, does: [] },
  {
    when: 'it has paid too little for long enough',
    seen: [pending('0xa', { underpriced: true })],
    given: { afterSeconds: 10 },
    does: ['bump 0xa'],
  },
  {
    when: 'it pays too little and waits behind others, too',
    seen: [pending('0xa', { underpriced: true, next: false })],
    given: { afterSeconds: 10 },
    does: ['bump 0xa'],
  },
  {
    when: 'nodes refuse it because it pays too little',
    seen: [unseen('0xa', { underpriced: true })],
    given: { afterSeconds: 10 },
    does: ['bump 0xa'],
  },
  { when: 'it pays enough and is not included for very long', seen: [pending('0xa')], given: { afterSeconds: 50 }, does: ['bump 0xa'] },
  {
    when: 'it pays enough and has missed only one block, however long that took',
    seen: [pending('0xa')],
    given: { afterSeconds: 5_000, missed: 1 },
    does: [],
  },
  {
    when: 'it pays enough and waits for very long behind others',
    seen: [pending('0xa', { next: false })],
    given: { afterSeconds: 500 },
    does: [],
  },
  { when: 'it pays enough and no node accepts it for very long', seen: [unseen('0xa')], given: { afterSeconds: 500 }, does: ['send 0xa'] },
  {
    when: 'its fees are the caller’s',
    entry: { ...open, feesGiven: true },
    seen: [pending('0xa', { underpriced: true })],
    given: { afterSeconds: 500 },
    does: [],
  },
  {
    when: 'its fees are the caller’s and nodes refuse them',
    entry: { ...open, feesGiven: true },
    seen: [unseen('0xa', { underpriced: true })],
    given: { afterSeconds: 500 },
    does: ['send 0xa'],
  },
  {
    when: 'the network cannot replace',
    seen: [pending('0xa', { underpriced: true })],
    given: { afterSeconds: 500, replacing: false },
    does: [],
  },
  {
    when: 'a replacement is signed',
    entry: { ...open, replacedBy: '0xc' },
    seen: [pending('0xa', { underpriced: true })],
    given: { afterSeconds: 500 },
    does: [],
  },
  {
    when: 'it was bumped a moment ago',
    entry: { ...open, attempts: [attempt('0xa'), attempt('0xb', { signedAt: 95 * seconds, sentAt: 95 * seconds })] },
    seen: [pending('0xa', { underpriced: true }), pending('0xb', { underpriced: true })],
    given: { afterSeconds: 100 },
    does: [],
  },
  {
    when: 'the newest pays enough and the older does not',
    entry: bumped,
    seen: [pending('0xa', { underpriced: true }), pending('0xb', { next: false })],
    given: { afterSeconds: 20 },
    does: [],
  },
  {
    when: 'the newest did not reach a node',
    entry: bumped,
    seen: [pending('0xa'), unseen('0xb')],
    given: { afterSeconds: 20 },
    does: ['send 0xb'],
  },
  {
    when: 'nodes refuse the newest for very long',
    entry: bumped,
    seen: [pending('0xa'), unseen('0xb')],
    given: { afterSeconds: 50 },
    does: ['bump 0xb', 'send 0xb'],
  },
  {
    when: 'no node accepts it because its tip is too low',
    entry: { ...open, attempts: [attempt('0xa', { refused: 'underpriced' })] },
    seen: [unseen('0xa')],
    given: { afterSeconds: 10 },
    does: ['bump 0xa', 'send 0xa'],
  },
  {
    when: 'a node accepted it after all had refused its tip',
    entry: { ...open, attempts: [attempt('0xa', { refused: 'underpriced' })] },
    seen: [pending('0xa')],
    given: { afterSeconds: 10 },
    does: [],
  },
  {
    when: 'a transaction of other software pays more on its nonce',
    entry: { ...open, attempts: [attempt('0xa', { refused: 'outbid' })] },
    seen: [unseen('0xa')],
    given: { afterSeconds: 500 },
    does: ['send 0xa'],
  },
  ...(['unfunded', 'invalid'] as const).flatMap((refused): Case[] => [
    {
      when: `nodes refuse the newest as ${refused}`,
      entry: { ...bumped, attempts: [attempt('0xa'), attempt('0xb', { refused })] },
      seen: [pending('0xa'), unseen('0xb')],
      given: { afterSeconds: 500 },
      does: ['send 0xb'],
    },
    {
      when: `nodes refuse it as ${refused}, and fees have risen`,
      entry: { ...open, attempts: [attempt('0xa', { refused })] },
      seen: [unseen('0xa', { underpriced: true })],
      given: { afterSeconds: 500 },
      does: ['send 0xa'],
    },
  ]),
  { when: 'the mempool lost both', entry: bumped, seen: [unseen('0xa'), unseen('0xb')], given: { afterSeconds: 20 }, does: ['send 0xb'] },
  {
    when: 'the mempool lost both and does not accept the newest',
    entry: { ...bumped, seen: 'lost', attempts: [attempt('0xa'), attempt('0xb', { sends: 2 })] },
    seen: [unseen('0xa'), unseen('0xb')],
    given: { afterSeconds: 20 },
    does: ['send 0xb', 'send 0xa'],
  },
  { when: 'nothing is known about the newest', entry: bumped, seen: [pending('0xa')], given: { afterSeconds: 500 }, does: [] },
  {
    when: 'only some of its attempts are dead',
    entry: bumped,
    seen: [{ id: '0xa', is: 'dead', by: '0xf' }],
    given: { afterSeconds: 500 },
    does: [],
  },
  {
    when: 'one of them landed',
    entry: bumped,
    seen: [landed('0xa'), unseen('0xb', { underpriced: true })],
    given: { afterSeconds: 500 },
    does: [],
  },
  {
    when: 'its deadline is not past in the newest block',
    entry: withDeadline,
    seen: [pending('0xa')],
    given: { chainTime: 1_000 },
    does: [],
  },
  {
    when: 'its deadline is past in the newest block',
    entry: withDeadline,
    seen: [pending('0xa')],
    given: { chainTime: 1_001 },
    does: ['cancel'],
  },
  {
    when: 'its deadline is past and it is stuck',
    entry: withDeadline,
    seen: [pending('0xa', { underpriced: true })],
    given: { chainTime: 1_001, afterSeconds: 50 },
    does: ['cancel'],
  },
  {
    when: 'its deadline is past and no node has it',
    entry: withDeadline,
    seen: [unseen('0xa')],
    given: { chainTime: 1_001, afterSeconds: 50 },
    does: ['cancel'],
  },
  {
    when: 'its cancel does not happen, so that it blocks others',
    entry: withDeadline,
    seen: [unseen('0xa')],
    given: { chainTime: 1_031, afterSeconds: 50 },
    does: ['cancel', 'send 0xa'],
  },
  {
    when: 'its deadline is past and no cancel ends it',
    entry: withDeadline,
    seen: [pending('0xa', { underpriced: true })],
    given: { chainTime: 1_001, mayCancel: false },
    does: [],
  },
  {
    when: 'its deadline is past, no cancel may be needed, and it would have to be bumped',
    entry: withDeadline,
    seen: [pending('0xa', { underpriced: true })],
    given: { chainTime: 1_001, afterSeconds: 50, mayCancel: false },
    does: ['cancel'],
  },
  {
    when: 'its deadline is past, it pays too little, and its fees are the caller’s',
    entry: { ...withDeadline, feesGiven: true },
    seen: [pending('0xa', { underpriced: true })],
    given: { chainTime: 1_001, afterSeconds: 50 },
    does: ['cancel'],
  },
  { when: 'its deadline is past and it landed', entry: withDeadline, seen: [landed('0xa')], given: { chainTime: 1_001 }, does: [] },
  {
    when: 'its deadline is past and it is cancelled already',
    entry: { ...withDeadline, replacedBy: '0xc' },
    seen: [pending('0xa')],
    given: { chainTime: 1_001 },
    does: [],
  },
  {
    when: 'its deadline is past and nothing can be replaced',
    entry: withDeadline,
    seen: [pending('0xa')],
    given: { chainTime: 1_001, replacing: false },
    does: [],
  },
  {
    when: 'it is valid for the time of the newest block',
    entry: ending,
    seen: [pending('0xa')],
    given: { chainTime: 1_000 },
    does: [],
  },
  ...(['trade', 'order', 'liquidity', 'position', 'approve', 'wrap', 'send'] as const).map((kind): Case => ({
    when: `it is of the kind ${kind} and its time is over, whoever gave its fees and whatever nodes say`,
    entry: { ...ending, kind, feesGiven: true },
    seen: [unseen('0xa', { underpriced: true })],
    given: { chainTime: 5_000, afterSeconds: 4_000 },
    does: ['cancel'],
  })),
  ...([{ kind: 'cancel' }, { kind: 'fill' }, { kind: 'order-cancel' }, { reduces: true }] as const).map((more): Case => ({
    when: `it only takes back, and its time is over: ${JSON.stringify(more)}`,
    entry: { ...ending, feesGiven: true, ...more },
    seen: [pending('0xa', { underpriced: true })],
    given: { chainTime: 1_001, afterSeconds: 10 },
    does: ['bump 0xa'],
  })),
  {
    when: 'it only takes back, its time is over, and no node has it',
    entry: { ...ending, reduces: true },
    seen: [unseen('0xa')],
    given: { chainTime: 1_001, afterSeconds: 20 },
    does: ['send 0xa'],
  },
  {
    when: 'an earlier version signed it without an end, and it has waited here for as long as others are valid',
    entry: { ...open, ends: undefined },
    seen: [pending('0xa')],
    given: { afterSeconds: 301 },
    does: ['cancel'],
  },
  {
    when: 'an earlier version signed it, a while ago',
    entry: { ...open, ends: undefined },
    seen: [pending('0xa')],
    given: { afterSeconds: 299, missed: 1 },
    does: [],
  },
  {
    when: 'a plugin of a third party says that its contract refuses it by now',
    entry: { ...withDeadline, plugin: 'abc' },
    seen: [unseen('0xa')],
    given: { chainTime: 5_000, afterSeconds: 50 },
    does: ['cancel'],
  },
  {
    when: 'by the market of now it would pass a limit',
    seen: [unseen('0xa', { underpriced: true })],
    given: { afterSeconds: 50, passesLimit: 'It would lose too much.' },
    does: ['cancel'],
  },
  {
    when: 'it is private and its deadline is past: relays leave out what fails, and its nonce would stay unused',
    entry: { ...hidden, deadline: 1_000, feesGiven: true },
    seen: [unseen('0xa')],
    given: { chainTime: 1_001 },
    does: ['cancel'],
  },
  {
    when: 'it is private, a relay has it, and blocks leave it out for very long',
    entry: hidden,
    seen: [unseen('0xa', { next: true })],
    given: { afterSeconds: 50 },
    does: ['bump 0xa', 'send 0xa'],
  },
  {
    when: 'it is private and waits for very long behind others',
    entry: hidden,
    seen: [unseen('0xa', { next: false })],
    given: { afterSeconds: 50 },
    does: ['send 0xa'],
  },
  {
    when: 'it is private and no relay answers for very long',
    entry: { ...hidden, reason: 'did not answer in time' },
    seen: [unseen('0xa', { next: true })],
    given: { afterSeconds: 50 },
    does: ['send 0xa'],
  },
  {
    when: 'it is a private transfer of nothing that blocks leave out, also where the caller set the fees',
    entry: { ...hidden, kind: 'cancel', feesGiven: true, reason: 'tx has already expired' },
    seen: [unseen('0xa', { next: true })],
    given: { afterSeconds: 10, withdrawal: true, missed: 2 },
    does: ['cancel', 'send 0xa'],
  },
  ...([{ afterSeconds: 9 }, { missed: 1 }] as const).map((given): Case => ({
    when: `it is a private transfer of nothing and that is young: ${JSON.stringify(given)}`,
    entry: { ...hidden, kind: 'cancel' },
    seen: [unseen('0xa', { next: true })],
    given: { afterSeconds: 10, withdrawal: true, ...given },
    does: ['send 0xa'],
  })),
  {
    when: 'it is a public transfer of nothing that blocks leave out',
    entry: { ...open, kind: 'cancel' },
    seen: [pending('0xa')],
    given: { afterSeconds: 40, withdrawal: true },
    does: [],
  },
]

describe('the next action for an open transaction', () => {
  for (const { when, entry = open, seen, given, does } of cases) {
    it(`is ${does.length === 0 ? 'nothing' : does.join(' and ')} when ${when}`, () => {
      expect(actionsOf(entry, seen, given)).to.deep.equal(does)
    })
  }

  it('repeats an action at every poll until it has happened', () => {
    const stuck = observed([pending('0xa', { underpriced: true })], { afterSeconds: 10 })
    const first = advance(open, stuck)
    expect(advance(first.entry, stuck).actions.map(said)).to.deep.equal(['bump 0xa'])
  })
})

describe('the final state of a transaction', () => {
  const dead: AttemptStatus = { id: '0xa', is: 'dead', by: '0xf' }
  const counted: AttemptStatus = { id: '0xa', is: 'dead' }
  const through = (entry: Entry, polls: readonly LifecycleInput[]) => polls.reduce((current, poll) => advance(current, poll).entry, entry)

  it('names the transaction that took the nonce of a dead one', () => {
    const end = through(open, [observed([dead]), observed([dead])])
    expect(end).to.include({ state: 'DROPPED' })
    expect(end.reason).to.contain('0xf')
  })

  it('needs many polls over as many blocks as confirmations, if only the account nonce tells', () => {
    const at = (block: number) => observed([counted], { block })
    expect(through(open, [at(100), at(101), at(102), at(103)]).state).to.equal('BROADCAST')
    expect(through(open, [at(100), at(100), at(100), at(100), at(100), at(100)]).state).to.equal('BROADCAST')
    expect(through(open, [at(100), at(101), at(102), at(103), at(104)]).state).to.equal('DROPPED')
  })

  it('restarts the count whenever the transaction is seen alive', () => {
    const at = (block: number, status: AttemptStatus = counted) => observed([status], { block })
    const doubted = [at(100), at(101), at(102), at(103), at(104, unseen('0xa')), at(105), at(106), at(107), at(108)]
    expect(through(open, doubted).state).to.equal('BROADCAST')
  })

  it('stays open while one attempt may be alive', () => {
    const partly = observed([dead])
    expect(through(bumped, [partly, partly, partly]).state).to.equal('BROADCAST')
    const both = observed([dead, { id: '0xb', is: 'dead', by: '0xf' }])
    expect(through(bumped, [both, both]).state).to.equal('DROPPED')
  })

  it('waits for another poll if two attempts seem to be in a block', () => {
    const both = observed([landed('0xa', { depth: 9 }), landed('0xb', { depth: 9 })])
    expect(through(bumped, [both]).state).to.equal('MINED')
    expect(through(bumped, [both, observed([landed('0xb', { depth: 9 }), unseen('0xa')])])).to.deep.include({ state: 'CONFIRMED' })
  })

  it('waits for another poll if a competing transaction seems to be in a block, too', () => {
    const competing = { txHash: '0xc', kind: 'cancel' as const, rank: 1, final: true }
    const both = { ...observed([landed('0xa', { depth: 9 })]), competing }
    expect(through(open, [both, both]).state).to.equal('MINED')
    expect(through(open, [both, { ...observed([unseen('0xa')]), competing }]).state).to.equal('CANCELLED')
    expect(through({ ...open, replacedBy: '0xc' }, [both])).to.include({ state: 'MINED', replacedBy: '0xc' })
    expect(through(open, [both, observed([landed('0xa', { depth: 9 })])])).to.include({ state: 'CONFIRMED', replacedBy: undefined })
  })

  it('takes the receipt of its new block, even if a reorganisation gave it the same number', () => {
    const first = through(open, [observed([landed('0xa')])])
    const second = through(first, [observed([landed('0xa', { blockHash: '0x77' })])])
    expect(second.landed?.receipt).to.deep.equal({ of: '0xa', in: '0x77' })
  })

  it('follows reorganisations to another attempt, to a competing transaction, and back', () => {
    const competing = { txHash: '0xc', kind: 'cancel' as const, rank: 1, final: false }
    const polls = [
      observed([unseen('0xa'), landed('0xb')]),
      observed([landed('0xa'), unseen('0xb')]),
      { ...observed([unseen('0xa'), unseen('0xb')]), competing },
      observed([landed('0xa', { depth: 2 }), unseen('0xb')]),
    ]
    const states: unknown[] = []
    let entry: Entry = { ...bumped, replacedBy: '0xc' }
    for (const poll of polls) {
      entry = advance(entry, poll).entry
      states.push([entry.state, entry.landed?.id])
    }
    expect(states).to.deep.equal([
      ['MINED', '0xb'],
      ['MINED', '0xa'],
      ['BROADCAST', undefined],
      ['MINED', '0xa'],
    ])
  })

  it('keeps the reason of a failure until a reorganisation removes it', () => {
    const failed = through(open, [observed([landed('0xa', { ok: false, reason: 'too late' })])])
    expect(failed.reason).to.equal('too late')
    expect(through(failed, [observed([landed('0xa', { ok: false, depth: 3 })])])).to.include({ state: 'REVERTED', reason: 'too late' })
    expect(through(failed, [observed([unseen('0xa')])]).reason).to.equal(undefined)
  })

  it('keeps the reason of a cancel until the cancel is final', () => {
    const cancelled = { ...open, replacedBy: '0xc', reason: 'Its deadline passed.' }
    const competing = { txHash: '0xc', kind: 'cancel' as const, rank: 1, final: true }
    const end = through(cancelled, [observed([pending('0xa')]), { ...observed([unseen('0xa')]), competing }])
    expect(end).to.include({ state: 'CANCELLED', replacedBy: '0xc', reason: 'Its deadline passed.' })
  })
})

describe('how long attempts wait', () => {
  const hourMs = 3_600_000
  /** A server of this process. Only its steady clock counts. */
  function server() {
    const clock = { steadyMs: 40 * hourMs }
    return { clock, times: createAttemptTimes(() => clock.steadyMs) }
  }

  it('counts from when this server signed and sent them', () => {
    const { clock, times } = server()
    times.signed('0xa')
    clock.steadyMs += 2_000
    times.sent('0xa')
    clock.steadyMs += 5_000
    expect(times.of({ id: '0xa' })).to.deep.equal({ signedMs: 7_000, sentMs: 5_000 })
  })

  for (const [whose, aheadMs] of [
    ['26 hours ahead', 26 * hourMs],
    ['26 hours behind', -26 * hourMs],
  ] as const)
    it(`does not depend on the clock that another server signed them by, ${whose}`, () => {
      const { clock, times } = server()
      const at = Date.now() + aheadMs
      const entry = { ...open, attempts: [attempt('0xa', { signedAt: at, sentAt: at })] }
      const poll = (seen: AttemptStatus) => {
        const input = { ...observed([seen]), waited: (each: Attempt) => times.of(each) }
        return advance(entry, input).actions.map(said)
      }
      // Its fees are not raised before it has waited here, whatever the journal says.
      expect(poll(pending('0xa', { underpriced: true }))).to.deep.equal([])
      // The same bytes may always be sent again.
      expect(poll(unseen('0xa'))).to.deep.equal(['send 0xa'])
      clock.steadyMs += bumpAfterSeconds * seconds
      expect(poll(pending('0xa', { underpriced: true }))).to.deep.equal(['bump 0xa'])
    })

  it('begins anew for what was forgotten', () => {
    const { clock, times } = server()
    times.signed('0xa')
    times.forget([{ id: '0xa' }])
    clock.steadyMs += 5_000
    expect(times.of({ id: '0xa' })).to.deep.equal({ signedMs: 0, sentMs: Infinity })
  })
})

describe('any sequence of observations', () => {
  const ids = ['0xa', '0xb']
  const status = (id: string) =>
    option(
      oneof(
        record({ id: constant(id), is: constant('unseen' as const), underpriced: boolean() }),
        record({ id: constant(id), is: constant('pending' as const), underpriced: boolean(), next: boolean() }),
        record({
          id: constant(id),
          is: constant('landed' as const),
          ok: boolean(),
          blockNumber: nat(5),
          depth: integer({ min: 1, max: 4 }),
          receipt: constant(null),
        }),
        record({ id: constant(id), is: constant('dead' as const), by: option(constant('0xf'), { nil: undefined }) }),
      ),
      { nil: undefined },
    )
  const poll = record({
    seen: record({ a: status('0xa'), b: status('0xb') }),
    afterSeconds: nat(200),
    chainTime: nat(2_000),
    block: nat(50),
    competing: option(
      record({ txHash: constant('0xc'), kind: constant('cancel' as const), rank: integer({ min: -1, max: 1 }), final: boolean() }),
      {
        nil: undefined,
      },
    ),
  })
  const given = record({
    replacedBy: option(constant('0xc'), { nil: undefined }),
    feesGiven: boolean(),
    deadline: option(constant(1_000), { nil: undefined }),
  })

  it('never leaves a final state, reaches one only for a reason, and asks for no action then', () => {
    assert(
      property(given, array(poll, { maxLength: 12 }), (more, polls) => {
        let entry: Entry = { ...bumped, ...more }
        for (const { seen, competing, ...rest } of polls) {
          const statuses = [seen.a, seen.b].flatMap((each) => each ?? [])
          const before = entry
          const step = advance(entry, { ...observed(statuses, rest), ...(competing && { competing }) })
          entry = step.entry
          if (isFinal(before)) expect(entry).to.equal(before)
          if (isFinal(entry)) expect(step.actions).to.deep.equal([])
          const ended = isFinal(entry) && !isFinal(before)
          const allowed: Partial<Record<TransactionState, boolean>> = {
            CONFIRMED: statuses.some((each) => each.is === 'landed' && each.ok && each.depth >= 3),
            REVERTED: statuses.some((each) => each.is === 'landed' && !each.ok && each.depth >= 3),
            CANCELLED: competing?.final === true && competing.rank >= 0,
            OVERTAKEN: competing?.final === true && competing.rank < 0,
            DROPPED: before.deadLooks > 0 && statuses.every(({ is }) => is === 'dead') && statuses.length === ids.length,
          }
          if (ended) expect(allowed[entry.state], entry.state).to.equal(true)
          if (entry.replacedBy !== undefined || entry.landed) expect(step.actions).to.deep.equal([])
          if (more.feesGiven) expect(step.actions.some((action) => action.do === 'bump')).to.equal(false)
          if (statuses.some(({ is }) => is === 'landed')) expect(isFinal(before) || entry.landed !== undefined).to.equal(true)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
