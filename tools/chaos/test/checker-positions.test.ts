import { expect } from 'chai'
import { knownOf } from '../checker/known.ts'
import { checkPositions, type PositionFacts } from '../hummingbot/check-positions.ts'
import type { PositionLife } from '../hummingbot/position-bots.ts'
import type { PositionEvent } from '../hummingbot/position-facts.ts'
import { entry, history, mined, signed, wallet } from './made-history.ts'

const amountRaw = 7_000_000_000_000_000_003n
const [opening, closing, other] = [signed(0, 0n), signed(1, 0n), signed(2, 0n)]
const known = knownOf(
  history({
    mined: [mined(opening), mined(closing), mined(other)],
    journal: [
      entry('CONFIRMED', [opening], { requestId: 'open', idempotencyKey: 'once-open' }),
      entry('CONFIRMED', [closing], { requestId: 'close', idempotencyKey: 'once-close' }),
      entry('CONFIRMED', [other], { requestId: 'other', idempotencyKey: 'once-other' }),
    ],
  }),
)
const input = amountRaw.toString(16).padStart(64, '0')
const event = (is: PositionEvent['is'], { txHash }: { txHash: string }, raw: readonly [bigint, bigint] = [0n, 0n]): PositionEvent => ({
  txHash,
  is,
  tokenId: '5',
  raw,
  paidRaw: 21_000_000_000_000_001n,
  input: txHash === opening.txHash ? input : '',
  block: 1,
})
const opened = [event('minted', opening), event('added', opening, [amountRaw, 5_000_001n])]
const ended = [
  event('removed', closing, [amountRaw - 1n, 5_000_000n]),
  event('collected', closing, [amountRaw, 5_000_000n]),
  event('burnt', closing),
]
const told = {
  signature: closing.txHash,
  amounts: ['7.000000000000000002', '5'],
  fees: ['0.000000000000000001', '0'],
  paid: '0.021000000000000001',
} as const
const life: PositionLife = {
  id: 1,
  amountRaw,
  wallet,
  version: '2.17',
  wants: 'life',
  calls: [],
  booked: 'closed',
  position: '5',
  signature: opening.txHash,
  opened: { signature: opening.txHash, amounts: ['7.000000000000000003', '5.000001'], paid: '0.021000000000000001' },
  closed: [told],
}
const { closed: _, ...notClosed } = life

const found = (lives: readonly PositionLife[], events: readonly PositionEvent[], more: Partial<PositionFacts> = {}): string[] =>
  checkPositions({ lives, events, decimals: [18, 6], states: new Map(), reorganisations: [], ...more })(known).map(
    ({ invariant, what }) => `${invariant} ${what}`,
  )

const otherAmounts = 'I5 a close was told with other amounts than the chain has'

