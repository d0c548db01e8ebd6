import { expect } from 'chai'
import { createComparisons, type MinedComparison } from '../../../core/transactions/comparisons.ts'
import type { Entry } from '../../../core/transactions/entry.ts'

const landed = { id: '0x1', ok: true, blockNumber: 7, blockHash: '0xa', receipt: {} }
const entryOf = (state: Entry['state'], more: Partial<Entry> = {}): Entry =>
  ({ key: 'one', state, landed, bounds: {}, attempts: [], connector: 'trap', ...more }) as unknown as Entry

describe('mined transactions that are compared with their plans', () => {
  let nowMs: number
  let warned: string[]
  let compared: string[]
  beforeEach(() => {
    ;[nowMs, warned, compared] = [0, [], []]
  })
  const comparing = (compare: MinedComparison) =>
    createComparisons(compare, { log: { info: () => {}, warn: (_, text) => void warned.push(text ?? '') }, steadyMs: () => nowMs })
  const noting: MinedComparison = ({ key, landed: at, bounds }) => bounds && (async () => void compared.push(`${key} ${at?.blockHash}`))
  const [mined, confirmed] = [entryOf('MINED'), entryOf('CONFIRMED')]

  it('need one comparison for each block, from first sight on, and none while they wait, or where they failed or have no bounds', async () => {
    const comparisons = comparing(noting)
    await comparisons.begin([
      mined,
      entryOf('BROADCAST', { key: 'two' }),
      entryOf('REVERTED', { key: 'three', landed: { ...landed, ok: false } }),
      entryOf('MINED', { key: 'four', bounds: undefined }),
    ])
    await comparisons.begin([mined])
    await comparisons.begin([confirmed])
    expect(comparisons.settle(mined, confirmed)).to.equal(confirmed)
    expect(compared).to.deep.equal(['one 0xa'])
    const elsewhere = { ...landed, blockHash: '0xb' }
    await comparisons.begin([entryOf('MINED', { landed: elsewhere })])
    expect(compared).to.deep.equal(['one 0xa', 'one 0xb'])
  })

  it('become final only after the comparison, also where an earlier server saw them first', async () => {
    let isBack = false
    const comparisons = comparing((entry) => async () => {
      if (!isBack) throw new Error('the node has no answer')
      await noting(entry)?.()
    })
    await comparisons.begin([confirmed])
    expect(comparisons.settle(entryOf('BROADCAST', { landed: undefined }), confirmed)).to.deep.equal(mined)
    expect(comparisons.settle(mined, confirmed), 'nothing is written').to.equal(mined)
    isBack = true
    await comparisons.begin([confirmed])
    expect(comparisons.settle(mined, confirmed)).to.equal(confirmed)
    expect(compared).to.deep.equal(['one 0xa'])
  })

  it('become final half a minute later all the same, which is said: a node that does not know must not keep a nonce', async () => {
    const comparisons = comparing(() => () => Promise.reject(new Error('no old balances')))
    // The time in which it waits for its confirmations does not count.
    await comparisons.begin([mined])
    nowMs = 100_000
    await comparisons.begin([confirmed])
    expect(comparisons.settle(mined, confirmed)).to.equal(mined)
    nowMs = 129_999
    expect(comparisons.settle(mined, confirmed)).to.equal(mined)
    nowMs = 130_000
    expect(comparisons.settle(mined, confirmed)).to.equal(confirmed)
    expect(warned).to.deep.equal(['transaction is final, and what it did to the wallet could not be read'])
  })
})
