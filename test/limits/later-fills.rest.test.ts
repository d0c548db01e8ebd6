// What was filled of an order later, against what was reserved for it.
import { expect } from 'chai'
import { usedIn } from '../../core/limits/account.ts'
import { settleFills } from '../../core/limits/later-fills.ts'
import { keepRefundable, orderName, signedOrderName } from '../../core/limits/refundable.ts'
import { accountOf, ownerOf } from '../../core/limits/reservations.ts'
import { settleOrder } from '../../core/limits/settle-entries.ts'
import type { Store } from '../../core/store/store.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { onBothStores } from '../store/stores.ts'

const owner = ownerOf('bot')
const entry = { ...newEntry({ kind: 'order' }), connector: 'exchange' }
const half = { numerator: 1n, denominator: 2n }
const dollars = 1_000_000n

describe('what was filled of an order later', () => {
  onBothStores((stores) => {
    let store: Store
    beforeEach(async () => {
      store = await stores().open()
    })
    const reserved = (name: string, loss: bigint, heldRaw = 0n) =>
      store.write((tx) =>
        keepRefundable(new Map([[name, { owner, amounts: { loss }, counted: { atMs: 1, gained: {} }, ofRaw: 10n, heldRaw }]]), 1, tx),
      )
    async function lostBy(lostMicros: bigint, part = half): Promise<bigint> {
      const fills = { entry, index: 0, orderId: '7', part, lostMicros }
      await store.write((tx) => settleFills(fills, owner, tx, stores().kind))
      const row = await store.read((db) => db.selectFrom('budgets').select('body').where('owner', '=', owner).executeTakeFirst())
      return usedIn({ ...accountOf(owner, row), open: {} }, 'day', 'loss', 0)
    }

    it('counts with what it lost, where nothing was reserved', async () => {
      expect(await lostBy(0n)).to.equal(0n)
      expect(await lostBy(7n * dollars)).to.equal(7n * dollars)
      expect(await lostBy(2n * dollars)).to.equal(9n * dollars)
    })

    for (const [how, name] of [
      ['its id', orderName(entry, '7')],
      ['the action that placed it', signedOrderName(entry, 0)],
    ] as const)
      it(`counts with what it lost beyond its part of what was counted for it, by ${how}`, async () => {
        await reserved(name, 10n * dollars)
        expect(await lostBy(5n * dollars)).to.equal(0n)
        expect(await lostBy(6n * dollars)).to.equal(1n * dollars)
        expect(await lostBy(11n * dollars, { numerator: 1n, denominator: 1n })).to.equal(2n * dollars)
      })

    it('counts so where the order ended before its fills were read, and not for what came back of it', async () => {
      const end = (unfilled = half) => store.write((tx) => settleOrder({ entry, index: 0, unfilled }, undefined, tx, stores().kind))
      await reserved(signedOrderName(entry, 0), 10n * dollars, 10n)
      await end()
      expect(await lostBy(5n * dollars)).to.equal(0n)
      await reserved(signedOrderName(entry, 0), 10n * dollars, 10n)
      await end({ numerator: 1n, denominator: 1n })
      expect(await store.read((db) => db.selectFrom('refundable').selectAll().execute())).to.deep.equal([])
    })
  })
})
