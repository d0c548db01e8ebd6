// A client gets out of what it has open, also with nothing left of its daily loss; and opens nothing new then.
import { expect } from 'chai'
import { atMostLeaves } from '../../core/handlers/outcome.ts'
import { commitmentOf } from '../../core/handlers/wallets.ts'
import type { NetworkLimits } from '../../core/limits/limit-checks.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { freshStore } from '../transactions/site.ts'

const dollars = 1_000_000n
const losing = (usd: bigint, more: Partial<Commitment> = {}): Commitment => ({
  gives: {},
  gets: {},
  market: { lossMicros: usd * dollars, prices: {} },
  ...more,
})
/** An order that may open as much as this. */
const opening = (usd: bigint, notional: bigint, isFlip = false): Commitment =>
  losing(usd, {
    perpetual: {
      account: 'perp',
      valueMicros: 1_000n * dollars,
      openMicros: 0n,
      addedMicros: notional * dollars,
      ...((notional > 0n || isFlip) && { opens: true as const }),
      notionalMicros: notional * dollars,
      turn: 'one',
      lastOrders: '',
      heldMicros: 0n,
    },
  })

describe('what a request commits its wallet to', () => {
  const bounds = atMostLeaves([{ token: '0xtoken', amountRaw: 5n }])
  const of = (kind: Entry['kind'], reduces: boolean) => commitmentOf({ kind, reduces } as Parameters<typeof commitmentOf>[0], bounds)

  it('is nothing where it repays or removes, and what its plan may take elsewhere', () => {
    for (const kind of ['funds', 'liquidity'] as const) {
      expect(of(kind, true)).to.deep.equal({ gives: {} })
      expect(of(kind, false)).to.deep.equal({ gives: { '0xtoken': 5n } })
    }
  })
})

describe('a client that has nothing left of a limit', () => {
  let store: Store
  let keys = 0
  before(async () => {
    store = await freshStore()
  })
  after(() => store.close())

  /** Of a client of its own. @returns the limit that refuses it */
  const clientWith = (limits: NetworkLimits) => {
    const client = `bot ${(keys += 1)}`
    const budgets = createSpendingLimits(() => limits)
    return async (commitment: Commitment, more: Partial<Entry> = {}): Promise<unknown> => {
      const entry = newEntry({ key: `key ${(keys += 1)}`, client, ...more })
      const steps = [{ entry, maxCostRaw: 1n, valueRaw: 0n }]
      try {
        await store.write((tx) => budgets.reserve({ client, is: 'new', coin: { symbol: 'ETH', decimals: 18 }, commitment, steps }, tx))
        return 'passes'
      } catch (error) {
        return (error as { details: { limit: string } }).details.limit
      }
    }
  }

  it('closes a position near the index, and what that loses counts', async () => {
    const request = clientWith({ maxDailyLoss: '10' })
    const close = { kind: 'position', reduces: true } as const
    expect(await request(losing(9n))).to.equal('passes')
    expect(await request(losing(8n), close)).to.equal('maxDailyLoss')
    expect(await request(losing(8n, { closesNearIndex: true }), close)).to.equal('passes')
    // An order that says so, and does more than close.
    expect(await request(losing(8n, { closesNearIndex: true }), { kind: 'order' })).to.equal('maxDailyLoss')
    expect(await request(losing(1n))).to.equal('maxDailyLoss')
  })

  it('opens no position, also at a price that loses nothing', async () => {
    const request = clientWith({ maxDailyLoss: '10' })
    expect(await request(opening(0n, 100n), { kind: 'order' })).to.equal('passes')
    expect(await request(losing(10n))).to.equal('passes')
    expect(await request(opening(0n, 100n), { kind: 'order' })).to.equal('maxDailyLoss')
    expect(await request(opening(0n, 0n), { kind: 'order' })).to.equal('passes')
    // What turns a position over, and leaves less open than there was.
    expect(await request(opening(0n, 0n, true), { kind: 'position' })).to.equal('maxDailyLoss')
    expect(await request(losing(0n))).to.equal('passes')
  })

  it('takes back what it has, where its fees are limited', async () => {
    const removal = { kind: 'liquidity', reduces: true } as const
    const bounded = clientWith({ transactionsPerHour: 1, maxDailyGas: '1' })
    expect(await bounded({ gives: {} })).to.equal('passes')
    expect(await bounded({ gives: {} })).to.equal('transactionsPerHour')
    expect(await bounded({ gives: {} }, removal)).to.equal('passes')
    const unbounded = clientWith({ transactionsPerHour: 1 })
    expect(await unbounded({ gives: {} })).to.equal('passes')
    expect(await unbounded({ gives: {} }, removal)).to.equal('transactionsPerHour')
  })
})
