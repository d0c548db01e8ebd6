import { expect } from 'chai'
import { array, assert, integer, nat, property, record } from 'fast-check'
import { createHeadTracker, nodesOnMinorityForks } from '../../../kits/nodes/node-ranking.ts'

const memoryMs = 1000
const patienceMs = 500
const block = (number: number, branch = '') => ({ number, hash: `${branch}${number}`, timestamp: number * 12 })
const at = (ms: number, told = true) => ({ askedMs: ms, answeredMs: ms + 1, told })

describe('what nodes say of the head', () => {
  let seen: ReturnType<typeof createHeadTracker<string>>
  beforeEach(() => {
    seen = createHeadTracker<string>({ maxLagBlocks: 3, maxLagSeconds: 5, reportTtlMs: memoryMs, rollbackAfterMs: patienceMs })
  })

  it('makes a node lag that is further behind than the tolerance, until it has caught up', () => {
    seen.saw('good', block(10), at(0))
    seen.saw('late', block(6), at(10))
    expect(seen.isLagging('late')).to.equal(true)
    expect(seen.lag('late')).to.deep.equal({ blocks: 4, seconds: 48 })
    seen.saw('late', block(7), at(20))
    expect(seen.isLagging('late')).to.equal(false)
    expect(seen.lag('late').blocks).to.equal(3)
  })

  it('does not take blocks that are made in no time for a lag', () => {
    seen.saw('good', { ...block(100), timestamp: 5 }, at(0))
    seen.saw('other', { ...block(90), timestamp: 0 }, at(10))
    expect(seen.isLagging('other')).to.equal(false)
  })

  it('holds a node only against what was known when it was asked', () => {
    seen.saw('good', block(10), { askedMs: 0, answeredMs: 50, told: true })
    seen.saw('slow', block(5), { askedMs: 40, answeredMs: 60, told: true })
    expect(seen.lag('slow').blocks).to.equal(0)
  })

  it('forgets the word of a node that was not heard of for long', () => {
    seen.saw('liar', block(1_000_000), at(0))
    seen.saw('good', block(10), at(memoryMs + 10))
    expect(seen.isLagging('good')).to.equal(false)
    expect(seen.behind(10)).to.equal(0)
  })

  it('knows an answer that is older than what was told before, and who it was told by does not matter', () => {
    seen.saw('a', block(10), at(0))
    seen.saw('b', block(9), at(10))
    expect(seen.behind(9)).to.equal(1)
    seen.saw('a', block(8), at(20))
    expect(seen.behind(8)).to.equal(2)
    seen.saw('b', block(10), at(30))
    expect(seen.behind(10)).to.equal(0)
  })

  it('takes what only a probe saw for told to nobody', () => {
    seen.saw('a', block(10), at(0))
    seen.saw('b', block(12), at(10, false))
    expect(seen.behind(10)).to.equal(0)
  })

  it('takes a lower head of another branch for a reorganisation, unless its node lags', () => {
    for (const number of [8, 9, 10]) seen.saw('a', block(number), at(number))
    seen.saw('a', block(9, 'other '), at(20))
    expect(seen.behind(9)).to.equal(0)
    for (const number of [10, 11, 12, 13, 14, 15]) seen.saw('a', block(number, 'other '), at(20 + number))
    seen.saw('late', block(9, 'third '), at(50))
    expect(seen.behind(9)).to.equal(6)
  })

  it('believes a head that stays lower for long', () => {
    seen.saw('a', block(10), at(0))
    for (let ms = 100; ms < patienceMs; ms += 100) {
      seen.saw('a', block(7), at(ms))
      expect(seen.behind(7), `after ${ms} ms`).to.equal(3)
    }
    seen.saw('a', block(7), at(patienceMs))
    expect(seen.behind(7)).to.equal(0)
  })

  it('does not believe it while another node is known to be further', () => {
    seen.saw('a', block(10), at(0))
    for (let ms = 100; ms < memoryMs; ms += 100) seen.saw('late', block(5), at(ms))
    expect(seen.behind(5)).to.equal(5)
    seen.saw('late', block(5), at(memoryMs + 10))
    expect(seen.behind(5)).to.equal(0)
  })

  it('never finds the node with the highest head lagging, whatever the order in which they are heard', () => {
    const words = array(record({ node: nat(3), number: integer({ min: 0, max: 50 }) }), { minLength: 1, maxLength: 60 })
    assert(
      property(words, (said) => {
        const heads = createHeadTracker<number>({
          maxLagBlocks: 3,
          maxLagSeconds: 5,
          reportTtlMs: Number.POSITIVE_INFINITY,
          rollbackAfterMs: patienceMs,
        })
        const newest = new Map<number, number>()
        for (const [index, { node, number }] of said.entries()) {
          heads.saw(node, block(number), at(index * 2))
          newest.set(node, number)
          if (number === Math.max(...newest.values())) expect(heads.lag(node).blocks).to.equal(0)
          expect(heads.behind(number)).to.be.at.least(0)
        }
      }),
    )
  })
})

describe('nodes on different forks', () => {
  const forks = (...hashes: (string | undefined)[]) => [...nodesOnMinorityForks(new Map(hashes.map((hash, index) => [index, hash])))]

  for (const [title, hashes, others] of [
    ['are none where all agree', ['a', 'a', 'a'], []],
    ['are those that most do not agree with', ['b', 'a', 'a'], [0]],
    ["are settled by the operator's order where two forks have equally many", ['a', 'b'], [1]],
    ['do not include those that did not say', [undefined, 'a', undefined], []],
    ['are none where nobody said anything', [undefined, undefined], []],
  ] as const) {
    it(title, () => expect(forks(...hashes)).to.deep.equal(others))
  }
})
