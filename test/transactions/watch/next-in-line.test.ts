import { expect } from 'chai'
import type { AttemptStatus } from '../../../core/contracts/index.ts'
import { updateNextInLine, missedBlocks, type NextInLine } from '../../../core/transactions/lifecycle.ts'
import { attempt, newEntry } from '../journal/entries.ts'

const once = newEntry({ attempts: [attempt('0xa')] })
const twice = { ...once, attempts: [attempt('0xa'), attempt('0xb')] }
const pending = (id: string, next = true): AttemptStatus => ({ id, is: 'pending', underpriced: false, next })
const unseen = (id: string): AttemptStatus => ({ id, is: 'unseen', underpriced: false })

/** How many blocks leave it out by looks at these heads. */
function blocks(looks: readonly (readonly [number, readonly AttemptStatus[]])[], entry = once): number {
  const head = BigInt(looks.at(-1)?.[0] ?? 0)
  const since = looks.reduce<NextInLine>(
    (before, [number, seen]) => updateNextInLine(before, [entry], new Map(seen.map((each) => [each.id, each])), BigInt(number)),
    new Map(),
  )
  return missedBlocks(entry, since, head)
}

describe('the blocks that a transaction has missed', () => {
  it('count while it is next in line', () => {
    expect(blocks([[7, [pending('0xa')]]])).to.equal(0)
    expect(
      blocks([
        [7, [pending('0xa')]],
        [9, [pending('0xa')]],
      ]),
    ).to.equal(2)
  })

  it('do not count while others are before it, or while there are no blocks', () => {
    expect(
      blocks([
        [7, [pending('0xa', false)]],
        [9, [pending('0xa')]],
      ]),
    ).to.equal(0)
    expect(
      blocks([
        [7, [pending('0xa')]],
        [7, [pending('0xa')]],
      ]),
    ).to.equal(0)
  })

  it('restart after it was lost, and continue after a poll without an answer', () => {
    expect(
      blocks([
        [7, [pending('0xa')]],
        [8, [unseen('0xa')]],
        [9, [pending('0xa')]],
      ]),
    ).to.equal(0)
    expect(
      blocks([
        [7, [pending('0xa')]],
        [8, []],
        [9, [pending('0xa')]],
      ]),
    ).to.equal(2)
  })

  it('restart with every attempt, even if only an older one is at a node', () => {
    const one = updateNextInLine(new Map(), [once], new Map([['0xa', pending('0xa')]]), 7n)
    const seen = new Map([
      ['0xa', pending('0xa')],
      ['0xb', unseen('0xb')],
    ])
    const two = updateNextInLine(one, [twice], seen, 9n)
    expect(missedBlocks(twice, two, 9n)).to.equal(0)
    expect(missedBlocks(twice, updateNextInLine(two, [twice], seen, 12n), 12n)).to.equal(3)
  })
})
