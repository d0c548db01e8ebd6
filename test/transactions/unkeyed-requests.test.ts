import { expect } from 'chai'
import type { DeliveryRow } from '../../core/store/tables.ts'
import { createUnkeyedRequests } from '../../core/transactions/unkeyed-requests.ts'

describe('requests without a key that a process answers', () => {
  const rowOf = (id: string) => ({ id, server: 's1', joins: 0 }) as unknown as DeliveryRow

  function followed(id: string) {
    const requests = createUnkeyedRequests()
    let tell = (_isDelivered: boolean): void => {}
    const delivered = new Promise<boolean>((resolve) => (tell = resolve))
    const request = requests.follow({ interface: 'one', client: 'bot', requestId: 'r1', delivered }, 'f1')
    request.hold(rowOf(id))
    async function leave(): Promise<void> {
      tell(false)
      await delivered
      await Promise.resolve()
    }
    return { requests, request, leave }
  }

  it('are known to be gone at once, as long as something may be done for them', async () => {
    const { requests, request, leave } = followed('k1')
    await request.during(async () => {})
    await leave()
    expect([request.isGone(), requests.gone.size]).to.deep.equal([true, 1])
  })

  it('leave nothing behind where they were refused before their connection ends', async () => {
    const { requests, request, leave } = followed('k1')
    await request.during(async () => {})
    request.signedNothing()
    request.end()
    await leave()
    expect([request.isGone(), requests.gone.size]).to.deep.equal([true, 0])
    const unprepared = followed('k2')
    unprepared.request.end()
    await unprepared.leave()
    expect(unprepared.requests.gone.size).to.equal(0)
  })

  it('count as settled once their losses are stored, and also where a store takes too long', async () => {
    const requests = createUnkeyedRequests()
    const did: string[] = []
    let store = (_how: string): void => {}
    requests.storing(new Promise<string>((resolve) => (store = resolve)).then((how) => did.push(how)))
    const settled = requests.settled().then(() => did.push('settled'))
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))))
    store('stored')
    await settled
    expect(did).to.deep.equal(['stored', 'settled'])
    requests.storing(new Promise(() => {}))
    await requests.settled()
  })
})
