import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import { ClientLoad, createFairQueue } from '../../core/http/fair-queue.ts'

/** A queue whose clock and turns of the event loop are the test's. */
function openQueue({ maxInFlight = 1_000, maxWaitMs = 1_000 } = {}) {
  let nowMs = 0
  const turns: (() => void)[] = []
  const queue = createFairQueue({ maxInFlight, maxWaitMs, now: () => nowMs, nextTurn: (run) => void turns.push(run) })
  const started: string[] = []
  const request = (client: ClientLoad, isAbandoned = false) => ({ client, isAbandoned })
  return {
    queue,
    started,
    request,
    pass: (ms: number) => (nowMs += ms),
    /** Sends requests that take so long each. */
    send(name: string, client: ClientLoad, count: number, ms: number) {
      for (let each = 0; each < count; each += 1)
        void queue.run(request(client), () => {
          started.push(name)
          nowMs += ms
        })
    },
    turn: () => turns.splice(0).forEach((run) => run()),
  }
}

async function nameOf(answer: () => unknown): Promise<string> {
  try {
    await answer()
    return 'answered'
  } catch (error) {
    return error instanceof SluiceError ? error.name : String(error)
  }
}

describe('the queue of requests', () => {
  it('starts one of another certificate at once, whatever a busy one has waiting, and then one by turns', () => {
    const { send, started, turn } = openQueue()
    const [busy, other] = [new ClientLoad(256), new ClientLoad(256)]
    send('busy', busy, 1_000, 0.1)
    const first = started.length
    expect(first).to.be.within(1, 20)
    send('other', other, 1, 0.1)
    expect(started).to.have.length(first + 1)
    expect(started.at(-1)).to.equal('other')
    send('other', other, 100, 0.1)
    while (started.filter((name) => name === 'other').length < 50) turn()
    expect(started.filter((name) => name === 'busy').length).to.be.lessThan(first + 50)
    for (let turns = 0; turns < 1_000 && started.length < 1_101; turns += 1) turn()
    expect(started).to.have.length(1_101)
  })

  it('starts a ping at once, whatever its certificate and the server have in flight and waiting', () => {
    const { queue, request, started } = openQueue({ maxInFlight: 10 })
    const busy = new ClientLoad(10)
    const never = () => new Promise<void>(() => {})
    for (let each = 0; each < 50; each += 1) void queue.run(request(busy), never)
    void queue.run(request(busy), () => void started.push('ping'), true)
    expect([started, queue.inFlight, busy.waiting.length]).to.deep.equal([['ping'], 10, 40])
  })

  it('starts a ping in the next turn, before all that waits, where its certificate has used its time of this one', () => {
    const { queue, request, started, send, turn } = openQueue()
    const client = new ClientLoad(256)
    send('request', client, 100, 5)
    void queue.run(request(client), () => void started.push('ping'), true)
    expect(started).to.deep.equal(['request'])
    turn()
    expect(started.slice(0, 2)).to.deep.equal(['request', 'ping'])
  })

  it('takes no more than sixteen pings of one certificate past its requests', () => {
    const { queue, request, started } = openQueue()
    const client = new ClientLoad(2)
    for (let each = 0; each < 30; each += 1)
      void queue.run(
        request(client),
        () => {
          started.push('ping')
          return new Promise<void>(() => {})
        },
        true,
      )
    expect(started).to.have.length(16 + 2)
    expect([client.pings, client.inFlight, client.waiting.length]).to.deep.equal([16, 2, 12])
  })

  it('counts pings that have ended, also by an error, no more', async () => {
    const { queue, request, pass, turn } = openQueue()
    const client = new ClientLoad(2)
    const failing = () => {
      pass(5)
      throw new SluiceError('NETWORK', 'It is away.')
    }
    expect(await nameOf(() => queue.run(request(client), failing, true))).to.equal('NETWORK')
    const second = nameOf(() => queue.run(request(client), failing, true))
    turn()
    expect(await second).to.equal('NETWORK')
    turn()
    expect(await nameOf(() => queue.run(request(client), async () => 'here', true))).to.equal('answered')
    expect(client.pings).to.equal(0)
  })

  it('keeps the order of one certificate, and reads sockets again after some time', () => {
    const { queue, request, pass, turn } = openQueue()
    const client = new ClientLoad(256)
    const order: number[] = []
    for (let each = 0; each < 100; each += 1)
      void queue.run(request(client), () => {
        order.push(each)
        pass(0.3)
      })
    let most = 0
    for (let turns = 0; turns < 1_000 && order.length < 100; turns += 1) {
      const before = order.length
      turn()
      most = Math.max(most, order.length - before)
    }
    expect(order).to.deep.equal(Array.from({ length: 100 }, (_, each) => each))
    expect(most).to.be.within(1, 5)
  })

  it('lets a certificate have so many in flight, and more wait until some have ended', async () => {
    const { queue, request, turn } = openQueue()
    const [one, other] = [new ClientLoad(2), new ClientLoad(2)]
    const ends: (() => void)[] = []
    const work = () => new Promise<void>((resolve) => ends.push(resolve))
    const answers = [1, 2, 3].map(() => queue.run(request(one), work))
    turn()
    expect([ends.length, queue.inFlight]).to.deep.equal([2, 2])
    const others = queue.run(request(other), work)
    expect(ends).to.have.length(3)
    ends[0]?.()
    await answers[0]
    turn()
    expect(ends).to.have.length(4)
    for (const end of ends) end()
    await Promise.all([...answers, others])
    await nameOf(() => queue.run(request(one), () => Promise.reject(new Error('x'))))
    expect(() => queue.run(request(one), () => expect.fail('at once'))).to.throw('at once')
    expect(queue.inFlight).to.equal(0)
  })

  it('refuses with 1002 what is more than eight times as many, and with 1027 what is more than the server may have in flight', async () => {
    const { queue, request } = openQueue({ maxInFlight: 2 })
    const [one, other, third] = [new ClientLoad(1), new ClientLoad(1), new ClientLoad(1)]
    const never = () => new Promise(() => {})
    for (let each = 0; each < 9; each += 1) void queue.run(request(one), never)
    expect(await nameOf(() => queue.run(request(one), never))).to.equal('RATE_LIMIT')
    void queue.run(request(other), never)
    const refused = await Promise.resolve()
      .then(() => queue.run(request(third), never))
      .catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(SluiceError).and.to.include({ name: 'OVERLOADED', http: 503, retryAfterSeconds: 1 })
  })

  it('starts what waited for a place of the server, not of its certificate', async () => {
    const { queue, request, pass, turn } = openQueue({ maxInFlight: 2 })
    const [one, other] = [new ClientLoad(2), new ClientLoad(2)]
    const ends: (() => void)[] = []
    const first = queue.run(request(one), () => {
      pass(10)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
    const second = queue.run(request(one), () => 'second')
    void queue.run(request(other), () => new Promise(() => {}))
    turn()
    ends[0]?.()
    await first
    turn()
    expect(await second).to.equal('second')
  })

  it('does nothing for what waited too long or has no caller any more', async () => {
    const { queue, request, pass, turn } = openQueue({ maxWaitMs: 1_000 })
    const client = new ClientLoad(256)
    const wait = (isAbandoned: boolean) => {
      void queue.run(request(client), () => pass(10))
      return nameOf(() => queue.run(request(client, isAbandoned), () => expect.fail('it was started')))
    }
    const abandoned = wait(true)
    turn()
    const late = wait(false)
    pass(1_001)
    turn()
    expect(await Promise.all([abandoned, late])).to.deep.equal(['OVERLOADED', 'OVERLOADED'])
  })
})
