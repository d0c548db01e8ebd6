import { expect } from 'chai'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { containedServer, type ContainedServer } from './contained-server.ts'
import { admins, local } from './shared-server.ts'

describe('what a contained interface does once', function () {
  this.timeout(120_000)
  let server: ContainedServer
  let desk: Client
  let amounts = 0

  before(async () => {
    server = await containedServer()
    const { body } = await server.client.get('/plugins')
    expect(body.find((each: { name: string }) => each.name === 'once-desk')).to.include({ tier: 'contained' })
    desk = server.to('once-desk')
  })

  /** Another one for each test, as requests with one amount are equal. */
  const newRequest = () => ({ wallet: admins, amount: `0.000${(amounts += 1)}` })
  const nonce = async (): Promise<number> => (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
  /** Errors are shown as the server shows them while the process is away. */
  const outcome = ({ status, body }: Answer): string => `${status} ${body.oops ?? body.name}`
  const newest = async () =>
    (await server.client.get('/transactions', { ...local, address: admins, kind: 'wrap', limit: '1' })).body.transactions[0]
  /** Asks until the process is there again. */
  async function again(request: object): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const answer = await desk.post('/wrap', request)
      if (!outcome(answer).endsWith(' SERVICE_UNINITIALIZED') || tries > 200) return answer
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  /** Sends a request, and cuts its connection before the answer, once it was signed: until the server knows that it is gone. */
  async function cut(request: object): Promise<void> {
    const before = await nonce()
    const leaving = createClient(server.interfaceUrls['once-desk'] ?? '', server.certsDir)
    const lost = leaving.post('/wrap', { ...request, waitMs: 1_000 }).then(
      () => 'answered',
      () => 'cut',
    )
    while ((await nonce()) === before) await new Promise((resolve) => setTimeout(resolve, 10))
    leaving.close()
    expect(await lost).to.equal('cut')
    while ((await newest()).delivery?.state !== 'lost') await new Promise((resolve) => setTimeout(resolve, 10))
  }

  it('is done again for an equal request after a delivered answer', async () => {
    const [request, before] = [newRequest(), await nonce()]
    const [first, second] = [await desk.post('/wrap', request), await desk.post('/wrap', request)]
    expect([first.status, second.status], first.text).to.deep.equal([200, 200])
    expect(first.body.prepared).not.to.equal(second.body.prepared)
    expect(await nonce()).to.equal(before + 2)
  })

  it('is given to an equal request where the answer was lost', async () => {
    const [request, before] = [newRequest(), await nonce()]
    await cut(request)
    const collected = await again(request)
    expect(collected.status, collected.text).to.equal(200)
    expect(await nonce()).to.equal(before + 1)
    const next = await desk.post('/wrap', request)
    expect(next.body.hash).not.to.equal(collected.body.hash)
  })

  it('is the same transaction where the process was killed after it was signed', async () => {
    const [request, before] = [newRequest(), await nonce()]
    const killed = await desk.post('/wrap', { ...request, dies: 'after the call' })
    expect(outcome(killed), killed.text).to.equal('504 TIMEOUT')
    expect(await nonce()).to.equal(before + 1)
    const collected = await again(request)
    expect(collected.status, collected.text).to.equal(200)
    expect(await nonce()).to.equal(before + 1)
    expect((await newest()).txHash).to.equal(collected.body.hash)
  })

  it('counts as unknown where the process was killed with the key, and is done by the equal request', async () => {
    const [request, before] = [newRequest(), await nonce()]
    const killed = await desk.post('/wrap', { ...request, dies: 'before the call' })
    expect(outcome(killed), killed.text).to.equal('504 TIMEOUT')
    expect(await nonce()).to.equal(before)
    expect((await again(request)).status).to.equal(200)
    expect(await nonce()).to.equal(before + 1)
  })

  it('is nothing where the process was killed before it had the key', async () => {
    const [request, before] = [newRequest(), await nonce()]
    const killed = await desk.post('/wrap', { ...request, dies: 'in prepare' })
    expect(outcome(killed), killed.text).to.equal('503 SERVICE_UNINITIALIZED')
    expect((await again(request)).status).to.equal(200)
    expect(await nonce()).to.equal(before + 1)
  })

  it('is refused as the endpoint refuses it', async () => {
    const refused = await desk.post('/wrap', { wallet: admins, amount: '1000000000' })
    expect(outcome(refused), refused.text).to.equal('422 INSUFFICIENT_BALANCE')
  })

  it('is one thing of a request', async () => {
    const before = await nonce()
    const answer = await desk.post('/wrap', { ...newRequest(), twice: true })
    expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
    expect(await nonce()).to.equal(before + 1)
  })
})
