// What clients are charged for raised fees. A raise that was reserved may fail at the signer, and is tried again.
import { expect } from 'chai'
import { readAccount } from '../../core/limits/account.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { freshStore, rejection } from '../transactions/site.ts'

const gas = 'gas:ethereum/local'
const entry = newEntry({ key: 'raised', client: 'owner' })
const coin = { symbol: 'ETH', decimals: 0 }
const fresh: Spending = { client: 'owner', is: 'new', coin, steps: [{ entry, maxCostRaw: 110n, valueRaw: 10n }] }
const raiseTo = (feeRaw: bigint, lastFeeRaw: bigint, client = 'sluice'): Spending => ({
  client,
  is: 'raise',
  coin,
  steps: [{ entry, maxCostRaw: feeRaw + 10n, valueRaw: 10n, lastCostRaw: lastFeeRaw + 10n }],
})

describe('fees that are raised again and again', () => {
  let store: Store
  beforeEach(async () => {
    store = await freshStore()
  })
  afterEach(() => store.close())

  const accountOf = async (client: string) => {
    const { body } = await store.read((db) =>
      db.selectFrom('budgets').select('body').where('owner', '=', `client ${client}`).executeTakeFirstOrThrow(),
    )
    return readAccount(body)
  }
  const spentBy = async (client: string) =>
    [...(await accountOf(client)).spent.day.values()].reduce((all, bucket) => all + (bucket[gas]?.net ?? 0n), 0n)

  it('hold the greatest fee once, however often the signer is away', async () => {
    const limits = createSpendingLimits((client) => (client === 'owner' ? { maxDailyGas: '200' } : undefined))
    await store.write((tx) => limits.reserve(fresh, tx))
    for (let tries = 0; tries < 10; tries += 1) await store.write((tx) => limits.reserve(raiseTo(120n, 100n), tx))
    expect((await accountOf('owner')).open[gas]).to.equal(120n)
    await store.write((tx) => limits.reserve(raiseTo(140n, 120n), tx))
    expect((await accountOf('owner')).open[gas]).to.equal(140n)
  })

  it('are those of the client that caused a cancel of the server, and refused where it raises them itself', async () => {
    const limits = createSpendingLimits((client) => (client === 'owner' ? { maxDailyGas: '125', maxFee: '110' } : undefined))
    await store.write((tx) => limits.reserve(fresh, tx))
    const cancel = newEntry({ key: 'cancel', kind: 'cancel', client: 'sluice', paidBy: 'owner' })
    const step = { entry: cancel, maxCostRaw: 130n, valueRaw: 0n }
    const spending: Spending = { client: 'sluice', is: 'new', coin, steps: [{ ...step, replaces: entry.key }] }
    expect(limits.concerns?.(spending)).to.equal(true)
    await store.write((tx) => limits.reserve(spending, tx))
    expect((await accountOf('owner')).open[gas]).to.equal(130n)
    const raise = { ...spending, is: 'raise' as const, steps: [{ ...step, maxCostRaw: 150n, lastCostRaw: 130n }] }
    const byClient = store.write((tx) => limits.reserve({ ...raise, client: 'owner' }, tx))
    expect(await rejection(byClient)).to.have.property('name', 'LIMIT_EXCEEDED')
    await store.write((tx) => limits.reserve(raise, tx))
    expect((await accountOf('owner')).open[gas]).to.equal(150n)
    await store.write(async (tx) =>
      limits.settle?.([{ ...cancel, landed: { id: '0x1', ok: true, blockNumber: 1, receipt: null } }, entry], tx),
    )
    expect(await spentBy('owner')).to.equal(150n)
    expect((await accountOf('owner')).open[gas]).to.equal(undefined)
  })

  it('are charged once to another client that raises them', async () => {
    const limits = createSpendingLimits((client) => (client === 'other' ? { maxDailyGas: '200' } : undefined))
    for (let tries = 0; tries < 10; tries += 1) await store.write((tx) => limits.reserve(raiseTo(120n, 100n, 'other'), tx))
    expect(await spentBy('other')).to.equal(20n)
    await store.write((tx) => limits.reserve(raiseTo(150n, 100n, 'other'), tx))
    expect(await spentBy('other')).to.equal(50n)
    await store.write((tx) => limits.reserve(raiseTo(190n, 170n, 'other'), tx))
    expect(await spentBy('other')).to.equal(70n)
  })
})
