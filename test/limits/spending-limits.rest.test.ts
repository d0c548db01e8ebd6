import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { hexlify } from 'ethers'
import { sql } from 'kysely'
import type { NetworkLimits } from '../../core/limits/limit-checks.ts'
import type { HeldChange } from '../../core/limits/refundable.ts'
import { createSpendingLimits, type LimitReader } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import { onBothStores } from '../store/stores.ts'
import { addressOf, gwei, order, planOf, rejection, soon, startSite, transactionsOn, type TestSite } from '../transactions/site.ts'

const dollars = 1_000_000n
const tokens = { USDC: { address: 'in', symbol: 'USDC', decimals: 2 }, WETH: { address: 'out', symbol: 'WETH', decimals: 2 } }
/** Nothing is known of what transactions did. One unit of each token is worth a dollar. */
const blindReader: LimitReader = {
  gains: () => undefined,
  tells: () => 'all',
  heldChanges: () => [],
  gasCost: () => undefined,
  token: ({ network }, name) =>
    network === 'local' ? Object.values(tokens).find(({ symbol, address }) => symbol === name || address === name) : undefined,
  value: (_, gives) => ({ is: 'priced', micros: Object.values(gives).reduce((sum, raw) => sum + raw, 0n) * dollars }),
  reference: () => 'USDT',
}
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
      limits: Readonly<Record<string, NetworkLimits>>,
      { on = store, reader, journalOf }: { on?: Store; reader?: Partial<LimitReader>; journalOf?: (journal: Journal) => Journal } = {},
    ) => {
      const budgets = createSpendingLimits((client) => limits[client], on.kind)
      budgets.readBy({ ...blindReader, ...reader })
      const server = await transactionsOn({ store: on, budgets, ...(journalOf && { journalOf }) })
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
        /transactionsPerHour of the client is 2 transactions in a rolling hour.*left: 0 transactions\. This may take 1 transaction\. Nothing was signed/,
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

    it('say where a limit is a default', async () => {
      const bot = {
        maxDailyLoss: '20',
        maxFee: '1',
        defaults: new Map([
          ['maxDailyLoss', { percent: 2, ofRaw: 0n }],
          ['maxFee', { percent: 10, ofRaw: 0n }],
        ] as const),
      }
      const { submit, stop } = await serverWith({ bot })
      expect((await refused(submit({ commitment: trade(30n * dollars) }))).message).to.contain(
        'maxDailyLoss of the client (a default) is 20 ',
      )
      await submit({ commitment: trade(10n * dollars) })
      await stop()
    })

    it('are told who might use thin markets when it asked', async () => {
      const told: unknown[] = []
      const journalOf = (journal: Journal): Journal => ({
        ...journal,
        async open(entries, lease, claim, orders, spending) {
          told.push(spending?.hadThin)
          await journal.open(entries, lease, claim, orders, spending)
        },
      })
      const { submit, stop } = await serverWith({}, { journalOf })
      await submit({ caller: { id: 'bot', permissions: new Set(['trade', 'thin'] as const) } })
      await submit({ caller: { id: 'bot', permissions: new Set(['trade'] as const) } })
      expect(told).to.deep.equal([true, undefined])
      await stop()
    })

    it('count a trade that was mined though a cancel was to take its nonce', async () => {
      const reader = { gasCost: () => 21_000n }
      const { submit, stop, server } = await serverWith({ bot: { maxDailyLoss: '100' } }, { reader })
      const { nonce } = await submit({ commitment: trade(90n * dollars) })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await server.cancel(order(site, { caller: { id: 'bot' }, nonce }), soon())
      await refused(submit({ commitment: trade(20n * dollars) }))
      // The node has the trade alone, as if the cancel had never reached it.
      const raw = await rawOf(server, nonce)
      await site.rpc('anvil_dropAllTransactions')
      await site.rpc('eth_sendRawTransaction', raw)
      await site.rpc('anvil_mine', '0x2')
      await ended(server, nonce)
      await refused(submit({ commitment: trade(20n * dollars) }))
      await submit({ commitment: trade(5n * dollars) })
      await stop()
    })

    const perDay = (amount: string): NetworkLimits => ({ maxDailyGas: '1000', tokens: { 'ethereum/local': { USDC: { perDay: amount } } } })
    const gives = (raw: bigint, token = 'in'): Commitment => ({ gives: { [token]: raw } })

    it('refuse what gives more of a token than one request, an hour or a day may, and say what is left', async () => {
      const limits = { perTransaction: '0.5', perHour: '0.9', perDay: '1' }
      const { submit, stop } = await serverWith({ bot: { maxDailyGas: '1000', tokens: { 'ethereum/local': { USDC: limits } } } })
      const large = await refused(submit({ commitment: gives(51n) }))
      expect(large.details).to.deep.equal({ limit: 'tokens.perTransaction', token: 'USDC', left: '0.5' })
      expect(large.message).to.match(/tokens\.perTransaction of the client is 0\.5 USDC in one request\. This may take 0\.51 USDC\./)
      await submit({ commitment: gives(50n) })
      expect((await refused(submit({ commitment: gives(41n) }))).details).to.deep.equal({
        limit: 'tokens.perHour',
        token: 'USDC',
        left: '0.4',
      })
      await submit({ commitment: gives(40n) })
      await submit({ commitment: gives(0n) })
      await refused(submit({ commitment: gives(1n) }))
      await stop()
    })

    it('refuse to give a token that has no limit, where others have', async () => {
      const { submit, stop } = await serverWith({ bot: perDay('1') })
      for (const token of ['out', '0xdead', 'USDC']) {
        const { message, details } = await refused(submit({ commitment: gives(1n, token) }))
        expect(details).to.include({ limit: 'tokens', left: '0' })
        expect(message).to.contain('limits.tokens["ethereum/local"]')
      }
      await stop()
    })

    it('count by value, name the reference token, and refuse what has no price', async () => {
      let isPriced = true
      const value: LimitReader['value'] = (on, given) => (isPriced ? blindReader.value(on, given) : { is: 'no market', seconds: 7 })
      const { submit, stop } = await serverWith({ bot: { maxDailyGas: '1000', value: { perHour: '100' } } }, { reader: { value } })
      await submit({ commitment: gives(60n) })
      const { message, details } = await refused(submit({ commitment: { gives: { in: 20n, out: 30n } } }))
      expect(message).to.contain('What is left: 40 USDT. This may take 50 USDT.')
      expect(details).to.deep.equal({ limit: 'value.perHour', left: '40' })
      isPriced = false
      expect((await refused(submit({ commitment: gives(1n) }))).details).to.deep.equal({ limit: 'value', reason: 'no market' })
      await submit({ commitment: gives(0n) })
      await stop()
    })

    it('settle a trade to what it gave, by token and by value, and free what failed', async () => {
      const limits = { bot: { ...perDay('1'), value: { perDay: '100' } } }
      const reader = { gains: () => new Map([['in', -40n]]), gasCost: () => 21_000n }
      const { submit, stop, server } = await serverWith(limits, { reader })
      const { nonce } = await submit({ commitment: gives(100n) })
      await refused(submit({ commitment: gives(60n) }))
      await site.rpc('anvil_mine', '0x2')
      await ended(server, nonce)
      expect((await refused(submit({ commitment: gives(61n) }))).details).to.include({ left: '60' })
      const to = `0x${randomBytes(20).toString('hex')}`
      const failing = await submit({ commitment: gives(60n), plan: planOf({ to, data: '0x', value: '1' }) })
      await refused(submit({ commitment: gives(1n) }))
      // From now on it fails whatever it is asked.
      await site.rpc('anvil_setCode', to, '0x60006000fd')
      await site.rpc('anvil_mine', '0x2')
      await ended(server, failing.nonce, 'REVERTED')
      await submit({ commitment: gives(60n) })
      await stop()
    })

    it('count once what takes the nonce of another, and nothing more for what raises its fees', async () => {
      const { submit, stop, server } = await serverWith({ bot: perDay('1') })
      const { nonce } = await submit({ commitment: gives(60n) })
      await server.speedUp(order(site, { caller: { id: 'bot' }, nonce }), soon())
      await refused(submit({ commitment: gives(41n) }))
      const feeOverrides = { maxFeePerGasRaw: 300n * gwei, maxPriorityFeePerGasRaw: 200n * gwei }
      await refused(submit({ nonce, feeOverrides, commitment: gives(101n) }))
      await submit({ nonce, feeOverrides, commitment: gives(100n) })
      await refused(submit({ commitment: gives(1n) }))
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
        await site.rpc('anvil_mine', '0x2')
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

    it('count raised fees also for another client that raises them, and hold it to its own limits', async () => {
      const { submit, stop, server } = await serverWith({ other: { maxDailyGas: '1', maxFee: '0.5' } })
      const { nonce } = await submit()
      await server.speedUp(order(site, { caller: { id: 'other' }, nonce }), soon())
      const { rows } = await store.read((db) => sql<{ body: string }>`select body from budgets where owner = 'client other'`.execute(db))
      expect(rows[0]?.body).to.contain('"gas:ethereum/local"')
      await stop()
      const stricter = await serverWith({ other: { maxDailyGas: '0.000001' }, bot: { maxDailyGas: '1000' } })
      const { nonce: next } = await stricter.submit()
      expect((await refused(stricter.server.speedUp(order(site, { caller: { id: 'other' }, nonce: next }), soon()))).details).to.include({
        limit: 'maxDailyGas',
      })
      await stricter.server.speedUp(order(site, { caller: { id: 'bot' }, nonce: next }), soon())
      await stricter.stop()
    })

    it('settle a trade to what it did, and free what was never executed', async () => {
      const reader = {
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
      await site.rpc('anvil_mine', '0x2')
      await ended(server, nonce)
      await submit({ commitment: trade(50n * dollars) })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await stop()
    })

    it('free what comes back of what was given, whoever makes it come back, once, and not what was given since', async () => {
      const changes = new Map<number, HeldChange[]>()
      const reader: Partial<LimitReader> = { gasCost: () => 1n, heldChanges: ({ nonce }) => changes.get(nonce) ?? [] }
      const limits = { bot: perDay('1'), second: perDay('1') }
      const { submit, stop, server } = await serverWith(limits, { reader })
      const change = async (id: string, raw: bigint, returnedRaw: bigint | undefined) => {
        const { nonce } = await submit({ kind: 'approve', caller: { id }, commitment: gives(raw) })
        const held = { token: 'in', ofRaw: raw, heldRaw: raw }
        changes.set(nonce, [{ name: 'allowance', returnedRaw, ...(raw > 0n && { held }) }])
        await site.rpc('anvil_mine', '0x2')
        await ended(server, nonce)
      }
      const left = async (id: string, amount: string) =>
        expect((await refused(submit({ caller: { id }, commitment: gives(101n) }))).details).to.include({ left: amount })
      await change('bot', 100n, 0n)
      await left('bot', '0')
      await change('unlimited', 0n, 40n)
      await left('bot', '0.4')
      // It was told once.
      await change('unlimited', 0n, 40n)
      await left('bot', '0.4')
      await change('bot', 20n, 0n)
      await change('second', 50n, 15n)
      await left('bot', '0.35')
      await left('second', '0.5')
      // No more than what was counted for it, and nothing where nobody can tell.
      await change('second', 30n, 1000n)
      await left('second', '0.7')
      await change('unlimited', 0n, undefined)
      await change('unlimited', 0n, 30n)
      await left('second', '0.7')
      await stop()
    })

    it('settle a plan of several steps to what all of them did, and free it where none did anything', async () => {
      const reader: Partial<LimitReader> = { gains: ({ part }) => new Map([['in', part.index === 0 ? -30n : -10n]]), gasCost: () => 1n }
      const { submit, stop, server } = await serverWith({ bot: perDay('1') }, { reader })
      const step = { to: `0x${randomBytes(20).toString('hex')}`, data: '0x', value: '1' }
      const { nonce } = await submit({ commitment: gives(100n), plan: planOf(step, { ...step, value: '2' }) })
      await refused(submit({ commitment: gives(1n) }))
      await site.rpc('anvil_mine', '0x2')
      await ended(server, nonce)
      expect((await refused(submit({ commitment: gives(61n) }))).details).to.include({ left: '0.6' })
      const failing = await submit({ commitment: gives(60n), plan: planOf(step, step) })
      await site.rpc('anvil_setCode', step.to, '0x60006000fd')
      await site.rpc('anvil_mine', '0x2')
      await ended(server, failing.nonce, 'REVERTED')
      await submit({ commitment: gives(60n) })
      await stop()
    })

    it('settle a trade at the market of now or of before, whichever is worse: a price that was pushed erases no loss', async () => {
      const gains = new Map([
        ['in', -100n],
        ['out', 99n],
      ])
      const { submit, stop, server } = await serverWith(
        { bot: { maxDailyLoss: '60' } },
        { reader: { gains: () => gains, gasCost: () => 1n } },
      )
      const settled = async (commitment: Commitment) => {
        const { nonce } = await submit({ commitment })
        await site.rpc('anvil_mine', '0x2')
        await ended(server, nonce)
      }
      gains.set('out', 50n)
      await settled(trade(50n * dollars))
      gains.set('out', 99n)
      const prices = { in: dollars << 128n, out: dollars << 128n }
      await settled({ ...trade(0n), market: { lossMicros: 0n, prices: { ...prices, out: 10n * prices.out }, medianPrices: prices } })
      await refused(submit({ commitment: trade(20n * dollars) }))
      await settled({ ...trade(0n), market: { lossMicros: 0n, prices, medianPrices: { ...prices, out: 10n * prices.out } } })
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
    BigInt(
      Object.entries(JSON.parse(body.split('\n')[0] ?? '').open as Record<string, string>).find(([measure]) =>
        measure.startsWith('gas:'),
      )?.[1] ?? 0,
    ),
  )
}

async function rawOf(server: Awaited<ReturnType<typeof transactionsOn>>, nonce: number): Promise<string> {
  const { entries } = await server.list({})
  const trade = entries.find((each) => each.nonce === nonce && each.kind === 'trade')
  return hexlify(trade?.attempts[0]?.raw ?? new Uint8Array())
}

async function ended(server: Awaited<ReturnType<typeof transactionsOn>>, nonce: number, state = 'CONFIRMED'): Promise<void> {
  const until = Date.now() + 180_000
  for (;;) {
    const { entries } = await server.list({})
    if (entries.some((each) => each.nonce === nonce && each.state === state)) return
    if (Date.now() > until) throw new Error(`${nonce} did not end: ${entries.map(({ state }) => state).join()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
