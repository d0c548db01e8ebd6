// Bots without keys that ask one of two servers on one PostgreSQL, lose its answer, and ask the other one (`core/transactions/deliveries.ts`).
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../core/store/store.ts'
import { createDeliveries } from '../../core/transactions/deliveries.ts'
import { withGuards } from '../../core/transactions/guards.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { sqlLeases } from '../../core/transactions/leases.ts'
import { createUnkeyedRequests, type UnkeyedRequests } from '../../core/transactions/unkeyed-requests.ts'
import { places } from '../store/stores.ts'
import { giveLease, newEntry } from './journal/entries.ts'
import { silent, until } from './site.ts'

const lease = { queue: 'ethereum/local/0xAbCdEf0000000000000000000000000000000001', fencingToken: 1 }

describe('a request without a key that comes to a second server', function () {
  this.timeout(300_000)
  const { place } = places('postgres')
  let store: Store
  const stops: (() => unknown)[] = []
  beforeEach(async () => {
    store = await place().open()
    await giveLease(store)
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  /** A server that lives. */
  async function server(on: Store = store, beforeRenewal = async ({ settled }: UnkeyedRequests) => settled()) {
    const serverId = randomUUID()
    const requests = createUnkeyedRequests()
    const journal = withGuards(sqlJournal(on), [], requests)
    const deliveries = deliveriesOf(serverId, { requests, journal }, on)
    const leases = sqlLeases({ store, serverId, serverName: 'one', log: silent, beforeRenewal: async () => beforeRenewal(requests) })
    stops.push(async () => leases.stop())
    await until('it lives', async () => (await aliveUntil(serverId)) > 0)
    return { serverId, requests, journal, deliveries }
  }

  function deliveriesOf(
    serverId: string,
    { requests, journal }: Pick<Awaited<ReturnType<typeof server>>, 'requests' | 'journal'>,
    on = store,
  ) {
    const deliveries = createDeliveries({ store: on, serverId, journal, log: silent, requests })
    stops.push(() => deliveries.stop())
    return deliveries
  }

  /** A server whose words are the test's. */
  const livesBy = (id: string) => async () =>
    store.write((tx) =>
      sql`insert into servers (id, name, alive_until, migration) values (${id}, 'other', extract(epoch from clock_timestamp()) * 1000 + 9000, '')
        on conflict (id) do update set alive_until = excluded.alive_until`.execute(tx),
    )

  const aliveUntil = async (id: string) =>
    store
      .read((db) => db.selectFrom('servers').select('alive_until').where('id', '=', id).executeTakeFirst())
      .then((row) => row?.alive_until ?? 0)

  const states = async () =>
    store
      .read((db) => db.selectFrom('deliveries').select('state').orderBy('asked_at').execute())
      .then((rows) => rows.map(({ state }) => state))
  const becomes = async (...wanted: string[]) => until(wanted.join(), async () => (await states()).join() === wanted.join())

  const signed = async () => (await sqlJournal(store).list({ limit: 10 })).entries.length

  /** One over a connection of its own, which signs once its turn comes; `end` is how its connection ends. */
  function request({ deliveries, journal }: Pick<Awaited<ReturnType<typeof server>>, 'deliveries' | 'journal'>) {
    let end: (isDelivered: boolean) => void = () => {}
    const delivered = new Promise<boolean>((resolve) => (end = resolve))
    const requestId = randomUUID()
    const turn = { isWaiting: false, comes: () => {} }
    const came = new Promise<void>((resolve) => (turn.comes = resolve))
    const act = async (key: string) => {
      if ((await journal.list({ idempotencyKey: key, limit: 1 })).entries.length > 0) return key
      turn.isWaiting = true
      await came
      await journal.open([newEntry({ idempotencyKey: key, requestId })], lease)
      return key
    }
    const answer = deliveries.once(
      {
        interface: 'bots',
        requestId,
        client: 'bot',
        fields: { amount: '1' },
        delivered,
        broken: new Promise(() => {}),
        staleSeconds: 290,
        collectSeconds: 120,
      },
      async () => ({}),
      act,
    )
    return { answer, end, turn, waits: async () => until('its turn is near', async () => turn.isWaiting) }
  }

  /** One whose answer is there and not read yet. */
  async function answered(at: Parameters<typeof request>[0]) {
    const first = request(at)
    first.turn.comes()
    return { first, key: await first.answer }
  }

  it('signs nothing where the first server tells of the loss while the second one waits for its turn', async () => {
    const [one, two] = [await server(), await server()]
    const { first, key } = await answered(one)
    const second = request(two)
    await second.waits()
    first.end(false)
    await becomes('lost', 'open')
    second.turn.comes()
    expect(await second.answer).to.equal(key)
    expect(await signed()).to.equal(1)
    second.end(true)
    await becomes('delivered')
  })

  it('signs nothing where the loss is stored while the second one’s entry is being written', async () => {
    const [one, two] = [await server(), await server()]
    const { first, key } = await answered(one)
    const second = request(two)
    await second.waits()
    let stored: Promise<unknown> = Promise.resolve()
    await store.write(async (tx) => {
      await tx.updateTable('deliveries').set({ state: 'lost', lost_at: Date.now(), losses: 1 }).where('id', '=', key).execute()
      second.turn.comes()
      stored = second.answer
      await new Promise((resolve) => setTimeout(resolve, 200))
    })
    expect(await stored).to.equal(key)
    expect(await signed()).to.equal(1)
    first.end(true)
  })

  it('is another where the first connection stands until both are signed', async () => {
    const [one, two] = [await server(), await server()]
    const { first, key } = await answered(one)
    const second = request(two)
    second.turn.comes()
    expect(await second.answer).not.to.equal(key)
    expect(await signed()).to.equal(2)
    for (const each of [first, second]) each.end(true)
    await becomes()
  })

  it('waits until the first server has said twice that it lives: what it said first it may have begun to say before', async () => {
    const [one, two] = [await server(), await server()]
    const silentId = randomUUID()
    const [silentOne, lives] = [{ ...one, deliveries: deliveriesOf(silentId, one) }, livesBy(silentId)]
    await lives()
    const { first, key } = await answered(silentOne)
    const second = request(two)
    second.turn.comes()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await lives()
    await new Promise((resolve) => setTimeout(resolve, 800))
    first.end(false)
    await until('it is stored', async () => (await states()).includes('lost'))
    await lives()
    expect(await second.answer).to.equal(key)
    expect(await signed()).to.equal(1)
  })

  it('waits where the first server knows of a loss that it could not store yet', async () => {
    let storeNow = () => {}
    const isTold = { was: false }
    const held = new Promise<void>((resolve) => (storeNow = resolve))
    const slow: Store = Object.assign(Object.create(store), {
      writeOnce: async (statement: Parameters<Store['writeOnce']>[0]) => {
        if (isTold.was) await held
        return store.writeOnce(statement)
      },
    })
    const [one, two] = [await server(slow), await server()]
    const { first, key } = await answered(one)
    const renewed = async () => {
      const before = await aliveUntil(one.serverId)
      await until('it says that it lives', async () => (await aliveUntil(one.serverId)) > before)
    }
    await renewed()
    isTold.was = true
    first.end(false)
    const second = request(two)
    second.turn.comes()
    await renewed()
    storeNow()
    expect(await second.answer).to.equal(key)
    expect(await signed()).to.equal(1)
    second.end(true)
    await becomes('delivered')
  })

  it('is told that a server lives only once that has stored its losses', async () => {
    let settle = () => {}
    let settling = Promise.resolve()
    let asked = 0
    const { serverId } = await server(store, async () => ((asked += 1), settling))
    settling = new Promise((resolve) => (settle = resolve))
    const askedBefore = asked
    await until('it is asked again', async () => asked > askedBefore)
    const before = await aliveUntil(serverId)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await aliveUntil(serverId)).to.equal(before)
    settle()
    await until('it says that it lives', async () => (await aliveUntil(serverId)) > before)
  })
})
