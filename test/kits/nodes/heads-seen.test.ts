import { expect } from 'chai'
import { array, assert, integer, nat, property, record } from 'fast-check'
import { createHeadTracker, nodesOnMinorityForks } from '../../../kits/nodes/node-ranking.ts'

const reportTtlMs = 1000
const rollbackAfterMs = 500
const block = (number: number, branch = '') => ({ number, hash: `${branch}${number}`, timestamp: number * 12 })
const at = (ms: number, givenOut = true) => ({ askedMs: ms, answeredMs: ms + 1, givenOut })

describe('the head tracker', () => {
  let seen: ReturnType<typeof createHeadTracker<string>>
  beforeEach(() => {
    seen = createHeadTracker<string>({ maxLagBlocks: 3, maxLagSeconds: 5, reportTtlMs, rollbackAfterMs })
  })

  it('reports a lag beyond the tolerance until the node has caught up', () => {
    seen.record('good', block(10), at(0))
    seen.record('late', block(6), at(10))
    expect(seen.isLagging('late')).to.equal(true)
    expect(seen.lag('late')).to.deep.equal({ blocks: 4, seconds: 48 })
    seen.record('late', block(7), at(20))
    expect(seen.isLagging('late')).to.equal(false)
    expect(seen.lag('late').blocks).to.equal(3)
  })

  it('reports no lag where many blocks are made in a short time', () => {
    seen.record('good', { ...block(100), timestamp: 5 }, at(0))
    seen.record('other', { ...block(90), timestamp: 0 }, at(10))
    expect(seen.isLagging('other')).to.equal(false)
  })

  it('compares a node only with what was known when it was asked', () => {
    seen.record('good', block(10), { askedMs: 0, answeredMs: 50, givenOut: true })
    seen.record('slow', block(5), { askedMs: 40, answeredMs: 60, givenOut: true })
    expect(seen.lag('slow').blocks).to.equal(0)
  })

  it('forgets the report of a node after a while', () => {
    seen.record('liar', block(1_000_000), at(0))
    seen.record('good', block(10), at(reportTtlMs + 10))
    expect(seen.isLagging('good')).to.equal(false)
    expect(seen.behind(10)).to.equal(0)
  })

  it('detects an answer that is older than one given out before, by any node', () => {
    seen.record('a', block(10), at(0))
    seen.record('b', block(9), at(10))
    expect(seen.behind(9)).to.equal(1)
    seen.record('a', block(8), at(20))
    expect(seen.behind(8)).to.equal(2)
    seen.record('b', block(10), at(30))
    expect(seen.behind(10)).to.equal(0)
  })

  it('does not count a head that only a probe has seen as given out', () => {
    seen.record('a', block(10), at(0))
    seen.record('b', block(12), at(10, false))
    expect(seen.behind(10)).to.equal(0)
  })

  it('treats a lower head of another branch as a reorganisation, unless its node lags', () => {
    for (const number of [8, 9, 10]) seen.record('a', block(number), at(number))
    seen.record('a', block(9, 'other '), at(20))
    expect(seen.behind(9)).to.equal(0)
    for (const number of [10, 11, 12, 13, 14, 15]) seen.record('a', block(number, 'other '), at(20 + number))
    seen.record('late', block(9, 'third '), at(50))
    expect(seen.behind(9)).to.equal(6)
  })

  it('accepts a lower head after a while', () => {
    seen.record('a', block(10), at(0))
    for (let ms = 100; ms < rollbackAfterMs; ms += 100) {
      seen.record('a', block(7), at(ms))
      expect(seen.behind(7), `after ${ms} ms`).to.equal(3)
    }
    seen.record('a', block(7), at(rollbackAfterMs))
    expect(seen.behind(7)).to.equal(0)
  })

  it('does not accept a lower head while another node is ahead', () => {
    seen.record('a', block(10), at(0))
    for (let ms = 100; ms < reportTtlMs; ms += 100) seen.record('late', block(5), at(ms))
    expect(seen.behind(5)).to.equal(5)
    seen.record('late', block(5), at(reportTtlMs + 10))
    expect(seen.behind(5)).to.equal(0)
  })

  it('never reports a lag of the node with the highest head, in any order of reports', () => {
    const words = array(record({ node: nat(3), number: integer({ min: 0, max: 50 }) }), { minLength: 1, maxLength: 60 })
    assert(
      property(words, (said) => {
        const heads = createHeadTracker<number>({
          maxLagBlocks: 3,
          maxLagSeconds: 5,
          reportTtlMs: Number.POSITIVE_INFINITY,
          rollbackAfterMs: rollbackAfterMs,
        })
        const newest = new Map<number, number>()
        for (const [index, { node, number }] of said.entries()) {
          heads.record(node, block(number), at(index * 2))
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
