import { expect } from 'chai'
import { hexlify } from 'ethers'
import { sql } from 'kysely'
import type { ClientLimits } from '../../core/config/clients.ts'
import { createSpendingLimits, type EntryReader } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import { onBothStores } from '../store/stores.ts'
import { addressOf, order, rejection, soon, startSite, transactionsOn, type TestSite } from '../transactions/site.ts'

const dollars = 1_000_000n
/** One unit of each token is worth a dollar. */
const trade = (lossMicros: bigint): Commitment => ({
  gives: { in: 100n },
  gets: { out: 90n },
  market: { lossMicros, prices: { in: dollars << 128n, out: dollars << 128n } },
})

describe('the limits of a client', () => {
  let site: TestSite
  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())

  onBothStores((place) => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await place().open()
      other = place().kind === 'postgres' ? await place().open() : store
    })
    afterEach(() => site.rpc('anvil_dropAllTransactions'))

    const serverWith = async (
      limits: Readonly<Record<string, ClientLimits>>,
      { on = store, reader }: { on?: Store; reader?: EntryReader } = {},
    ) => {
      const budgets = createSpendingLimits((client) => limits[client])
      if (reader) budgets.readBy(reader)
      const server = await transactionsOn({ store: on, budgets })
      const submit = (change: Parameters<typeof order>[1] = {}) => server.submit(order(site, { caller: { id: 'bot' }, ...change }), soon())
      return { server, submit, stop: () => server.stop(500) }
    }
    const refused = async (work: Promise<unknown>) => {
      const error = await rejection(work)
      expect(error).to.have.property('name', 'LIMIT_EXCEEDED')
      return error as Error & { details: Record<string, unknown> }
    }

    it('refuse what is beyond a number of transactions an hour, of this client alone, also after a restart', async () => {
      const limits = { bot: { transactionsPerHour: 2 } }
      const first = await serverWith(limits)
      const { nonce } = await first.submit()
      await first.submit()
      const { message, details } = await refused(first.submit())
      expect(message).to.match(
        /transactionsPerHour of the client is 2 transactions in a rolling hour.*left: 0 transactions.*Nothing was signed/,
      )
      expect(details).to.include({ limit: 'transactionsPerHour', left: '0' })
      await first.submit({ caller: { id: 'other' } })
      // A cancel is never refused for it.
      await first.server.cancel(order(site, { caller: { id: 'bot' }, nonce }), soon())
      await first.stop()
      const second = await serverWith(limits)
      await refused(second.submit())
      await second.stop()
    })

    it('let one of two through that spend the last of one limit at the same moment, on two servers', async () => {
      const limits = { bot: { maxDailyLoss: '100' } }
      const servers = [await serverWith(limits), await serverWith(limits, { on: other })]
      const outcomes = await Promise.all(
        servers.map(({ submit }, index) =>
          submit({ address: addressOf(index), commitment: trade(60n * dollars) }).then(
            () => 'done',
            ({ name }: Error) => name,
          ),
        ),
      )
      expect(outcomes).to.have.members(['done', 'LIMIT_EXCEEDED'])
      for (const { stop } of servers) await stop()
    })

    it('keep a fifth of the gas for cancels', async () => {
      const open = await serverWith({ bot: { maxDailyGas: '1000' } })
      await open.submit()
      const [held = 0n] = await gasHeld(store)
      await open.stop()
      const limit = (held * 5n) / 2n
      const { server, submit, stop } = await serverWith({ bot: { maxDailyGas: coins(limit) } })
      await submit()
      const { details } = await refused(submit())
      expect(details.limit).to.equal('maxDailyGas')
      await server.cancel(order(site, { caller: { id: 'bot' } }), soon())
      await stop()
    })

    it('refuse a transaction whose fee is above the greatest', async () => {
      const { submit, stop } = await serverWith({ bot: { maxFee: '0.000000001' } })
      expect((await refused(submit())).details).to.include({ limit: 'maxFee' })
      await stop()
    })

    it('count a trade that was mined though a cancel was to take its nonce', async () => {
      const reader: EntryReader = { gains: () => undefined, gasCost: () => 21_000n }
      const { submit, stop, server } = await serverWith({ bot: { maxDailyLoss: '100' } }, { reader })
      const { nonce } = await submit({ commitment: trade(90n * dollars) })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await server.cancel(order(site, { caller: { id: 'bot' }, nonce }), soon())
      await refused(submit({ commitment: trade(20n * dollars) }))
      // The node has the trade alone, as if the cancel had never reached it.
      const raw = await rawOf(server, nonce)
      await site.rpc('anvil_dropAllTransactions')
      await site.rpc('eth_sendRawTransaction', raw)
      await site.rpc('anvil_mine', '0x40')
      await ended(server, nonce)
      await refused(submit({ commitment: trade(20n * dollars) }))
      await submit({ commitment: trade(5n * dollars) })
      await stop()
    })

    it('refuse what has no price, where a loss is limited', async () => {
      const { submit, stop } = await serverWith({ bot: { maxDailyLoss: '100' } })
      expect((await refused(submit({ commitment: { gives: { in: 1n }, gets: {} } }))).details).to.include({ reason: 'no market' })
      await submit()
      await stop()
    })

    for (const table of ['budgets', 'reservations'])
      it(`let a transaction end where its row of ${table} cannot be read, and sign nothing more where the account cannot`, async () => {
        const { submit, stop, server } = await serverWith({ bot: { transactionsPerHour: 5 } })
        const { nonce } = await submit()
        await store.write((tx) => sql`update ${sql.table(table)} set body = '{'`.execute(tx))
        if (table === 'budgets') expect(await rejection(submit())).to.have.property('name', 'SERVICE_UNINITIALIZED')
        await site.rpc('anvil_mine', '0x40')
        await ended(server, nonce)
        await stop()
      })

    it('count raised fees, of whoever raises them', async () => {
      const { submit, stop, server } = await serverWith({ bot: { maxDailyGas: '1000' } })
      const { nonce } = await submit()
      const [before = 0n] = await gasHeld(store)
      await server.speedUp(order(site, { caller: { id: 'other' }, nonce }), soon())
      const [after = 0n] = await gasHeld(store)
      expect(Number(after) / Number(before)).to.be.within(1.1, 3)
      await stop()
    })

    it('settle a trade to what it did, and free what was never executed', async () => {
      const reader: EntryReader = {
        gains: () =>
          new Map([
            ['in', -100n],
            ['out', 99n],
          ]),
        gasCost: () => 21_000n,
      }
      const { submit, stop, server } = await serverWith({ bot: { maxDailyLoss: '60' } }, { reader })
      const { nonce } = await submit({ commitment: trade(50n * dollars) })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await site.rpc('anvil_mine', '0x40')
      await ended(server, nonce)
      await submit({ commitment: trade(50n * dollars) })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await stop()
    })
  })
})

const coins = (raw: bigint): string => `${raw / 10n ** 18n}.${(raw % 10n ** 18n).toString().padStart(18, '0')}`

/** By client, of the network. */
async function gasHeld(store: Store): Promise<bigint[]> {
  const rows = await store.read((db) => db.selectFrom('budgets').select('body').execute())
  return rows.map(({ body }) =>
    BigInt(Object.entries(JSON.parse(body).open as Record<string, string>).find(([measure]) => measure.startsWith('gas:'))?.[1] ?? 0),
  )
}

async function rawOf(server: Awaited<ReturnType<typeof transactionsOn>>, nonce: number): Promise<string> {
  const { entries } = await server.list({})
  const trade = entries.find((each) => each.nonce === nonce && each.kind === 'trade')
  return hexlify(trade?.attempts[0]?.raw ?? new Uint8Array())
}

async function ended(server: Awaited<ReturnType<typeof transactionsOn>>, nonce: number): Promise<void> {
  const until = Date.now() + 20_000
  for (;;) {
    const { entries } = await server.list({})
    if (entries.some((each) => each.nonce === nonce && each.state === 'CONFIRMED')) return
    if (Date.now() > until) throw new Error(`${nonce} did not end: ${entries.map(({ state }) => state).join()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
