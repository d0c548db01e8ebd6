// An approval that counts as lost, in both stores: it does so as long as its spender may take it, and no day makes up for it.
import { expect } from 'chai'
import { sql, type KyselyPlugin } from 'kysely'
import { usedIn } from '../../core/limits/account.ts'
import { followExpiries } from '../../core/limits/expired-allowances.ts'
import { allowanceName, type HeldChange } from '../../core/limits/refundable.ts'
import { ownerOf, peekAccount } from '../../core/limits/reservations.ts'
import { createSpendingLimits, type SpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import type { Entry, JournaledPermit } from '../../core/transactions/entry.ts'
import { createRecorder, type Journal } from '../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { onBothStores } from '../store/stores.ts'
import { giveLease, newEntry, queueOf } from '../transactions/journal/entries.ts'
import { rejection } from '../transactions/site.ts'

const right = { token: '0xTt', spender: '0xSs', permit2: '0xPp' }
const lease = { queue: queueOf(), fencingToken: 1 }
const landed = { id: '0x1', ok: true, blockNumber: 1, receipt: {} }
const hourMs = 3_600_000
const dollars = 1_000_000n

/** All of it counts as lost. */
const approval = (raw: bigint): Commitment => ({
  gives: { [right.token]: raw },
  gets: {},
  market: { lossMicros: raw * dollars, prices: {}, medianPrices: {} },
})

describe('approvals that count as lost', () => {
  onBothStores((place) => {
    let store: Store
    let limits: SpendingLimits
    let journal: Journal
    const changes = new Map<string, readonly HeldChange[]>()
    const start = () => {
      limits = createSpendingLimits(() => ({ maxDailyLoss: '3000' }), store.kind)
      limits.readBy({
        gains: () => undefined,
        tells: () => undefined,
        gasCost: () => undefined,
        heldChanges: ({ key }) => changes.get(key) ?? [],
        token: () => undefined,
        value: () => ({ is: 'no market' }),
        reference: () => 'USDT',
      })
      journal = sqlJournal(store, undefined, [limits])
    }
    beforeEach(async () => {
      store = await place().open()
      await giveLease(store, lease)
      changes.clear()
      start()
    })

    async function opened(entries: readonly Entry[], commitment: Commitment): Promise<void> {
      const steps = entries.map((entry) => ({ entry, maxCostRaw: 0n, valueRaw: 0n }))
      await journal.open([...entries], lease, undefined, [], {
        client: 'bot',
        is: 'new',
        coin: { symbol: 'ETH', decimals: 18 },
        commitment,
        steps,
      })
    }
    const ended = async (entries: readonly Entry[], isOk = true): Promise<void> => {
      const all = entries.map((entry) => ({
        ...entry,
        version: entry.version + 1,
        state: 'CONFIRMED' as const,
        landed: { ...landed, ok: isOk },
      }))
      expect(await journal.write(all, lease)).to.equal(true)
    }
    const nameOf = (entry: Entry, spender = right.spender) => allowanceName(entry, { ...right, spender })
    const setTo = (
      entry: Entry,
      raw: bigint,
      returnedRaw: bigint | undefined,
      { spender = right.spender, expires = 0 } = {},
    ): HeldChange => ({
      name: nameOf(entry, spender),
      returnedRaw,
      ...(raw > 0n && { held: { token: right.token, ofRaw: raw, heldRaw: raw, ...(expires > 0 && { expires }) } }),
    })
    /** One that is final. @param returnedRaw of what the allowance held before */
    async function approved(raw: bigint, returnedRaw: bigint | undefined = 0n, options: { spender?: string; expires?: number } = {}) {
      const entry = newEntry({ kind: 'approve' })
      changes.set(entry.key, [setTo(entry, raw, returnedRaw, options)])
      await opened([entry], approval(raw))
      await ended([entry])
    }
    const pass = (hours: number) => store.write((tx) => sql`update store_time set elapsed = elapsed + ${hours * hourMs}`.execute(tx))
    const lost = async (): Promise<number> => {
      const { account, nowMs } = await peekAccount(ownerOf('bot'), store.read)
      return Number(usedIn(account, 'day', 'loss', nowMs) / dollars)
    }

    it('leave nothing for trades a day later, also after a restart, until they are revoked', async () => {
      await approved(2900n)
      expect(await lost()).to.equal(2900)
      await pass(25)
      start()
      expect(await rejection(opened([newEntry()], approval(101n)))).to.have.property('name', 'LIMIT_EXCEEDED')
      await pass(25)
      // Another allowance, after more than a day: what is forgotten then is not this one.
      await approved(50n, 0n, { spender: '0xOther' })
      expect(await lost()).to.equal(2950)
      await pass(25)
      expect(await lost()).to.equal(2950)
      await approved(0n, 2900n)
      expect(await lost()).to.equal(50)
    })

    it('count what was taken of them for a day from when that was seen', async () => {
      await approved(1000n)
      await pass(48)
      await approved(0n, 400n)
      expect(await lost()).to.equal(600)
      await pass(23)
      expect(await lost()).to.equal(600)
      await pass(2)
      expect(await lost()).to.equal(0)
    })

    it('count in full for another day where nobody can tell what came back, and once where they are set anew', async () => {
      await approved(1000n)
      await pass(48)
      await approved(500n, 1000n)
      expect(await lost()).to.equal(500)
      await pass(48)
      await approved(0n, undefined)
      expect(await lost()).to.equal(500)
      await pass(25)
      expect(await lost()).to.equal(0)
    })

    it('count in full for another day where they were revoked elsewhere, and are by Sluice as well', async () => {
      await approved(1000n)
      await pass(48)
      // The chain shows an allowance of 0 before it: it may have been taken.
      await approved(0n, 0n)
      expect(await lost()).to.equal(1000)
      await pass(25)
      expect(await lost()).to.equal(0)
    })

    for (const [how, spender] of [
      ['by what they set anew', right.spender],
      ['beside another one', '0xOther'],
    ] as const)
      it(`count on where their transaction is written again once it is final, ${how}`, async () => {
        const recorder = createRecorder(journal, () => {}, Date.now)
        await approved(400n)
        const entry = newEntry({ kind: 'approve' })
        changes.set(entry.key, [setTo(entry, 1000n, spender === right.spender ? 400n : 0n, { spender })])
        await opened([entry], approval(1000n))
        await ended([entry])
        const before = await lost()
        // A node's answer to a broadcast may come so late.
        const stored = await recorder.read(entry.key)
        if (!stored) throw new Error('The journal has lost the approval.')
        await recorder.amend(stored, (current) => ({ ...current, attempts: [...current.attempts] }), lease)
        expect(await lost()).to.equal(before)
        await pass(25)
        expect(await lost()).to.equal(before)
      })

    it('count each of several spenders of one request until it is revoked', async () => {
      const of = { kind: 'approve', requestId: 'of two', createdAt: Date.now() } as const
      const [one, two] = [0, 1].map((index) => newEntry({ ...of, part: { index, of: 2 } })) as [Entry, Entry]
      changes.set(one.key, [setTo(one, 1000n, 0n, { spender: '0xOne' })])
      changes.set(two.key, [setTo(two, 1000n, 0n, { spender: '0xTwo' })])
      await opened([one, two], approval(2000n))
      await ended([one])
      await ended([two])
      await pass(25)
      expect(await lost()).to.equal(2000)
      await approved(0n, 1000n, { spender: '0xTwo' })
      expect(await lost()).to.equal(1000)
      await pass(25)
      expect(await lost()).to.equal(1000)
      await approved(0n, 1000n, { spender: '0xOne' })
      expect(await lost()).to.equal(0)
    })

    it('are settled by the steps of their own plan, however many requests have its id', async () => {
      const of = { kind: 'approve', requestId: 'of all', createdAt: Date.now() } as const
      for (let index = 0; index < 20; index += 1) await opened([newEntry({ ...of, createdAt: of.createdAt - 1_000 })], { gives: {} })
      const [one, two] = [0, 1].map((index) => newEntry({ ...of, part: { index, of: 2 } })) as [Entry, Entry]
      changes.set(one.key, [setTo(one, 1000n, 0n, { spender: '0xOne' })])
      changes.set(two.key, [setTo(two, 1000n, 0n, { spender: '0xTwo' })])
      await opened([one, two], approval(2000n))
      await ended([one])
      let read = 0
      const counting: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          read += result.rows.filter((row) => 'request_id' in row).length
          return result
        },
      }
      await store.write(async (tx) => limits.settle?.([{ ...two, state: 'CONFIRMED', landed }], tx.withPlugin(counting)))
      expect(read).to.equal(1)
      await approved(0n, 1000n, { spender: '0xTwo' })
      expect(await lost()).to.equal(1000)
    })

    it('count for the spender within Permit2, and not for Permit2 itself', async () => {
      const of = { kind: 'approve', requestId: 'within Permit2', createdAt: Date.now() } as const
      const [one, two] = [0, 1].map((index) => newEntry({ ...of, part: { index, of: 2 } })) as [Entry, Entry]
      const unbounded = { token: right.token, ofRaw: 1n << 255n, heldRaw: 1n << 255n, isMiddle: true }
      changes.set(one.key, [{ name: nameOf(one, '0xPp'), returnedRaw: 0n, held: unbounded }])
      changes.set(two.key, [setTo(two, 1000n, 0n)])
      await opened([one, two], approval(1000n))
      await ended([one, two])
      await pass(25)
      await approved(0n, 1000n)
      expect(await lost()).to.equal(0)
    })

    it('count until they have expired', async () => {
      await approved(1000n, 0n, { expires: Math.floor(Date.now() / 1000) - 10 })
      await pass(48)
      const { look, stop } = followExpiries({ store, limits, leftOf: async (_, all) => all.map(() => 400n), log: { info: () => {} } })
      await look()
      await stop()
      expect(await lost()).to.equal(600)
      await pass(25)
      expect(await lost()).to.equal(0)
    })

    it('stand beside a permit of the same right, whether that is used or not', async () => {
      await approved(1000n)
      const permit: JournaledPermit = { ...right, amountRaw: '60', decimals: 0, expires: 1, nonce: 1, state: 'outstanding' }
      const trade = newEntry({ permits: [permit] })
      changes.set(trade.key, [{ name: nameOf(trade), returnedRaw: undefined }])
      await opened([trade], { gives: {} })
      await ended([trade], false)
      await pass(25)
      expect(await lost()).to.equal(1000)
      // What the chain shows may be the permit's.
      await approved(0n, 1000n)
      expect(await lost()).to.equal(1000)
      await pass(25)
      expect(await lost()).to.equal(0)
    })

    it('count nothing where they failed', async () => {
      const entry = newEntry({ kind: 'approve' })
      await opened([entry], approval(1000n))
      await ended([entry], false)
      expect(await lost()).to.equal(0)
    })
  })
})
