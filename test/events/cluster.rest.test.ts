import { expect } from 'chai'
import { createInterface } from 'node:readline'
import type { Client } from '../../testkit/client.ts'
import { startCluster, trade, walletOf, type Cluster } from '../cluster/cluster.ts'
import { isPostgresInstalled } from '../store/postgres.ts'

interface ReceivedEvent {
  id: string
  data: { txHash: string | null; txState: string }
}

/** Reads events from a server until one of them will do; whatever the connection comes to. */
async function read(client: Client, lastEventId: string, isLast: (told: ReceivedEvent) => boolean): Promise<ReceivedEvent[]> {
  const response = await client.open('/events', { topics: 'transactions' }, { headers: { 'last-event-id': lastEventId } })
  const told: ReceivedEvent[] = []
  let [event, id] = ['', '']
  try {
    for await (const line of createInterface({ input: response })) {
      const [, field, value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
      if (field === 'event') event = value
      if (field === 'id') id = value
      if (field !== 'data' || event === 'ready') continue
      const last = { id, data: JSON.parse(value) }
      told.push(last)
      if (isLast(last)) break
    }
  } catch {
    // The server was killed.
  }
  response.on('error', () => {}).destroy()
  return told
}

describe('events of several servers', function () {
  this.timeout(600_000)
  let cluster: Cluster
  before(async function () {
    if (!isPostgresInstalled) this.skip()
    cluster = await startCluster()
  })
  after(() => cluster?.stop())

  it('match on each server, and continue on another one after a kill', async () => {
    const [first, second] = [await cluster.start(), await cluster.start()]
    const hashes: string[] = []
    const make = async (through: typeof first, wallet: number) => {
      const { status, body, text } = await trade(through, walletOf(wallet), BigInt(10 ** 15 + hashes.length))
      expect(status, text).to.equal(200)
      hashes.push(body.txHash)
    }
    const ended = new Set<string | null>()
    const isLast = ({ data }: ReceivedEvent) => {
      if (data.txState === 'CONFIRMED') ended.add(data.txHash)
      return hashes.length >= 8 && hashes.every((txHash) => ended.has(txHash))
    }
    const following = read(first.client, '0', isLast)
    for (let i = 0; i < 3; i++) {
      await make(first, 0)
      await make(second, 1)
    }
    first.signal('SIGKILL')
    const before = await following
    // Its own wallet too, once the other server may.
    for (let i = 0; i < 2; i++) await make(second, 1)
    const rest = await read(second.client, before.at(-1)?.id ?? '0', isLast)
    ended.clear()
    const whole = await read(second.client, '0', isLast)
    expect([...before, ...rest].slice(0, whole.length)).to.deep.equal(whole.slice(0, before.length + rest.length))
    expect(before.length).to.be.above(0)
    expect(rest.length).to.be.above(0)
    for (const txHash of hashes) expect(whole.some(({ data }) => data.txHash === txHash)).to.equal(true)
  })
})
