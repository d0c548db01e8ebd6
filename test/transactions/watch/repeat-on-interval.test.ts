import { expect } from 'chai'
import { repeatOnInterval } from '../../../core/transactions/watcher.ts'

/** Numbers as fast as they are asked for; says when it was told to end. */
async function* numbers(ended: { yes: boolean }): AsyncGenerator<number> {
  try {
    for (let number = 1; ; number += 1) yield number
  } finally {
    ended.yes = true
  }
}

async function* once(signal: AbortSignal): AsyncGenerator<string> {
  yield 'head'
  await new Promise<void>((done) => signal.addEventListener('abort', () => done()))
}

describe('repeating a value on an interval', () => {
  it('yields the last value again if there is no new one', async () => {
    const end = new AbortController()
    const seen: string[] = []
    for await (const value of repeatOnInterval(once(end.signal), 5)) {
      seen.push(value)
      if (seen.length === 3) end.abort()
    }
    expect(seen.slice(0, 3)).to.deep.equal(['head', 'head', 'head'])
  })

  it('ends its source when nobody listens any more, even if a value is ready', async () => {
    const ended = { yes: false }
    for await (const value of repeatOnInterval(numbers(ended), 1_000)) {
      await new Promise((done) => setTimeout(done, 5))
      if (value === 2) break
    }
    await new Promise((done) => setTimeout(done, 5))
    expect(ended.yes).to.equal(true)
  })
})
