import { expect } from 'chai'
import { createRecentBlocks } from '../../../kits/evm/recent-blocks.ts'
import type { ReadRpc } from '../../../kits/nodes/rpc.ts'
import { abortable } from '../../../core/base/async.ts'

/** Nodes that answer when the test says so, and stop when their caller does. */
function slowNodes() {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  let questions = 0
  const rpc: ReadRpc = {
    request: () => Promise.reject(new Error('not asked')),
    async batch(calls, { signal }) {
      questions += calls.length
      await abortable(answered, signal)
      return calls.map(() => ({ result: null }))
    },
    url: () => 'node',
    markUnhealthy() {},
  }
  return { rpc, answer: () => answer(), questions: () => questions }
}

describe('blocks that several callers read', () => {
  it('keep loading for the others when the deadline of the first caller is over', async () => {
    const { rpc, answer, questions } = slowNodes()
    const blocks = createRecentBlocks(rpc, 2)
    const [first, second] = [new AbortController(), new AbortController()]
    const ofFirst = blocks.read([7n], first).catch((error: unknown) => error)
    const ofSecond = blocks.read([7n], second)
    first.abort()
    expect(await ofFirst).to.equal(first.signal.reason)
    answer()
    expect(await ofSecond).to.deep.equal([{ result: null }])
    expect(questions()).to.equal(1)
  })
})
