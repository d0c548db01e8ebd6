import { expect } from 'chai'
import { once, EventEmitter } from 'node:events'
import type { Life } from '../../core/contracts/index.ts'
import { startVenue } from '../../core/plugins/start-venue.ts'
import { keptLog } from './fixtures.ts'

const quick = { firstPauseMs: 1, maxPauseMs: 4, attemptMs: 30, stopMs: 30 }

function venue(implementation: Life) {
  const { log, lines } = keptLog()
  return { venue: { plugin: 'swap', chain: 'chain', network: 'mainnet', implementation, log }, lines }
}

describe('a venue', () => {
  it('becomes ready at once when it has nothing to start', () => {
    expect(startVenue(venue({}).venue).state).to.equal('ready')
  })

  it('keeps starting until its start succeeds, and tries again after each failure', async () => {
    let attempts = 0
    const { venue: failing, lines } = venue({
      start: async () => {
        attempts += 1
        if (attempts < 4) throw new Error('the node is away')
      },
    })

    const running = startVenue(failing, quick)
    expect(running.state).to.equal('starting')
    await running.settled

    expect(running.state).to.equal('ready')
    expect(running.lastError).to.equal(undefined)
    expect(attempts).to.equal(4)
    // Once, however often: the reason was the same.
    expect(lines.map(({ fields }) => fields)).to.deep.equal([{ chain: 'chain', network: 'mainnet', reason: 'the node is away' }])
  })

  it('shows why it is not ready yet', async () => {
    const events = new EventEmitter()
    const running = startVenue(
      venue({
        start: async () => {
          queueMicrotask(() => events.emit('tried'))
          throw new Error('the node is away')
        },
      }).venue,
      { ...quick, maxPauseMs: 1 },
    )

    await once(events, 'tried')
    await once(events, 'tried')

    expect(running).to.include({ state: 'starting', lastError: 'the node is away' })
    await running.stop()
  })

  it('starts on demand, with one attempt for each wake until it is ready', async () => {
    let attempts = 0
    const { venue: failing, lines } = venue({
      start: async () => {
        attempts += 1
        if (attempts < 3) throw new Error('the node is away')
      },
    })

    const running = startVenue(failing, { ...quick, onDemand: true })
    await running.settled
    expect(running).to.include({ state: 'idle', lastError: undefined })
    expect(attempts).to.equal(0)

    await Promise.all([running.wake(), running.wake()])
    expect(running).to.include({ state: 'idle', lastError: 'the node is away' })
    expect(attempts).to.equal(1)

    while (running.state !== 'ready') await running.wake()
    expect(attempts).to.equal(3)
    await running.wake()
    expect(attempts).to.equal(3)
    expect(lines).to.have.length(1)
  })

  it('does not start again within the pause after a failure, however often it is woken', async () => {
    let attempts = 0
    const start = async () => {
      attempts += 1
      throw new Error('the node is away')
    }
    const running = startVenue(venue({ start }).venue, { ...quick, onDemand: true, firstPauseMs: 10_000 })
    for (let times = 0; times < 5; times++) await running.wake()
    expect(attempts).to.equal(1)
    await running.stop()
    await running.wake()
    expect(running.state).to.equal('stopped')
  })

  it('abandons a start that never settles, aborts its signal, and tries again', async () => {
    const signals: AbortSignal[] = []
    const running = startVenue(
      venue({
        start: async (signal) => {
          signals.push(signal)
          if (signals.length === 1) await new Promise(() => {})
        },
      }).venue,
      quick,
    )

    await running.settled

    expect(running.state).to.equal('ready')
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, false])
  })

  it('treats a start that throws like one that rejects', async () => {
    let attempts = 0
    const running = startVenue(
      venue({
        start: () => {
          attempts += 1
          if (attempts === 1) throw new Error('not even a promise')
          return Promise.resolve()
        },
      }).venue,
      quick,
    )

    await running.settled

    expect(running.state).to.equal('ready')
  })

  it('stops while it is starting, and does not start again', async () => {
    let attempts = 0
    let given: AbortSignal | undefined
    const running = startVenue(
      venue({
        start: async (signal) => {
          attempts += 1
          given = signal
          await new Promise(() => {})
        },
      }).venue,
      { ...quick, attemptMs: 60_000 },
    )

    await running.stop()
    await running.settled

    expect(running.state).to.equal('stopped')
    expect(given?.aborted).to.equal(true)
    expect(attempts).to.equal(1)
  })

  it("stops within its time although the plugin's stop hangs or throws", async () => {
    const { venue: endless, lines } = venue({ stop: () => new Promise(() => {}) })
    const { venue: throwing, lines: more } = venue({ stop: () => Promise.reject(new Error('no')) })

    await startVenue(endless, quick).stop()
    await startVenue(throwing, quick).stop()

    expect(lines[0]?.message).to.equal('stop failed, going on without it')
    expect(more[0]?.fields).to.include({ reason: 'no' })
  })
})
