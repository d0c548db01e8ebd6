import { expect } from 'chai'
import { createNodeLimits } from '../../../kits/nodes/limits.ts'

const silent = { info() {}, warn() {} }
const hourMs = 3_600_000

describe('what a node takes at most', () => {
  it('grows to twice the size after an hour, and so on where the node takes it', () => {
    let now = 0
    const limits = createNodeLimits('node', silent, () => now)
    expect(limits.max('eth_getLogs')).to.equal(Infinity)
    expect(limits.refused('eth_getLogs', 10_000, 'block range is too wide')).to.equal(5_000)
    now += hourMs - 1
    expect(limits.max('eth_getLogs')).to.equal(5_000)
    now += 1
    expect(limits.max('eth_getLogs')).to.equal(10_000)
    limits.took('eth_getLogs', 10_000)
    expect(limits.learned()).to.deep.equal({ eth_getLogs: 10_000 })
    expect(limits.max('eth_getLogs')).to.equal(20_000)
  })

  it('stays for another hour where the node refuses more still', () => {
    let now = 0
    const limits = createNodeLimits('node', silent, () => now)
    limits.refused('batch', 20, 'Batch of more than 3 requests are not allowed')
    now += hourMs
    expect(limits.max('batch')).to.equal(6)
    expect(limits.refused('batch', 6, 'Batch of more than 3 requests are not allowed')).to.equal(3)
    now += hourMs - 1
    expect(limits.max('batch')).to.equal(3)
    now += 1
    expect(limits.max('batch')).to.equal(6)
  })

  it('does not drop after a refusal of more than it is already known to be', () => {
    const limits = createNodeLimits('node', silent, () => 0)
    limits.refused('batch', 100, 'batch too large')
    expect(limits.refused('batch', 100, 'batch too large')).to.equal(50)
    expect(limits.refused('batch', 50, 'batch too large')).to.equal(25)
  })

  it('that was refused although as much was taken before is asked for again after a second', () => {
    let now = 0
    const limits = createNodeLimits('node', silent, () => now)
    limits.took('eth_getLogs', 5_000)
    expect(limits.refused('eth_getLogs', 2, 'query returned more than 10000 results')).to.equal(1)
    expect(limits.max('eth_getLogs')).to.equal(1)
    now += 1_000
    expect(limits.max('eth_getLogs')).to.equal(5_000)
    limits.took('eth_getLogs', 5_000)
    expect(limits.max('eth_getLogs')).to.equal(Infinity)
    expect(limits.learned()).to.deep.equal({})
  })

  it('gets fewer and fewer trials while the node refuses, and twice the size after an hour', () => {
    let now = 0
    const limits = createNodeLimits('node', silent, () => now)
    limits.took('batch', 20)
    expect(limits.refused('batch', 20, 'Batch of more than 3 requests are not allowed')).to.equal(3)
    let refusals = 0
    for (; now < hourMs; now += 500) {
      if (limits.max('batch') === 3) continue
      expect(limits.refused('batch', 20, 'Batch of more than 3 requests are not allowed')).to.equal(3)
      refusals += 1
    }
    expect(refusals).to.be.within(9, 12)
    expect(limits.learned()).to.deep.equal({ batch: 3 })
    now += hourMs
    expect(limits.max('batch')).to.equal(6)
  })

  it('depends only on what was taken in the last hour', () => {
    let now = 0
    const limits = createNodeLimits('node', silent, () => now)
    limits.took('batch', 20)
    now += hourMs
    limits.refused('batch', 20, 'batch requests are not allowed')
    now += 1_000
    expect(limits.max('batch')).to.equal(10)
  })
})
