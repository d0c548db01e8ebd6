import { expect } from 'chai'
import { createFollowed } from '../../core/store/followed.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('what the store says of something, for those who follow it', () => {
  it('is told in the order of its changes, however long a reading takes', async () => {
    let stored = 1
    const answers: (() => void)[] = []
    const read = () => {
      const found = { state: stored, text: String(stored) }
      return new Promise<typeof found>((resolve) => answers.push(() => resolve(found)))
    }
    const followed = createFollowed(read, 'not read', { warn: () => {} })
    const told: number[] = []
    const end = followed.follow((state) => told.push(state))
    stored = 2
    const changed = followed.refresh()
    // The newest question is answered first.
    for (let questions = 0; questions < 4; questions += 1) {
      answers.pop()?.()
      await turn()
    }
    await changed
    expect(told.at(-1)).to.equal(2)
    end()
  })
})
