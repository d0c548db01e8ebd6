import { expect } from 'chai'
import type { Client } from '../../core/testing/client.ts'
import { follow, type Door, type Follower, type Told } from './events-client.ts'
import { admins, sharedServer, swap } from './shared-server.ts'
import type { SharedServer } from './shared-server.ts'

describe('/events', function () {
  this.timeout(60_000)
  let server: SharedServer
  let client: Client
  const followers: Follower[] = []
  const door = (name = 'client'): Door => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name })
  const listen = async (query: Record<string, string> = {}, name = 'client') => {
    const follower = await follow(door(name), query)
    followers.push(follower)
    return follower
  }
  const trade = async (fields: object = {}): Promise<string> =>
    (await client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.001', address: admins, ...fields })).body.txHash
  const ofTransaction = (txHash: string) => (told: Told) => told.data.txHash === txHash
  const isFinal = (txHash: string) => (told: Told) => told.data.txHash === txHash && told.data.txState === 'CONFIRMED'
  before(async () => {
    server = await sharedServer()
    client = server.client
  })
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close()
  })

  it('tells what becomes of a transaction, each time as /transactions has it then, by ids that increase', async () => {
    const follower = await listen({ topics: 'transactions' })
    const txHash = await trade()
    const last = await follower.hears('its end', isFinal(txHash))
    const { transactions } = (await client.get('/transactions', { txHash })).body
    expect(transactions).to.deep.equal([{ ...last.data, attempts: transactions[0].attempts, updatedAt: transactions[0].updatedAt }])
    const states = follower.told.filter(ofTransaction(txHash)).map(({ data }) => data.txState)
    expect([...new Set(states)]).to.include.members(['SIGNED', 'CONFIRMED'])
    const ids = follower.told.map(({ id }) => Number(id))
    expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).to.equal(ids.length)
  })
  it('x', async () => {
    ;(void askForEvents, outcome, local, traders)
  })
})