describe('the checker of positions without keys', () => {
  it('finds nothing where each bot knows its position and its end', () => {
    expect(found([life], [...opened, ...ended])).to.deep.equal([])
    expect(found([{ ...notClosed, booked: 'open', wants: 'nothing more' }], opened)).to.deep.equal([])
  })

  it('lets an answer that a standing line took be followed by one more open, and by no second one', () => {
    const { position: _position, signature: _signature, opened: _opened, ...unknown } = notClosed
    const taken = { is: 'lost', reason: 'socket hang up', unread: () => opening.txHash } as const
    const call = { does: 'open', sentAt: 1, endedAt: 2, requestId: 'open', outcome: taken } as const
    const forgotten = { ...unknown, calls: [call], booked: 'forgotten' } as const
    const states = new Map(['open', 'other', 'close'].map((name) => [`once-${name}`, name === 'open' ? 'delivered' : 'uncollected']))
    const again = (of: { txHash: string }) => ({ ...event('minted', of), tokenId: of.txHash, input })
    expect(found([forgotten], [...opened, again(other)], { states })).to.deep.equal([])
    expect(found([forgotten], [...opened, again(other), again(closing)], { states })).to.deep.equal([
      'I1 a position was opened more often than its bot knows',
    ])
    const { closed: _closed, opened: _told, ...rest } = life
    const answered = { ...rest, calls: [call], signature: other.txHash, position: '6', booked: 'gone' } as const
    const again6 = (is: PositionEvent['is']) => ({ ...event(is, other), tokenId: '6', input })
    const twice = [...opened, again6('minted'), again6('burnt')]
    const withFirst = (state: string) => found([answered], twice, { states: new Map([['once-open', state]]) })
    expect(withFirst('delivered')).to.deep.equal([])
    // Its server knew that nobody had read it: the second one should have had the same answer.
    for (const state of ['lost', 'uncollected', 'open'])
      expect(withFirst(state), state).to.deep.equal(['I1 a position was opened more often than its bot knows'])
  })

  it('lets a close be undone by a reorganisation, where it did nothing the second time, and else not', () => {
    const undone = knownOf(
      history({
        mined: [mined(opening), mined(closing)],
        journal: [entry('CONFIRMED', [opening], { requestId: 'open' }), entry('REVERTED', [closing], { requestId: 'close' })],
      }),
    )
    const outcome = { is: 'signature', signature: closing.txHash, isMined: true, text: '' } as const
    const answered: PositionLife = { ...life, calls: [{ does: 'close', sentAt: 10, endedAt: 11, requestId: 'close', outcome }] }
    const foundIn = (of: typeof known, reorganisations: PositionFacts['reorganisations']) =>
      checkPositions({ lives: [answered], events: opened, decimals: [18, 6], states: new Map(), reorganisations })(of).map(
        ({ what }) => what,
      )
    const orphaned = [
      'a bot booked its position as closed, and it is there',
      'a close was answered with a transaction that removed nothing',
    ]
    expect(foundIn(undone, [{ at: 10, from: 1 }])).to.deep.equal([])
    expect(foundIn(undone, [])).to.deep.equal(orphaned)
    expect(foundIn(known, [{ at: 10, from: 1 }])).to.deep.equal(orphaned)
    // One that was over before it was sent, and one of later blocks than its own.
    expect(foundIn(undone, [{ at: 9, from: 1 }])).to.deep.equal(orphaned)
    expect(foundIn(undone, [{ at: 10, from: 2 }])).to.deep.equal(orphaned)
  })

  it('finds amounts that are told wrong by their last digit', () => {
    const closedWith = (more: object) => found([{ ...life, closed: [{ ...told, ...more }] }], [...opened, ...ended])
    expect(closedWith({ amounts: ['7.000000000000000001', '5'] })).to.deep.equal([otherAmounts])
    expect(closedWith({ fees: ['0.000000000000000002', '0'] })).to.deep.equal([otherAmounts])
    expect(closedWith({ paid: '0.021000000000000002' })).to.deep.equal([otherAmounts])
    expect(closedWith({ amounts: ['none', '5'] })).to.deep.equal([otherAmounts])
    const openedWith = {
      ...life,
      opened: { signature: opening.txHash, amounts: ['7.000000000000000004', '5.000001'], paid: told.paid },
    } as const
    expect(found([openedWith], [...opened, ...ended])).to.deep.equal(['I5 an open was told with other amounts than the chain has'])
    // A receipt that was taken back since may have said them.
    expect(found([openedWith], [...opened, ...ended], { reorganisations: [{ at: 1, from: 1 }] })).to.deep.equal([])
  })

  it('finds a close that was answered without what it brought', () => {
    expect(found([{ ...notClosed, unsaid: [closing.txHash] }], [...opened, ...ended])).to.deep.equal([
      'I5 a close was answered without what it brought',
    ])
  })

  it('finds a position that is booked as closed and is there, that was closed twice, or that its bot could not close', () => {
    expect(found([{ ...notClosed, booked: 'gone' }], opened)).to.deep.equal(['I1 a bot booked its position as gone, and it is there'])
    expect(found([{ ...notClosed, booked: 'open' }], opened)).to.deep.equal(['I1 a bot could not close its position'])
    expect(found([life], [...opened, ...ended, event('removed', other)])).to.deep.equal(['I1 a position was closed twice'])
  })

  it('finds a position of which no bot knows, but for those of lost answers', () => {
    const { position: _position, signature: _signature, opened: _opened, ...unknown } = notClosed
    const lost = { ...unknown, booked: 'forgotten' } as const
    expect(found([lost], opened)).to.deep.equal(['I1 a position that no bot knows is not in the book of lost answers'])
    expect(found([lost], opened, { states: new Map([['once-open', 'lost']]) })).to.deep.equal([])
    expect(found([{ ...lost, booked: 'refused' }], opened, { states: new Map([['once-open', 'delivered']]) })).to.deep.equal([
      'I1 a position was opened though its bot was refused',
    ])
    expect(found([{ ...life, position: '6' }], [...opened, ...ended])).to.deep.equal([
      'I1 an open was answered with the position of another one',
    ])
    expect(found([life, { ...life, id: 2 }], [...opened, ...ended])).to.include('I1 two opens were answered with one transaction')
  })
})
