// Allowances by Permit2 that end by themselves, in both stores: which are asked for, and when what they still held is freed.
import { expect } from 'chai'
import { heldChangesOf } from '../../core/handlers/mined-amounts.ts'
import { readAccount } from '../../core/limits/account.ts'
import { followExpiries } from '../../core/limits/expired-allowances.ts'
import { allowanceName, type HeldChange } from '../../core/limits/refundable.ts'
import { createSpendingLimits, type SpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Entry, JournaledPermit } from '../../core/transactions/entry.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { onBothStores } from '../store/stores.ts'
import { giveLease, newEntry, queueOf } from '../transactions/journal/entries.ts'

const right = { token: '0xTt', spender: '0xSs', permit2: '0xPp' }
const token = { address: '0xTt', symbol: 'USDC', decimals: 0 }
const expires = Math.floor(Date.now() / 1000) - 10
const lease = { queue: queueOf(), fencingToken: 1 }
const landed = { id: '0x1', ok: true, blockNumber: 1, receipt: {} }

describe('allowances that have expired', () => {
  onBothStores((place) => {
    let store: Store
    let limits: SpendingLimits
    let journal: Journal
    beforeEach(async () => {
      store = await place().open()
      await giveLease(store, lease)
      limits = createSpendingLimits(() => ({ tokens: { 'ethereum/local': { USDC: { perDay: '1000' } } } }), store.kind)
      limits.readBy({
        gains: () => undefined,
        tells: () => undefined,
        gasCost: () => undefined,
        heldChanges: changesOf,
        token: (_, name) => (name === token.symbol || name === token.address ? token : undefined),
        value: () => ({ is: 'no market' }),
        reference: () => undefined,
      })
      journal = sqlJournal(store, undefined, [limits])
    })

    /** Of an approval as the chain tells it. */
    const changesOf = (entry: Entry): readonly HeldChange[] =>
      entry.kind === 'approve'
        ? [
            {
              name: allowanceName(entry, right),
              returnedRaw: undefined,
              held: { token: token.address, ofRaw: 100n, heldRaw: 100n, expires },
            },
          ]
        : heldChangesOf(entry, { networks: [], plannedBy: () => undefined, venuesOn: () => [] }, { allowanceBefore: () => undefined })
    async function opened(entry: Entry, gives: bigint): Promise<Entry> {
      const steps = [{ entry, maxCostRaw: 0n, valueRaw: 0n }]
      const commitment = { gives: { [token.address]: gives } }
      await journal.open([entry], lease, undefined, [], {
        client: 'bot',
        is: 'new',
        coin: { symbol: 'ETH', decimals: 18 },
        commitment,
        steps,
      })
      return entry
    }
    const ended = async (entry: Entry, ok = true): Promise<void> => {
      const change = { ...entry, version: entry.version + 1, state: 'CONFIRMED' as const, landed: { ...landed, ok } }
      expect(await journal.write([change], lease)).to.equal(true)
    }
    const used = async (): Promise<number> => {
      const { body } = await store.read((db) => db.selectFrom('budgets').select('body').executeTakeFirstOrThrow())
      const days = readAccount(body).spent.day.values()
      return Number([...days].reduce((sum, day) => sum + (day[`token:ethereum/local/${token.address}`]?.net ?? 0n), 0n))
    }
    /** @param leftRaw of each that is asked for */
    async function look(leftRaw = 60n): Promise<number> {
      const asked: string[] = []
      const { look: lookOnce, stop } = followExpiries({
        store,
        limits,
        leftOf: async (_, all) => all.map(({ allowance }) => (asked.push(allowance.token), leftRaw)),
        log: { info: () => {} },
      })
      await lookOnce()
      await stop()
      return asked.length
    }

    it('free what they still held, once', async () => {
      await ended(await opened(newEntry({ kind: 'approve' }), 100n))
      expect(await used()).to.equal(100)
      expect(await look()).to.equal(1)
      expect(await used()).to.equal(40)
      expect(await look()).to.equal(0)
      expect(await used()).to.equal(40)
    })

    it('free nothing while an approval of the wallet is open, whose amount the chain may show', async () => {
      await ended(await opened(newEntry({ kind: 'approve' }), 100n))
      const open = await opened(newEntry({ kind: 'approve' }), 0n)
      await look()
      expect(await used()).to.equal(100)
      expect(await journal.write([{ ...open, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
      await look()
      expect(await used()).to.equal(40)
    })

    it('free nothing while a trade with a permit of the same right is open, nor after it: the chain may show what that permit holds', async () => {
      await ended(await opened(newEntry({ kind: 'approve' }), 100n))
      const permit: JournaledPermit = { ...right, amountRaw: '60', decimals: 0, expires, nonce: 1, state: 'outstanding' }
      const other = await opened(newEntry({ permits: [{ ...permit, token: '0xUu' }] }), 0n)
      const trade = await opened(newEntry({ permits: [permit] }), 0n)
      await look()
      expect(await used()).to.equal(100)
      // Whoever has seen it may use it, also where the trade failed.
      await ended(trade, false)
      await look()
      expect(await used()).to.equal(100)
      await ended(other)
    })

    it('free what they held while trades without a permit of this right are open', async () => {
      await ended(await opened(newEntry({ kind: 'approve' }), 100n))
      await opened(newEntry(), 0n)
      await look()
      expect(await used()).to.equal(40)
    })
  })
})
