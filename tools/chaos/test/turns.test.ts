import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRecorder, type Call } from '../history.ts'
import { randomOf } from '../random.ts'
import { turnsBetween } from '../scenarios/hummingbot.ts'

const lost: Call['outcome'] = { is: 'lost', reason: 'socket hang up' }
const answer: Call['outcome'] = { is: 'answer', status: 200, text: '{}' }
/** Some looks. */
const looksMs = 100

describe('the time between two faults of Hummingbot’s bots', () => {
  const underWay = 16
  let recorder: ReturnType<typeof createRecorder>
  let calls: { underWay: number }
  let isOver: boolean

  beforeEach(() => {
    recorder = createRecorder()
    calls = { underWay }
    isOver = false
  })

  const end = (outcome: Call['outcome'], count: number) => {
    for (let index = 0; index < count; index += 1) recorder.calls.push({ request: 1, requestId: 'call', sentAt: 0, endedAt: 1, outcome })
  }
  function begin(over = new AbortController().signal): Promise<unknown> {
    const pause = turnsBetween({ recorder }, calls, [1, 1])
    return pause(randomOf('any'), over).then(() => (isOver = true))
  }

  it('lasts until as many answers have come as calls were under way, whatever was lost', async () => {
    const over = begin()
    end(lost, 10 * underWay)
    end(answer, underWay - 1)
    // As after a cut.
    calls.underWay = 1
    await sleep(looksMs)
    expect(isOver).to.equal(false)
    end(answer, 1)
    await over
  })

  it('ends with the run', async () => {
    const run = new AbortController()
    const over = begin(run.signal)
    run.abort()
    await over
  })
})
